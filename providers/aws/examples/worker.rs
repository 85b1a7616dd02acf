//! `examples/aws-worker` as a program in Rust: a worker with a queue, a bucket and a table, bound to it.
//!
//! ```sh
//! cargo run -p trueup-provider-aws --example worker -- deploy --stage test
//! ```

use std::process::ExitCode;

use trueup::{Registry, map};
use trueup_provider_aws::{
    Access, Alias, Bucket, DeadLetter, Function, Grant, Queue, Role, Table, aws_provider,
};

/// Where the function's code is, from here.
const CODE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/aws-worker/code");

const TRUST: &str = r#"{
  "Version": "2012-10-17",
  "Statement": [
    { "Effect": "Allow", "Action": "sts:AssumeRole", "Principal": { "Service": "lambda.amazonaws.com" } }
  ]
}"#;

fn main() -> ExitCode {
    let registry = Registry::new().with(aws_provider("."));
    trueup::cli("worker-in-rust", env!("CARGO_PKG_VERSION"), registry, |stack, deployment| {
        let stage = deployment.stage.clone();
        let dead = stack.add("dead", Queue::args());
        let dead_letter = dead.arn().map(|arn| DeadLetter::after(3, arn));
        let jobs =
            stack.add("jobs", Queue::args().visibility_timeout_seconds(60u64).dead_letter(dead_letter));
        let results = stack.add("results", Bucket::args().versioning(true));
        let counts = stack.add("counts", Table::args().hash_key("id").tags(map([("stage", stage)])));

        let role = stack.add("worker", Role::args().assume_role_policy(TRUST));
        let function =
            Function::args().role(role.arn()).runtime("python3.13").handler("main.handler").code(CODE);
        let worker = stack.add("worker", function.timeout(30u64).publish(true));
        let version = worker.version();
        stack.add("live", Alias::args().name("live").function_name(worker.arn()).function_version(version));

        // Variables for the worker, and what its role needs to use each of them; nothing else.
        let reading =
            jobs.arn().zip(jobs.url()).map(|(arn, url)| Grant::to(arn).at(url).allowing([Access::Read]));
        stack.bind(&worker, "jobs", reading);
        stack.bind(&worker, "results", results.arn().map(|arn| Grant::to(arn).allowing([Access::Write])));
        let counting = counts.arn().map(|arn| Grant::to(arn).allowing([Access::Read, Access::Write]));
        stack.bind(&worker, "counts", counting);
        stack.output("queue", jobs.url());
    })
}
