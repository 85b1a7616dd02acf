resource "std_file" "moved" {
  path    = "out/moved.txt"
  content = "edition ${var.edition}"
}

moved {
  from = std_file.first
  to   = std_file.moved
}
