# Two cycles: a queue that is bound to a function and whose policy names that function, and a role that may call the
# function, which is told of that role.

stack {
  name = "cycle"
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

resource "awsn_iam_role" "worker" {
  assume_role_policy = local.trust
}

resource "awsn_lambda_function" "worker" {
  role    = awsn_iam_role.worker.arn
  runtime = "python3.13"
  handler = "main.handler"
  code    = "code"
}

resource "awsn_iam_role" "caller" {
  assume_role_policy = local.trust
  inline_policies = {
    call = jsonencode({
      Version   = "2012-10-17"
      Statement = [{ Effect = "Allow", Action = "lambda:InvokeFunction", Resource = awsn_lambda_function.worker.arn }]
    })
  }
}

resource "awsn_sqs_queue" "jobs" {
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sqs:SendMessage"
      Resource  = "*"
      Principal = { Service = "lambda.amazonaws.com" }
      Condition = { ArnEquals = { "aws:SourceArn" = awsn_lambda_function.worker.arn } }
    }]
  })

  bind "jobs" {
    to = awsn_lambda_function.worker
    payload = {
      arn         = self.arn
      url         = self.url
      environment = { CALLER = awsn_iam_role.caller.arn }
    }
  }
}
