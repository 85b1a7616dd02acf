terraform {
  required_providers {
    std = {}
  }
}

variable "language" {
  type = string
}

variable "edition" {
  type = number
}

resource "std_file" "page" {
  count   = 2
  path    = "out/${var.language}-${count.index}.html"
  content = "<p lang=\"${var.language}\">${count.index == 0 ? var.edition : 0}</p>\n"
}

resource "std_file" "index" {
  for_each = toset(["x/y"])
  path     = "out/${var.language}-${replace(each.key, "/", "-")}.txt"
  content  = std_file.page[1].sha256
}

output "pages" {
  value = std_file.page[*].path
}
