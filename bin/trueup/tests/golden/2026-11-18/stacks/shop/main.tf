stack {
  name = "shop"
}

variable "edition" {
  type    = number
  default = 2
}

variable "token" {
  type      = string
  sensitive = true
  default   = "hush-51be7a"
}

provider "std" {
  alias = "west"
}

module "site" {
  source   = "./site"
  for_each = toset(["de"])
  language = each.key
  edition  = var.edition
  providers = {
    std = std.west
  }
}

resource "std_random_password" "admin" {
  length = 20
}

resource "std_file" "config" {
  path    = "out/config.ini"
  content = "token = ${var.token}\n"
}

resource "terraform_data" "values" {
  input = {
    text    = "grüße, \"мир\" 🚀\n\ttabs"
    numbers = [0, -1, 1.5, 12345678901234567890, 1e-7]
    flags   = [true, false, null]
    nested  = { a = { b = { c = [] } }, "$dollar" = 1, "with space" = {} }
    set     = toset(["b", "a"])
    map     = tomap({ x = "1" })
  }
}

resource "std_exec" "protected" {
  create         = ["sh", "keep.sh"]
  update         = ["sh", "keep.sh"]
  input          = { edition = var.edition }
  environment    = { TOKEN = var.token, PASSWORD = std_random_password.admin.result }
  secret_results = ["secret"]
  lifecycle {
    prevent_destroy = true
  }
}

resource "std_exec" "retained" {
  create     = ["sh", "keep.sh"]
  triggers   = { edition = var.edition }
  depends_on = [std_exec.protected, module.site]
  lifecycle {
    retain = true
  }
}

# Its older generation cannot be deleted.
resource "std_exec" "stuck" {
  create   = ["sh", "keep.sh"]
  delete   = ["sh", "-c", "test -e calm"]
  triggers = { edition = var.edition }
}

resource "std_file" "gone" {
  count   = var.edition == 1 ? 1 : 0
  path    = "out/gone.txt"
  content = "gone"
}

output "pages" {
  value = { for language, site in module.site : language => site.pages }
}

output "numbers" {
  value = terraform_data.values.output.numbers
}

output "password" {
  value     = std_random_password.admin.result
  sensitive = true
}
