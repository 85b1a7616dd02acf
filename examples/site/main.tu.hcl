# A small site: a page for each entry of `pages`, and an archive of them all.

stack {
  name = "site"
}

variable "title" {
  description = "Stands at the top of every page."
  default     = "Trued up"
}

locals {
  pages = {
    index = "Everything here was declared in one file."
    about = "Change a page by hand, and the next deploy brings it back."
  }
}

resource "std_directory" "site" {
  path = "out"
}

resource "std_file" "page" {
  for_each = local.pages

  path    = "${std_directory.site.path}/${each.key}.html"
  content = templatefile("page.html.tftpl", { title = var.title, name = each.key, text = each.value })
}

# Whatever commands can make is a resource too. This one packs the pages, and packs them again when one changes.
resource "std_exec" "archive" {
  create  = ["tar", "-cf", "site.tar", "-C", std_directory.site.path, "."]
  update  = ["tar", "-cf", "site.tar", "-C", std_directory.site.path, "."]
  read    = ["sh", "-c", "if [ -e site.tar ]; then echo '{}'; fi"]
  delete  = ["rm", "-f", "site.tar"]
  recover = "lookup"
  input   = { for name, page in std_file.page : name => page.sha256 }
}

output "pages" {
  value = [for page in std_file.page : page.path]
}
