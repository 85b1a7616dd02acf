stack {
  name = "fuzz"
  state "sqlite" {
    path = "x.db"
  }
}
resource "std_random_password" "p" {
  length = 12
}
resource "std_file" "f" {
  path    = "f"
  content = std_random_password.p.value
  lifecycle {
    retain      = true
    adopt       = true
    drift       = "warn"
    delete_first = true
    timeouts {
      create = "1m"
    }
    retry {
      attempts = 3
    }
  }
}
resource "terraform_data" "t" {
  dynamic "nothing" {
    for_each = [1, 2]
    content {
      x = nothing.value
    }
  }
}
