//! `examples/aws-api` as a program in Rust: a function behind an HTTP API.
//!
//! ```sh
//! cargo run -p trueup-provider-aws --example api -- deploy --stage test
//! ```

use std::process::ExitCode;

use trueup::{Registry, map};
use trueup_provider_aws::{Api, Function, Integration, Invoker, LogGroup, Role, Route, Stage, aws_provider};

/// Where the function's code is, from here.
const CODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/aws-api/code");

const TRUST: &str = r#"{
  "Version": "2012-10-17",
  "Statement": [
    { "Effect": "Allow", "Action": "sts:AssumeRole", "Principal": { "Service": "lambda.amazonaws.com" } }
  ]
}"#;

fn main() -> ExitCode {
    let registry = Registry::new().with(aws_provider("."));
    trueup::cli("hello-api-in-rust", env!("CARGO_PKG_VERSION"), registry, |stack, _| {
        let logs = stack.add("hello", LogGroup::args().retention_in_days(14u64));
        let logging = logs.arn().map(|arn| {
            format!(
                r#"{{ "Version": "2012-10-17", "Statement": [{{ "Effect": "Allow",
                     "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "{arn}:*" }}] }}"#
            )
        });
        let role = stack
            .add("hello", Role::args().assume_role_policy(TRUST).inline_policies(map([("logs", logging)])));
        let api = stack.add("main", Api::args().description("Says hello."));
        let stage = stack.add("live", Stage::args().api_id(api.id()));
        let calls = api
            .execution_arn()
            .map(|arn| Invoker::new("apigateway.amazonaws.com", Some(format!("{arn}/*/*"))));
        let function =
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code(CODE);
        let function =
            function.timeout(5u64).log_group(logs.name()).environment(map([("GREETING", "hello")]));
        let hello = stack.add("hello", function.invokers(map([("api", calls)])));
        let integration =
            stack.add("hello", Integration::args().api_id(api.id()).integration_uri(hello.invoke_arn()));
        let route = Route::args().api_id(api.id()).route_key("GET /hello").target(integration.target());
        stack.add("hello", route);
        stack.output("url", stage.invoke_url().map(|url| format!("{url}/hello")));
    })
}
