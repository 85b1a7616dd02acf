//! What a command writes with `--json`: one document, or one a line where the book says so, each as its schema says.

use serde_json::Value as Json;
use trueup_test_documents::assert_fits;

use crate::Told;

/// Checks what a command wrote to standard output, if it was asked for JSON.
pub(crate) fn check(arguments: &[&str], told: &Told) {
    let Some(asked) = arguments.iter().find(|it| matches!(**it, "-json" | "--json" | "--json=terraform"))
    else {
        return;
    };
    if arguments.iter().any(|it| matches!(*it, "--help" | "-help" | "-h")) {
        return;
    }
    let bare = bare_form(arguments, asked);
    let documents = told.out.lines().map(|line| {
        let document: Json =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments:?}: {error} in {line}"));
        let named = document["kind"].as_str().or(document["event"].as_str().map(|_| "event"));
        match (bare, named) {
            (Some(_), Some("error")) if told.code != 0 => assert_fits("error", &document, &arguments),
            (Some(Some(schema)), _) => assert_fits(schema, &document, &arguments),
            // One output is any value.
            (Some(None), _) => {}
            // The history of runs that older binaries made.
            (None, Some("event")) if document["version"] == 1 => {}
            (None, named) => assert_fits(named.unwrap_or("none"), &document, &arguments),
        }
    });
    let count = documents.count();
    // A process that was killed may have come to no document, or to some of a stream.
    if told.code >= 0 {
        let expected = if is_stream(arguments) { count > 0 } else { count == 1 };
        assert!(expected, "{arguments:?}: {count} documents: {told:?}");
    }
}

/// Whether a command writes several documents.
fn is_stream(arguments: &[&str]) -> bool {
    let word = |word: &str| arguments.contains(&word);
    ["deploy", "apply", "destroy", "import", "dev", "history", "console"].into_iter().any(word)
        || (word("drift") && word("--repair"))
}

/// The schema of the outputs, or none for one output; `None` for all other commands.
fn bare_form(arguments: &[&str], asked: &str) -> Option<Option<&'static str>> {
    let at = arguments.iter().position(|it| *it == "output")?;
    if arguments[..at].iter().any(|it| !it.starts_with('-')) {
        return None;
    }
    let mut rest = arguments[at + 1..].iter();
    while let Some(word) = rest.next() {
        match *word {
            "--stage" | "-stage" | "--log-file" => drop(rest.next()),
            option if option.starts_with('-') => {}
            _ => return Some(None),
        }
    }
    Some(Some(if asked == "--json" { "outputs" } else { "outputs-terraform" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &str, out: &str) -> std::thread::Result<()> {
        ended(arguments, out, 0)
    }

    fn ended(arguments: &str, out: &str, code: i32) -> std::thread::Result<()> {
        let told = Told { code, out: out.to_owned(), err: String::new() };
        let arguments: Vec<&str> = arguments.split(' ').collect();
        std::panic::catch_unwind(|| check(&arguments, &told))
    }

    /// OUTPUT-13
    #[test]
    fn documents_without_a_fitting_schema_are_noticed() {
        let good = r#"{"version":1,"kind":"key-made","file":"key"}"#;
        assert!(said("key new --json", good).is_ok());
        assert!(said("key new", "no JSON").is_ok());
        for bad in [
            "no JSON",
            "{}",
            r#"{"version":1,"kind":"unheard-of"}"#,
            r#"{"version":1,"kind":"key-made"}"#,
            r#"{"version":2,"kind":"key-made","file":"key"}"#,
            r#"{"version":1,"kind":"key-made","file":"key","more":1}"#,
        ] {
            assert!(said("key new --json", bad).is_err(), "{bad}");
        }
        let event = |data: &str| {
            format!(
                r#"{{"version":2,"sequence":0,"time_ms":1,"stack":"a","stage":"b","run":"c","resource":null,
                "event":"reconciler.run.finished","data":{data}}}"#
            )
            .replace('\n', "")
        };
        assert!(said("deploy --json", &event(r#"{"succeeded":true}"#)).is_ok());
        assert!(said("deploy --json", &event(r#"{"succeeded":true,"more":1}"#)).is_err());
        assert!(said("deploy --json", &event("{}")).is_err());
        assert!(said("output -json", r#"{"a":{"sensitive":true,"type":"dynamic"}}"#).is_ok());
        assert!(said("output -json", r#"{"a":1}"#).is_err());
        assert!(said("output --stage x --json", r#"{"a":1}"#).is_ok());
        assert!(said("output a --json", "1").is_ok());
    }

    /// OUTPUT-14
    #[test]
    fn a_document_too_few_or_too_many_is_noticed() {
        let good = r#"{"version":1,"kind":"key-made","file":"key"}"#;
        assert!(said("key new --json", &format!("{good}\n{good}")).is_err());
        assert!(said("key new --json", "").is_err());
        assert!(ended("key new --json", "", 1).is_err());
        assert!(ended("deploy --json", "", 130).is_err());
        // A kill leaves nothing to say.
        assert!(ended("deploy --json", "", -1).is_ok());
    }
}
