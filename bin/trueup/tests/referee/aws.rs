//! hashicorp/aws on the emulator, where its binary can be found.

use trueup_test_servers::emulator::Emulator;

use crate::case::Case;
use crate::match_up;
use crate::providers::folder_of;

/// The configurations of the ordinary run: each takes Terraform half a minute.
const ORDINARY: &str = include_str!("aws/ordinary.case");

/// More of them, for `cargo xtask referee`.
const MORE: &str = include_str!("aws/more.case");

/// What every configuration begins with.
const HEAD: &str = r#"terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}
variable "endpoint" {
}
provider "aws" {
  region                      = "us-east-1"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
  s3_use_path_style           = true
  default_tags {
    tags = {
      owner = "referee"
    }
  }
  endpoints {
    dynamodb       = var.endpoint
    ec2            = var.endpoint
    iam            = var.endpoint
    lambda         = var.endpoint
    logs           = var.endpoint
    s3             = var.endpoint
    secretsmanager = var.endpoint
    sns            = var.endpoint
    sqs            = var.endpoint
    ssm            = var.endpoint
    sts            = var.endpoint
    kms            = var.endpoint
    events         = var.endpoint
  }
}
"#;

#[test]
fn ordinary() {
    check("ordinary", ORDINARY);
}

#[test]
fn more() {
    match std::env::var_os("TRUEUP_REFEREE") {
        Some(_) => check("more", MORE),
        None => eprintln!("left out: `cargo xtask referee` runs it"),
    }
}

/// Runs a case on two emulators: each program has a cloud of its own.
#[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
fn check(name: &str, text: &str) {
    if folder_of("aws").is_none() {
        return eprintln!("left out: there is no terraform-provider-aws to be found");
    }
    let (Some(ours), Some(theirs)) = (Emulator::Ministack.start(), Emulator::Ministack.start()) else {
        return;
    };
    let mut case = Case::parse(name, text);
    for step in &mut case.steps {
        step.files[0].1 = format!("{HEAD}{}", step.files[0].1);
    }
    let environment = |endpoint: String| vec![("TF_VAR_endpoint".to_owned(), endpoint)];
    match_up::run_apart(&case, None, &environment(ours.endpoint()), &environment(theirs.endpoint()));
}
