//! Each JSON document that a test sees is held against its schema in `docs/reference/json`.
//!
//! The schemas of the book are open: names may be added. Here they are closed, so that a name without a schema fails.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value as Json;

use crate::Told;

/// Checks what a command wrote to standard output, if it was asked for JSON.
pub(crate) fn check(arguments: &[&str], told: &Told) {
    let Some(asked) = arguments.iter().find(|it| matches!(**it, "-json" | "--json" | "--json=terraform"))
    else {
        return;
    };
    let bare = bare_form(arguments, asked);
    for line in told.out.lines() {
        let document: Json =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments:?}: {error} in {line}"));
        let named = document["kind"].as_str().or(document["event"].as_str().map(|_| "event"));
        match (bare, named) {
            (Some(_), Some("error")) if told.code != 0 => hold(arguments, "error", &document),
            (Some(Some(schema)), _) => hold(arguments, schema, &document),
            // One output is any value.
            (Some(None), _) => {}
            // The history of runs that older binaries made.
            (None, Some("event")) if document["version"] == 1 => {}
            (None, named) => hold(arguments, named.unwrap_or("none"), &document),
        }
    }
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
            "--stage" | "-stage" => drop(rest.next()),
            option if option.starts_with('-') => {}
            _ => return Some(None),
        }
    }
    Some(Some(if asked == "--json" { "outputs" } else { "outputs-terraform" }))
}

fn hold(arguments: &[&str], name: &str, document: &Json) {
    let schemas = schemas();
    let schema = schemas.get(name);
    let schema = schema.unwrap_or_else(|| panic!("{arguments:?}: no schema `{name}` for {document}"));
    let wrong: Vec<String> =
        schema.iter_errors(document).map(|it| format!("at {}: {it}", it.instance_path())).collect();
    assert!(wrong.is_empty(), "{arguments:?}: {document}\nis not as {name}.json says:\n{}", wrong.join("\n"));
}

/// All schemas of the book, closed.
fn schemas() -> &'static BTreeMap<String, Validator> {
    static SCHEMAS: OnceLock<BTreeMap<String, Validator>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/json");
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.unwrap().path();
            let mut schema: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            close(&mut schema, false);
            let validator = jsonschema::validator_for(&schema).unwrap();
            (path.file_stem().unwrap().to_string_lossy().into_owned(), validator)
        };
        std::fs::read_dir(folder).unwrap().map(read).collect()
    })
}

/// Forbids members without a schema. The branches of a `oneOf` are about members that stand beside them.
fn close(schema: &mut Json, branch: bool) {
    match schema {
        Json::Object(members) => {
            for (name, inner) in members.iter_mut() {
                match (name.as_str(), inner) {
                    ("properties" | "$defs", Json::Object(schemas)) => {
                        schemas.values_mut().for_each(|inner| close(inner, false));
                    }
                    (name, Json::Array(schemas)) => {
                        schemas.iter_mut().for_each(|inner| close(inner, name == "oneOf"));
                    }
                    (_, inner) => close(inner, false),
                }
            }
            if !branch && members.contains_key("properties") {
                members.insert("unevaluatedProperties".to_owned(), false.into());
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &str, out: &str) -> std::thread::Result<()> {
        let told = Told { code: 0, out: out.to_owned(), err: String::new() };
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
}
