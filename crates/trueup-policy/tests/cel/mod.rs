//! CEL: what expressions evaluate to (`tables`), what errors say, and laws that hold for any text.

mod hostile;
mod laws;
mod messages;
mod table;

use trueup_policy::cel::{CelError, Program, Value};

const VARIABLES: [&str; 2] = ["plan", "resource"];

const RESOURCE: &str = r#"{
  "type": "std_file",
  "inputs": { "tags": { "team": "a" }, "ports": [80, 443] },
  "prior_inputs": null,
}"#;

fn variables() -> [Value; 2] {
    [r#"{ "stage": "prod" }"#, RESOURCE].map(|text| constant(text).expect("a constant"))
}

fn constant(text: &str) -> Result<Value, CelError> {
    Program::compile(text, &[])?.evaluate(&[])
}

fn evaluated(text: &str) -> Result<Value, CelError> {
    Program::compile(text, &VARIABLES)?.evaluate(&variables())
}
