//! What only one of two programs has, or has otherwise: Terraform's imports, moves, states, data sources, and its version 5
//! of the protocol.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::driver::Terraform;

fn terraform() -> Option<Terraform> {
    Terraform::find("notes", &super::binary())
}

/// Plans and applies; what was planned.
fn apply(terraform: &Terraform) -> String {
    let planned = terraform.plan().unwrap_or_else(|error| panic!("{error}"));
    terraform.apply().unwrap_or_else(|error| panic!("{error}"));
    planned.action
}

/// Writes a configuration of one note.
fn write_note(terraform: &Terraform, inputs: &Json) {
    terraform.write(&json!({ "resource": { "notes_note": { "x": inputs } } }));
}

fn object(terraform: &Terraform, file: &str) -> PathBuf {
    terraform.objects().join(file)
}

fn edit(path: &Path, name: &str, value: Json) {
    let mut json: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    json[name] = value;
    std::fs::write(path, json.to_string()).unwrap();
}

#[test]
fn drift_is_shown_and_repaired() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello" }));
    apply(&terraform);
    let file = object(&terraform, "note-one.json");
    edit(&file, "body", json!("hacked"));
    let planned = terraform.plan().unwrap();
    assert_eq!((planned.action.as_str(), &planned.after["body"]), ("update", &json!("hello")));
    terraform.apply().unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("hello"), "{written}");
    // What only the provider decides is repaired too.
    edit(&file, "size", json!(99));
    assert_eq!(terraform.plan().unwrap().action, "update");
    terraform.apply().unwrap();
    // What is gone is made again.
    std::fs::remove_file(&file).unwrap();
    assert_eq!(apply(&terraform), "create");
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}

/// SERVE-6.
#[test]
fn secrets_are_not_shown_and_mistakes_have_a_place() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello", "pin": "pin-12345678" }));
    let told = terraform.run(&["apply", "-input=false", "-auto-approve", "-no-color"]).unwrap();
    assert!(told.contains("(sensitive value)") && !told.contains("12345678"), "{told}");
    assert_eq!(terraform.values()["notes_note.x"]["key"], json!("key-pin-12345678"));
    write_note(&terraform, &json!({ "title": "No Title", "body": "hello", "color": "green" }));
    let error = terraform.run(&["validate", "-no-color"]).unwrap_err();
    for words in ["`title` in notes_note must match", "`color` in notes_note must be", "main.tf.json line"] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// SERVE-5.
#[test]
fn objects_are_imported() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello" }));
    apply(&terraform);
    terraform.write(&json!({ "resource": {
        "notes_note": { "x": { "title": "one", "body": "hello" } },
        "notes_shelf": { "x": { "name": "top", "notes": ["one"] } },
    } }));
    apply(&terraform);
    for address in ["notes_note.x", "notes_shelf.x"] {
        terraform.run(&["state", "rm", address]).unwrap();
    }
    assert!(terraform.values().is_empty());
    terraform.run(&["import", "-input=false", "notes_note.x", "one"]).unwrap();
    terraform.run(&["import", "-input=false", "notes_shelf.x", "top"]).unwrap();
    terraform.run(&["apply", "-input=false", "-auto-approve"]).unwrap();
    assert_eq!(terraform.values()["notes_note.x"]["size"], json!(5));
    assert_eq!(terraform.plan().unwrap().action, "no-op");
    let error = terraform.run(&["import", "-input=false", "-no-color", "notes_memo.y", "one"]).unwrap_err();
    assert!(error.contains("notes_memo"), "{error}");
}

/// SERVE-5.
#[test]
fn a_memo_becomes_a_note() {
    let Some(terraform) = terraform() else { return };
    terraform.write(&json!({ "resource": { "notes_memo": { "old": { "name": "one", "text": "hello" } } } }));
    apply(&terraform);
    terraform.write(&json!({
        "resource": { "notes_note": { "x": { "title": "one", "body": "hello" } } },
        "moved": [{ "from": "notes_memo.old", "to": "notes_note.x" }],
    }));
    assert_eq!(apply(&terraform), "no-op");
    assert_eq!(terraform.values()["notes_note.x"]["title"], json!("one"));
    assert_eq!(terraform.plan().unwrap().action, "no-op");
}

