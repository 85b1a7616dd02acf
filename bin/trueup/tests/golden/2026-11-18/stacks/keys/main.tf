stack {
  name = "keys"
}

resource "std_random_password" "secret" {
  length = 20
}

output "secret" {
  value     = std_random_password.secret.result
  sensitive = true
}
