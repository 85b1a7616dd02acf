stack {
  name = "rare"
}

variable "token" {
  type      = string
  sensitive = true
  default   = "hush-51be7a"
}

# The generator edits the records of these.
resource "std_exec" "left" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
}

resource "std_exec" "right" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
}

resource "std_exec" "pending_create" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
}

resource "std_exec" "pending_update" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
}

resource "std_exec" "only_deposed" {
  create = ["sh", "keep.sh"]
}

resource "std_exec" "private" {
  create = ["sh", "keep.sh"]
}

# This one is as the binary wrote it.
resource "std_exec" "plain" {
  create = ["sh", "keep.sh"]
  update = ["sh", "keep.sh"]
  input  = { token = var.token, header = "Bearer ${var.token}" }
}
