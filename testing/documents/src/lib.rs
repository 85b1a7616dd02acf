//! Holds JSON documents against their schemas in `docs/reference/json`.
//!
//! The schemas of the book are open: names may be added. Here they are closed, so that a name without a schema fails.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value as Json;

/// Where a document is not as the schema of this name says, and why. No schema of this name is a fault, too.
pub fn faults(name: &str, document: &Json) -> Vec<String> {
    match schemas().get(name) {
        Some(schema) => {
            schema.iter_errors(document).map(|it| format!("at {}: {it}", it.instance_path())).collect()
        }
        None => vec![format!("there is no schema `{name}`")],
    }
}

/// Fails a test whose document is not as the schema of this name says.
#[track_caller]
pub fn assert_fits(name: &str, document: &Json, whose: &dyn std::fmt::Debug) {
    let faults = faults(name, document);
    assert!(faults.is_empty(), "{whose:?}: {document}\nis not as {name}.json says:\n{}", faults.join("\n"));
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
