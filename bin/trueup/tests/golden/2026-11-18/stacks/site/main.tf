stack {
  name = "site"
}

variable "title" {
  default = "Golden"
}

data "std_file" "names" {
  path = "names.txt"
}

resource "std_file" "index" {
  path    = "out/index.html"
  content = "<h1>${var.title}</h1>\n${file("motd.txt")}"
}

resource "std_file" "named" {
  for_each = toset(split(",", trimspace(data.std_file.names.content)))
  path     = "out/${each.key}.txt"
  content  = "${each.key} ${std_file.index.sha256}"
}

resource "std_file" "drifted" {
  path    = "out/drifted.txt"
  content = "as declared"
}

resource "std_exec" "replaced" {
  create   = ["sh", "-c", "echo '{ \"id\": \"'$TRUEUP_NAME'\" }'"]
  triggers = { title = var.title }
}

resource "std_file" "config" {
  path    = "out/config.ini"
  content = "id = ${std_exec.replaced.result.id}\n"
}

output "title" {
  value = var.title
}