/// SERVE-5.
#[test]
fn states_of_the_first_version_are_upgraded() {
    let Some(terraform) = terraform() else { return };
    write_note(&terraform, &json!({ "title": "one", "body": "hello" }));
    apply(&terraform);
    // As the first version of the provider left it: another name, and bytes of nobody.
    let path = terraform.folder().join("terraform.tfstate");
    let mut state: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let instance = &mut state["resources"][0]["instances"][0];
    instance["schema_version"] = json!(1);
    instance.as_object_mut().unwrap().remove("private");
    let attributes = instance["attributes"].as_object_mut().unwrap();
    let body = attributes.remove("body").unwrap();
    attributes.insert("text".to_owned(), body);
    std::fs::write(&path, state.to_string()).unwrap();
    assert_eq!(apply(&terraform), "no-op");
    assert_eq!(terraform.values()["notes_note.x"]["body"], json!("hello"));
    write_note(&terraform, &json!({ "title": "one", "body": "bye" }));
    assert_eq!(apply(&terraform), "update");
    // One that a later version wrote is refused.
    let mut state: Json = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    state["resources"][0]["instances"][0]["schema_version"] = json!(3);
    std::fs::write(&path, state.to_string()).unwrap();
    assert!(terraform.plan().is_err());
}

#[test]
fn data_sources_are_read() {
    let Some(terraform) = terraform() else { return };
    terraform.write(&json!({
        "resource": { "notes_note": { "x": { "title": "one", "body": "hello" } } },
        "data": { "notes_search": {
            "all": { "depends_on": ["notes_note.x"] },
            "some": { "prefix": "t", "depends_on": ["notes_note.x"] },
        } },
        "output": { "titles": { "value": "${data.notes_search.all.titles}" } },
    }));
    terraform.run(&["apply", "-input=false", "-auto-approve"]).unwrap();
    assert_eq!(terraform.run(&["output", "-json", "titles"]).unwrap().trim(), r#"["one"]"#);
    let values = terraform.values();
    assert_eq!(values["data.notes_search.all"], json!({ "prefix": "", "titles": ["one"] }));
    assert_eq!(values["data.notes_search.some"], json!({ "prefix": "t", "titles": [] }));
}

/// A configuration that is not known before something else is applied.
#[test]
fn a_provider_whose_configuration_is_unknown_plans_all_the_same() {
    let Some(terraform) = terraform() else { return };
    let folder = terraform.objects().display().to_string();
    terraform.write(&json!({
        "provider": { "notes": { "folder": format!("{folder}${{terraform_data.empty.output}}") } },
        "resource": {
            "terraform_data": { "empty": { "input": "" } },
            "notes_note": { "x": { "title": "${terraform_data.empty.output}one", "body": "hello" } },
        },
    }));
    terraform.run(&["apply", "-input=false", "-auto-approve"]).unwrap();
    assert_eq!(terraform.values()["notes_note.x"]["title"], json!("one"));
}

/// An old client, which a program between Terraform and the provider stands for.
/// SERVE-1.
#[test]
fn version_5_of_the_protocol_is_spoken_too() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let wrapper = folder.path().join("terraform-provider-notes");
    let script = format!("#!/bin/sh\nPLUGIN_PROTOCOL_VERSIONS=5 exec {}\n", super::binary().display());
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let Some(terraform) = Terraform::find("notes", &wrapper) else { return };
    for (inputs, action) in [
        (json!({ "title": "one", "body": "hello" }), "create"),
        (json!({ "title": "one", "body": "bye", "tasks": [{ "text": "wash", "done": true }] }), "update"),
        (json!({ "title": "one", "body": "bye", "tasks": [{ "text": "wash", "done": null }] }), "update"),
        (json!({ "title": "two", "body": "bye" }), "replace"),
    ] {
        write_note(&terraform, &inputs);
        assert_eq!(apply(&terraform), action, "{inputs}");
        assert_eq!(terraform.plan().unwrap().action, "no-op", "{inputs}");
    }
    terraform.write(&json!({}));
    assert_eq!(apply(&terraform), "delete");
}
