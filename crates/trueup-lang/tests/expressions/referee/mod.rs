//! Terraform as the referee: one console is asked all cases of all tables, and one plan a great many drawn expressions.

mod drawn;
mod plan;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;

use crate::expressions::files;
use crate::expressions::table::{Case, Expected, cases};

const ERROR: &str = "!error";

/// Without this, the console knows no functions of Terraform's own provider.
const REQUIRED: &str = r#"terraform {
  required_providers {
    terraform = { source = "terraform.io/builtin/terraform" }
  }
}"#;

#[test]
fn terraform_agrees_with_the_tables() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| !case.ours).collect();
    let questions: Vec<String> = cases.iter().map(|case| case.expression.clone()).collect();
    let requires = ("providers.tf", REQUIRED);
    let Some(answers) = ask(&questions, &[requires]) else {
        println!("left out: there is no `terraform` to ask");
        return;
    };
    let disagreements: Vec<String> = cases
        .iter()
        .zip(&answers)
        .filter_map(|(case, answer)| {
            let agrees = match &case.expected {
                Expected::Error(_) => answer == ERROR,
                Expected::Json(expected) => {
                    answer != ERROR
                        && serde_json::from_str(answer).is_ok_and(|answer| same(&answer, expected))
                }
            };
            (!agrees).then(|| format!("{}: {}\n    terraform says {answer}", case.place, case.expression))
        })
        .collect();
    assert!(disagreements.is_empty(), "{} cases:\n{}", disagreements.len(), disagreements.join("\n"));
    println!("terraform agrees in {} cases", cases.len());
}

/// Whether two answers are the same, however their numbers are written.
pub(crate) fn same(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    let read = |json: &serde_json::Value| trueup_core::Value::from_plain_json(&json.to_string());
    left == right || matches!((read(left), read(right)), (Ok(left), Ok(right)) if left == right)
}

/// What Terraform says to these expressions in a folder with these files besides those of the cases; `None` if there is
/// no Terraform. One long tuple, each element of which catches its own error, in an encoding that the console shows as it
/// is.
pub(crate) fn ask(expressions: &[String], program: &[(&str, &str)]) -> Option<Vec<String>> {
    let attempts: Vec<String> =
        expressions.iter().map(|expression| format!("try(jsonencode({expression}), \"{ERROR}\")")).collect();
    let question = format!("base64encode(jsonencode([{}]))\n", attempts.join(", "));
    // The console leaves files behind.
    let folder = tempfile::tempdir().expect("a temporary folder");
    copy(&files(), folder.path());
    for (name, text) in program {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut console = Command::new("terraform")
        .arg("console")
        .current_dir(folder.path())
        .env("TF_CLI_CONFIG_FILE", if cfg!(windows) { "NUL" } else { "/dev/null" })
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    console.stdin.take().expect("a pipe").write_all(question.as_bytes()).expect("the console listens");
    let output = console.wait_with_output().expect("the console ends");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "terraform console failed: {told}");
    let text = String::from_utf8(output.stdout).expect("text");
    let encoded = text.trim().trim_matches('"');
    let json = base64::engine::general_purpose::STANDARD.decode(encoded).expect("base64");
    Some(serde_json::from_slice(&json).expect("a list of strings"))
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("a readable folder");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir(&target).expect("a folder");
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a copy");
        }
    }
}
