stack {
  name = "vault"
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

resource "std_random_password" "admin" {
  length = 20
}

resource "std_exec" "replaced" {
  create      = ["sh", "-c", "echo '{ \"id\": \"'$TRUEUP_NAME'\", \"token\": \"'$TOKEN'\" }'"]
  triggers    = { edition = var.edition }
  environment = { TOKEN = "${var.token}-${var.edition}" }
}

resource "std_file" "config" {
  path    = "out/config.ini"
  content = "id = ${std_exec.replaced.result.id}\npassword = ${std_random_password.admin.result}\n"
}

resource "std_file" "removed" {
  count   = var.edition == 1 ? 1 : 0
  path    = "out/removed.ini"
  content = var.token
}

output "token" {
  value     = "${var.token}-${var.edition}"
  sensitive = true
}
