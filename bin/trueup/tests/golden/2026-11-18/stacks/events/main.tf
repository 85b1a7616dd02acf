stack {
  name = "events"
}

variable "edition" {
  type    = number
  default = 1
}

variable "token" {
  type      = string
  sensitive = true
  default   = "hush-51be7a"
}

data "std_file" "motd" {
  path = "motd.txt"
}

resource "std_file" "page" {
  path    = "out/page.txt"
  content = "${var.edition} ${data.std_file.motd.content}"
}

resource "std_exec" "secret" {
  create      = ["sh", "-c", "echo '{}'"]
  update      = ["sh", "-c", "echo '{}'"]
  input       = { edition = var.edition, token = var.token }
  environment = { TOKEN = var.token }
}

resource "std_exec" "replaced" {
  create   = ["sh", "-c", "echo '{}'"]
  triggers = var.edition
}

resource "std_exec" "adopted" {
  update = ["true"]
  create = ["sh", "-c", "false"]
  lookup = ["sh", "-c", "echo '{ \"id\": \"found\" }'"]
}

resource "std_exec" "flaky" {
  create = ["sh", "-c", "test -e tried || { touch tried; exit 75; }; echo '{}'"]
  lifecycle {
    retry {
      attempts    = 2
      backoff     = "1ms"
      backoff_max = "1ms"
    }
  }
}

resource "std_exec" "failing" {
  count       = var.edition == 2 ? 1 : 0
  create      = ["sh", "-c", "echo \"cannot use $TOKEN\" >&2; exit 1"]
  environment = { TOKEN = var.token }
}

resource "std_file" "skipped" {
  count   = var.edition == 2 ? 1 : 0
  path    = "out/skipped.txt"
  content = std_exec.failing[0].name
}

output "page" {
  value = std_file.page.sha256
}

output "token" {
  value     = var.token
  sensitive = true
}
