//! Comparing what commands say with what they are expected to say.
//!
//! Additional names are fine, as in all our JSON (docs/json.md). Everything else must be equal.

use serde_json::Value as Json;

use crate::golden::Golden;

/// Fails unless the actual JSON holds all that is expected.
pub(crate) fn assert_expected(golden: &Golden, file: &str, actual: &Json) {
    let expected = golden.json(file);
    if let Some(difference) = difference("", &expected, actual) {
        panic!("{}: {difference}", golden.path(file).display());
    }
}

/// The first difference, if there is one.
pub(crate) fn difference(at: &str, expected: &Json, actual: &Json) -> Option<String> {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => expected.iter().find_map(|(name, expected)| {
            let at = format!("{at}/{name}");
            match actual.get(name) {
                Some(actual) => difference(&at, expected, actual),
                None => Some(format!("{at} is missing: {expected}")),
            }
        }),
        (Json::Array(expected), Json::Array(actual)) if expected.len() == actual.len() => {
            let pairs = expected.iter().zip(actual).enumerate();
            pairs.into_iter().find_map(|(index, (expected, actual))| {
                difference(&format!("{at}/{index}"), expected, actual)
            })
        }
        (expected, actual) if expected == actual => None,
        (expected, actual) => Some(format!("{at}\nexpected: {expected}\n  actual: {actual}")),
    }
}

/// An expectation as it is written: a line for each part, so that changes can be reviewed.
pub(crate) fn text(json: &Json) -> String {
    let mut text = String::new();
    write(json, 0, &mut text);
    text + "\n"
}

/// Levels that are spread over lines.
const SPREAD: usize = 3;

fn write(json: &Json, level: usize, text: &mut String) {
    let (open, close, items): (_, _, Vec<(String, &Json)>) = match json {
        Json::Object(members) if level < SPREAD && !members.is_empty() => {
            let name = |name: &String| format!("{}: ", Json::from(name.as_str()));
            ('{', '}', members.iter().map(|(key, value)| (name(key), value)).collect())
        }
        Json::Array(items) if level < SPREAD && !items.is_empty() => {
            ('[', ']', items.iter().map(|item| (String::new(), item)).collect())
        }
        plain => return text.push_str(&plain.to_string()),
    };
    text.push(open);
    for (index, (name, item)) in items.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(level + 1));
        text.push_str(name);
        write(item, level + 1, text);
    }
    text.push('\n');
    text.push_str(&" ".repeat(level));
    text.push(close);
}

#[test]
fn only_additional_names_are_no_difference() {
    let differs = |expected: &str, actual: &str| {
        let parsed = |text: &str| serde_json::from_str::<Json>(text).unwrap();
        assert_eq!(parsed(&text(&parsed(expected))), parsed(expected));
        difference("", &parsed(expected), &parsed(actual)).is_some()
    };
    assert!(!differs(r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": 1, "c": 2}], "d": 3}"#));
    assert!(differs(r#"{"a": [{"b": 1}]}"#, r#"{"a": [{"b": 2}]}"#));
    assert!(differs(r#"{"a": null}"#, r#"{}"#));
    assert!(differs(r#"{"a": []}"#, r#"{"a": [1]}"#));
}
