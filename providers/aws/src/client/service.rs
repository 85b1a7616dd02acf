//! The services that the provider calls.

/// A service of AWS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Service {
    ApiGateway,
    DynamoDb,
    Iam,
    Kms,
    Lambda,
    Logs,
    S3,
    Sqs,
    Sts,
}

impl Service {
    #[cfg(test)]
    pub(super) const ALL: [Service; 9] = [
        Service::ApiGateway,
        Service::DynamoDb,
        Service::Iam,
        Service::Kms,
        Service::Lambda,
        Service::Logs,
        Service::S3,
        Service::Sqs,
        Service::Sts,
    ];

    /// The id that names the service in variables and profiles, such as `AWS_ENDPOINT_URL_CLOUDWATCH_LOGS`.
    pub(super) fn id(self) -> &'static str {
        match self {
            Service::ApiGateway => "ApiGatewayV2",
            Service::DynamoDb => "DynamoDB",
            Service::Iam => "IAM",
            Service::Kms => "KMS",
            Service::Lambda => "Lambda",
            Service::Logs => "CloudWatch Logs",
            Service::S3 => "S3",
            Service::Sqs => "SQS",
            Service::Sts => "STS",
        }
    }

    /// The first label of the host name, which signatures name the service by, too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Service::ApiGateway => "apigateway",
            Service::DynamoDb => "dynamodb",
            Service::Iam => "iam",
            Service::Kms => "kms",
            Service::Lambda => "lambda",
            Service::Logs => "logs",
            Service::S3 => "s3",
            Service::Sqs => "sqs",
            Service::Sts => "sts",
        }
    }
}
