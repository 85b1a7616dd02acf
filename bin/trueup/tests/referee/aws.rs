//! hashicorp/aws on the emulator, where its binary can be found.

use std::path::{Path, PathBuf};

use trueup_test_servers::emulator::Emulator;
use trueup_test_servers::sized;

use crate::referee::case::Case;
use crate::referee::match_up;
use crate::referee::providers::folder_of;

/// Those of the ordinary run, which plans their first configuration: a whole one takes Terraform half a minute.
const ORDINARY: [&str; 1] = ["ordinary"];

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
  skip_metadata_api_check     = true
  s3_use_path_style           = true
  default_tags {
    tags = {
      owner = "referee"
    }
  }
  endpoints {
    s3  = var.endpoint
    sqs = var.endpoint
    sts = var.endpoint
  }
}
"#;

/// One test for each case, so that they run at the same time.
macro_rules! cases {
    ($($name:ident)*) => {
        /// The names of all cases.
        pub(crate) const CASES: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*
    };
}

cases! { access buckets events functions more networks ordinary rules }

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/referee/aws")
}

/// Runs a case on two emulators: each program has a cloud of its own.
#[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
fn check(name: &str) {
    if !ORDINARY.contains(&name) && !sized(false, true) {
        return eprintln!("left out: `cargo xtask referee` and `cargo xtask soak` run it");
    }
    if folder_of("aws").is_none() {
        return eprintln!("left out: there is no terraform-provider-aws to be found");
    }
    let (Some(ours), Some(theirs)) = (Emulator::Ministack.start(), Emulator::Ministack.start()) else {
        return;
    };
    let mut case = Case::read(&folder().join(format!("{name}.case")));
    for step in &mut case.steps {
        let text = format!("{HEAD}{}", step.output_of_all());
        step.files.push(("provider.tf".to_owned(), text));
    }
    let environment = |endpoint: String| {
        ["AWS_ENDPOINT_URL", "TF_VAR_endpoint"].map(|name| (name.to_owned(), endpoint.clone())).to_vec()
    };
    let (ours, theirs) = (environment(ours.endpoint()), environment(theirs.endpoint()));
    if sized(true, false) {
        return match_up::plan_first(&case, &ours, &theirs);
    }
    if let Some(seen) = match_up::run_apart(&case, None, &ours, &theirs) {
        seen.tell(&case);
    }
}
