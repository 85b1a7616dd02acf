//! Terraform as the referee: one console is asked all cases of all tables.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::files;
use crate::table::{Case, Expected, cases};

const ERROR: &str = "!error";

#[test]
fn terraform_agrees_with_the_tables() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| !case.ours).collect();
    let Some(answers) = ask(&cases) else {
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
                        && serde_json::from_str::<serde_json::Value>(answer)
                            .is_ok_and(|answer| answer == *expected || numerically_equal(&answer, expected))
                }
            };
            (!agrees).then(|| format!("{}: {}\n    terraform says {answer}", case.place, case.expression))
        })
        .collect();
    assert!(disagreements.is_empty(), "{} cases:\n{}", disagreements.len(), disagreements.join("\n"));
    println!("terraform agrees in {} cases", cases.len());
}

fn numerically_equal(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    let read = |json: &serde_json::Value| trueup_core::Value::from_plain_json(&json.to_string());
    matches!((read(left), read(right)), (Ok(left), Ok(right)) if left == right)
}

/// One long tuple, each element of which catches its own error.
fn ask(cases: &[Case]) -> Option<Vec<String>> {
    let attempts: Vec<String> =
        cases.iter().map(|case| format!("try(jsonencode({}), \"{ERROR}\")", case.expression)).collect();
    let question = format!("jsonencode([{}])\n", attempts.join(", "));
    let mut console = Command::new("terraform")
        .arg("console")
        .current_dir(files())
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
    // The console shows a string as a literal of the language, which for this one is JSON but for `$${`.
    let literal = text.trim().replace("$${", "${").replace("%%{", "%{");
    let json: String = serde_json::from_str(&literal).expect("a string");
    Some(serde_json::from_str(&json).expect("a list of strings"))
}
