//! The tables: `expression  =>  JSON`, or `expression  =>  error: part of the message`. Lines that begin with `#` are
//! comments, and `ours:` before an expression says that Terraform answers otherwise.

use trueup_core::Value;

use crate::expressions::{evaluated, plain_json};

pub(crate) struct Case {
    pub(crate) place: String,
    pub(crate) expression: String,
    pub(crate) expected: Expected,
    /// Whether Terraform is known to answer otherwise.
    pub(crate) ours: bool,
}

pub(crate) enum Expected {
    Json(serde_json::Value),
    Error(String),
}

/// All cases of all tables.
pub(crate) fn cases() -> Vec<Case> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/expressions/tables");
    let mut tables: Vec<_> = std::fs::read_dir(folder)
        .expect("the tables are there")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    tables.sort();
    tables.iter().flat_map(|table| read(table)).collect()
}

fn read(table: &std::path::Path) -> Vec<Case> {
    let text = std::fs::read_to_string(table).expect("a readable table");
    let name = table.file_name().expect("a file").to_string_lossy().into_owned();
    let lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines.map(|(at, line)| case(format!("{name}:{}", at + 1), line)).collect()
}

fn case(place: String, line: &str) -> Case {
    let (expression, expected) = line.rsplit_once("  =>  ").unwrap_or_else(|| panic!("{place}: no `  =>  `"));
    let expected = match expected.strip_prefix("error: ") {
        Some(message) => Expected::Error(message.trim().to_owned()),
        None => Expected::Json(
            serde_json::from_str(expected).unwrap_or_else(|error| panic!("{place}: {expected}: {error}")),
        ),
    };
    let ours = expression.strip_prefix("ours: ");
    Case { place, expression: ours.unwrap_or(expression).trim().to_owned(), expected, ours: ours.is_some() }
}

#[test]
fn every_case_of_the_tables_holds() {
    let cases = cases();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let found = evaluated(&case.expression);
            let holds = match (&case.expected, &found) {
                (Expected::Json(expected), Ok(value)) => {
                    plain_json(value) == *expected || same_numbers(value, expected)
                }
                (Expected::Error(part), Err(message)) => message.contains(part.as_str()),
                _ => false,
            };
            let found = match found {
                Ok(value) => plain_json(&value).to_string(),
                Err(message) => message,
            };
            (!holds).then(|| format!("{}: {}\n    found {found}", case.place, case.expression))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} cases:\n{}", failures.len(), cases.len(), failures.join("\n"));
    println!("{} cases hold", cases.len());
}

/// JSON numbers compare as texts; `1.0` and `1` are the same number all the same.
fn same_numbers(value: &Value, expected: &serde_json::Value) -> bool {
    Value::from_plain_json(&expected.to_string()).is_ok_and(|expected| {
        let found = Value::from_plain_json(&plain_json(value).to_string());
        found.is_ok_and(|found| found == expected)
    })
}
