# main.tu.hcl
resource "my_file" "readme" {
  path    = "readme.txt"
  content = "Notes of ${stack.stage}.\n"
}

resource "my_file" "index" {
  path    = "index.txt"
  content = "${my_file.readme.path} has ${my_file.readme.size} bytes.\n"
}

output "index" {
  value = my_file.index.path
}
