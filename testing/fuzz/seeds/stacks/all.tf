variable "sizes" {
  type    = map(object({ n = number, tags = optional(set(string), []) }))
  default = { a = { n = 1 }, b = { n = 2, tags = ["x"] } }
  validation {
    condition     = length(var.sizes) < 10
    error_message = "At most ten, not ${length(var.sizes)}."
  }
}
locals {
  names = [for k, v in var.sizes : "${k}-${v.n}" if v.n > 0]
}
resource "terraform_data" "each" {
  for_each = var.sizes
  input    = { name = each.key, n = each.value.n }
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [triggers_replace]
    precondition {
      condition     = each.value.n >= 0
      error_message = "no"
    }
  }
}
resource "std_file" "out" {
  count   = 2
  path    = "${path.module}/out-${count.index}.txt"
  content = <<-EOT
    %{ for name in local.names ~}
    ${name}
    %{ endfor ~}
  EOT
  depends_on = [terraform_data.each]
}
output "all" {
  value     = { for k, v in terraform_data.each : k => v.output }
  sensitive = true
}
moved {
  from = terraform_data.old
  to   = terraform_data.each["a"]
}
