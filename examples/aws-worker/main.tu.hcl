# A worker that puts what it gets from a queue into a bucket, and keeps count in a table.
#
# Queue, bucket and table are bound to the worker: each gives it variables to find it by, and lets its role use it, and
# nothing else.

stack {
  name = "worker"
}

variable "key" {
  description = "The attribute by which items of the table are found. Another one replaces the table."
  default     = "id"
}

resource "awsn_sqs_queue" "dead" {}

resource "awsn_sqs_queue" "jobs" {
  visibility_timeout_seconds = 60
  dead_letter                = { target_arn = awsn_sqs_queue.dead.arn, max_receive_count = 3 }

  bind "jobs" {
    to      = awsn_lambda_function.worker
    payload = { arn = self.arn, url = self.url, access = ["read"] }
  }
}

resource "awsn_s3_bucket" "results" {
  versioning = true

  bind "results" {
    to      = awsn_lambda_function.worker
    payload = { arn = self.arn, access = ["write"] }
  }
}

resource "awsn_dynamodb_table" "counts" {
  hash_key = var.key

  bind "counts" {
    to      = awsn_lambda_function.worker
    payload = { arn = self.arn, access = ["read", "write"] }
  }
}

resource "awsn_iam_role" "worker" {
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "awsn_lambda_function" "worker" {
  role    = awsn_iam_role.worker.arn
  runtime = "python3.13"
  handler = "main.handler"
  code    = "code"
  timeout = 30
  publish = true
}

resource "awsn_lambda_alias" "live" {
  name             = "live"
  function_name    = awsn_lambda_function.worker.arn
  function_version = awsn_lambda_function.worker.version
}

output "queue" {
  value = awsn_sqs_queue.jobs.url
}
