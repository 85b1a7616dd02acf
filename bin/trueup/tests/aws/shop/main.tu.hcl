# Three workers behind one API: each with a role, a log group, a function, an alias, an integration and a route, a queue
# with one for dead letters, a table and a bucket, bound to it. Thirty-three resources, of every type.

stack {
  name = "shop"
}

variable "workers" {
  type    = set(string)
  default = ["orders", "bills", "parcels"]
}

variable "timeout" {
  type    = number
  default = 5
}

variable "key" {
  default = "id"
}

locals {
  trust = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

data "awsn_caller_identity" "me" {}

resource "awsn_iam_policy" "reading" {
  policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "logs:Describe*", Resource = "*" }]
  })
}

resource "awsn_apigatewayv2_api" "main" {
  description = "The shop."
}

resource "awsn_apigatewayv2_stage" "live" {
  api_id = awsn_apigatewayv2_api.main.id
}

resource "awsn_iam_role" "worker" {
  for_each            = var.workers
  assume_role_policy  = local.trust
  managed_policy_arns = [awsn_iam_policy.reading.arn]
}

resource "awsn_cloudwatch_log_group" "worker" {
  for_each          = var.workers
  retention_in_days = 7
}

resource "awsn_sqs_queue" "dead" {
  for_each = var.workers
}

resource "awsn_sqs_queue" "work" {
  for_each    = var.workers
  dead_letter = { target_arn = awsn_sqs_queue.dead[each.key].arn, max_receive_count = 3 }

  bind "queue" {
    to      = awsn_lambda_function.worker[each.key]
    payload = { arn = self.arn, url = self.url }
  }
}

resource "awsn_dynamodb_table" "work" {
  for_each = var.workers
  hash_key = var.key
  tags     = { worker = each.key }

  bind "table" {
    to      = awsn_lambda_function.worker[each.key]
    payload = { arn = self.arn, access = ["read", "write"] }
  }
}

resource "awsn_s3_bucket" "work" {
  for_each   = var.workers
  versioning = true

  bind "bucket" {
    to      = awsn_lambda_function.worker[each.key]
    payload = { arn = self.arn }
  }
}

resource "awsn_lambda_function" "worker" {
  for_each  = var.workers
  role      = awsn_iam_role.worker[each.key].arn
  runtime   = "python3.13"
  handler   = "main.handler"
  code      = "code"
  timeout   = var.timeout
  log_group = awsn_cloudwatch_log_group.worker[each.key].name

  invokers = {
    api = {
      principal  = "apigateway.amazonaws.com"
      source_arn = "${awsn_apigatewayv2_api.main.execution_arn}/*/*"
    }
  }
}

resource "awsn_lambda_alias" "live" {
  for_each      = var.workers
  name          = "live"
  function_name = awsn_lambda_function.worker[each.key].arn
}

resource "awsn_apigatewayv2_integration" "worker" {
  for_each        = var.workers
  api_id          = awsn_apigatewayv2_api.main.id
  integration_uri = awsn_lambda_alias.live[each.key].invoke_arn
}

resource "awsn_apigatewayv2_route" "worker" {
  for_each  = var.workers
  api_id    = awsn_apigatewayv2_api.main.id
  route_key = "POST /${each.key}"
  target    = awsn_apigatewayv2_integration.worker[each.key].target
}

output "account" {
  value = data.awsn_caller_identity.me.account_id
}
