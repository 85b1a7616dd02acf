terraform {
  required_version = ">= 1.5"
  required_providers {
    std = { source = "trueup/std" }
  }
}
check "health" {
  assert {
    condition     = 1 + 1 == 2
    error_message = "arithmetic"
  }
}
removed {
  from = std_file.gone
  lifecycle {
    destroy = false
  }
}
import {
  to = terraform_data.x
  id = "abc"
}
resource "terraform_data" "x" {}
data "std_file" "self" {
  path = "${path.root}/main.tf"
}
module "m" {
  source = "./nothing"
}
