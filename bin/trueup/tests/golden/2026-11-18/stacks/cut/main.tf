stack {
  name = "cut"
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

# Creates with an unknown outcome: each type of recovery.
resource "std_exec" "looked_up" {
  create = ["sh", "keep.sh"]
  lookup = ["sh", "keep.sh"]
}

resource "std_exec" "missing" {
  create      = ["sh", "keep.sh", "nothing"]
  lookup      = ["sh", "keep.sh"]
  environment = { TOKEN = var.token }
}

resource "std_exec" "repeated" {
  create  = ["sh", "keep.sh"]
  recover = "token"
  input   = { token = var.token }
}

resource "std_exec" "blind" {
  create = ["sh", "keep.sh"]
}

# A create that failed and left part of an object.
resource "std_exec" "half_made" {
  create = ["sh", "keep.sh", "half"]
  update = ["sh", "keep.sh"]
  input  = { edition = var.edition }
}

resource "std_exec" "updating" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
  input  = { edition = var.edition, token = var.token }
}

# A new generation in flight, and the old one deposed.
resource "std_exec" "replacing" {
  create   = ["sh", "keep.sh"]
  lookup   = ["sh", "keep.sh"]
  delete   = ["sh", "keep.sh"]
  triggers = { edition = var.edition }
}

resource "std_exec" "deleting" {
  count  = var.edition == 1 ? 1 : 0
  create = ["sh", "keep.sh"]
  delete = ["sh", "keep.sh"]
}

resource "std_exec" "declared_again" {
  count  = var.edition == 3 ? 0 : 1
  create = ["sh", "keep.sh"]
  delete = ["sh", "keep.sh"]
}

output "name" {
  value = std_exec.updating.name
}
