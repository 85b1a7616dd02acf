//! Data sources.

use std::fs;

use trueup_core::{Value, value};

use crate::bench::{Bench, reading};

/// What a data source gives, as the stack's output.
fn seen(bench: &Bench, of: &str, inputs: Value) -> Value {
    let report = bench.deployed(&reading(of, inputs));
    report.outputs.unwrap().get("seen").unwrap().clone()
}

#[test]
fn a_file_is_read() {
    let bench = Bench::new();
    fs::write(bench.path("a"), "hello\n").unwrap();
    let read = seen(&bench, "data.std_file.a", value!({ path: "a" }));
    assert_eq!(read.get("content"), Some(&value!("hello\n")));
    assert_eq!(read.get("size"), Some(&value!(6)));
    fs::write(bench.path("a"), [255]).unwrap();
    let read = seen(&bench, "data.std_file.a", value!({ path: "a" }));
    assert_eq!((read.get("content"), read.get("content_base64")), (None, Some(&value!("/w=="))));
    let missing = bench.refused(&reading("data.std_file.a", value!({ path: "nowhere" })));
    assert!(missing.contains("cannot read") && missing.contains("nowhere"), "{missing}");
}

/// SECRET-1
#[test]
fn a_secret_file_and_a_secret_variable_stay_secret() {
    let bench = Bench::new();
    fs::write(bench.path("a"), "hunter2").unwrap();
    let read = seen(&bench, "data.std_file.a", value!({ path: "a", secret: true }));
    assert!(read.get("content").unwrap().is_secret() && read.get("sha256").unwrap().is_secret());
    let read = seen(&bench, "data.std_env.a", value!({ name: "NONE", default: "hunter2", secret: true }));
    assert!(read.get("value").unwrap().is_secret());
}

#[test]
fn an_environment_variable_is_read_from_what_was_handed_in() {
    let bench = Bench::new();
    let read = |inputs: Value| seen(&bench, "data.std_env.a", inputs);
    assert_eq!(read(value!({ name: "GREETING" })).get("value"), Some(&value!("hello")));
    let defaulted = read(value!({ name: "NONE", default: "x" }));
    assert_eq!((defaulted.get("set"), defaulted.get("value")), (Some(&value!(false)), Some(&value!("x"))));
    // What this process has is not what was handed in.
    let missing = bench.refused(&reading("data.std_env.a", value!({ name: "HOME" })));
    assert!(missing.contains("the environment variable `HOME` is not set"), "{missing}");
}

#[test]
fn what_another_stack_gives_is_read_by_whoever_knows_its_store() {
    let bench = Bench::new();
    let read = seen(&bench, "data.stack_output.n", value!({ stack: "network" }));
    assert_eq!(read.get("outputs").unwrap().to_string(), r#"{ vpc = "vpc-1" }"#);
    let missing = bench.refused(&reading("data.stack_output.n", value!({ stack: "network", stage: "prod" })));
    assert!(missing.contains("the stack `network` was never deployed to `prod`"), "{missing}");
}
