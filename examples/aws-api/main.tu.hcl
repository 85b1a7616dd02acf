# A function behind an HTTP API: role and log group, then the function, then what the API calls, then the route.
#
# The function's code is in the folder beside this file. A change of it is a change of the function.

stack {
  name = "hello-api"
}

variable "greeting" {
  description = "What the function answers with."
  default     = "hello"
}

resource "awsn_iam_role" "hello" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })

  inline_policies = {
    logs = jsonencode({
      Version = "2012-10-17"
      Statement = [{
        Effect   = "Allow"
        Action   = ["logs:CreateLogStream", "logs:PutLogEvents"]
        Resource = "${awsn_cloudwatch_log_group.hello.arn}:*"
      }]
    })
  }
}

resource "awsn_cloudwatch_log_group" "hello" {
  retention_in_days = 14
}

resource "awsn_lambda_function" "hello" {
  role        = awsn_iam_role.hello.arn
  runtime     = "python3.13"
  handler     = "main.handler"
  code        = "code"
  timeout     = 5
  log_group   = awsn_cloudwatch_log_group.hello.name
  environment = { GREETING = var.greeting }

  invokers = {
    api = {
      principal  = "apigateway.amazonaws.com"
      source_arn = "${awsn_apigatewayv2_api.main.execution_arn}/*/*"
    }
  }
}

resource "awsn_apigatewayv2_api" "main" {
  description = "Says hello."
}

resource "awsn_apigatewayv2_stage" "live" {
  api_id = awsn_apigatewayv2_api.main.id
}

resource "awsn_apigatewayv2_integration" "hello" {
  api_id          = awsn_apigatewayv2_api.main.id
  integration_uri = awsn_lambda_function.hello.invoke_arn
}

resource "awsn_apigatewayv2_route" "hello" {
  api_id    = awsn_apigatewayv2_api.main.id
  route_key = "GET /hello"
  target    = awsn_apigatewayv2_integration.hello.target
}

output "url" {
  value = "${awsn_apigatewayv2_stage.live.invoke_url}/hello"
}
