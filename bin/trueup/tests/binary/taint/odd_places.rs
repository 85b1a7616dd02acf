//! Secrets where few people put them: ids of imports, keys of maps, and values too short to be searched for.

use super::finder::Finder;
use super::trial::Trial;
use crate::binary::empty;

/// SECRET-1, SECRET-8: of an object that exists, and of one that does not.
#[test]
fn a_secret_id_of_an_import_is_not_shown() {
    const NAME: &str = "s3cret-id-of-an-import.txt";
    let text = r#"
variable "folder" {}
variable "name" { sensitive = true }

import {
  to = std_file.a
  id = "${var.folder}/${var.name}"
}

resource "std_file" "a" {
  path    = "${var.folder}/${var.name}"
  content = "kept"
}
"#;
    let trial = Trial::new(text, &[("TF_VAR_name", NAME)], Finder::new(&[NAME]));
    let elsewhere = empty();
    let folder = elsewhere.path().to_str().unwrap();
    for command in ["plan", "plan --json", "deploy --yes", "deploy --yes --json"] {
        let told = trial.run_with(command, &[("TF_VAR_folder", folder)]);
        assert_eq!(told.code, 1, "{command}: {told:?}");
    }
    elsewhere.write(NAME, "kept");
    for command in [
        "plan --full --unchanged",
        "plan --json --full",
        "deploy --yes",
        "deploy --yes --json",
        "destroy --yes",
    ] {
        trial.run_with(command, &[("TF_VAR_folder", folder)]);
    }
    trial.search_kept();
}

const KEY: &str = "customer-acme-4711";

/// Leads the life of a stack with `std_exec.a`, which repeats the key of a secret map.
fn a_key_stays_secret(text: &str) {
    let trial = Trial::new(text, &[("TF_VAR_key", KEY)], Finder::new(&[KEY]));
    let failing = [("TF_VAR_test", "false")];
    for command in ["deploy --yes", "deploy --yes --json", "plan --json"] {
        trial.run_with(command, &failing);
    }
    for command in [
        "deploy --yes --json",
        "plan --full --unchanged --json",
        "state show std_exec.a",
        "console std_exec.a.result",
        "export-state --partial",
    ] {
        trial.run(command);
    }
    let shown = trial.done("show std_exec.a --json").out;
    assert!(shown.contains("nothing to hide"), "only what repeats the key is secret: {shown}");
    trial.search_kept();
}

/// SECRET-8, SECRET-9: nothing but the map itself tells that its key is secret.
#[test]
fn a_secret_map_hides_its_keys_wherever_they_are_repeated() {
    a_key_stays_secret(
        r#"
variable "key" {}
variable "test" { default = "true" }

resource "std_exec" "a" {
  create      = ["sh", "-c", "tee /dev/stderr; $TEST"]
  update      = ["sh", "-c", "tee /dev/stderr; $TEST"]
  input       = { customers = sensitive({ (var.key) = "x" }), open = "nothing to hide" }
  environment = { TEST = var.test }
}

resource "terraform_data" "a" {
  input = { customers = sensitive({ (var.key) = "x" }), open = "nothing to hide" }
}
"#,
    );
}

/// SECRET-8, SECRET-9: a text that is made of the keys of a secret map.
#[test]
fn the_keys_of_a_secret_map_are_secret_as_texts() {
    a_key_stays_secret(
        r#"
variable "key" {}
variable "test" { default = "true" }

resource "std_exec" "a" {
  create      = ["sh", "-c", "tee /dev/stderr; echo \"of $NAMES\" >&2; $TEST"]
  update      = ["sh", "-c", "tee /dev/stderr; echo \"of $NAMES\" >&2; $TEST"]
  input       = { names = join(",", keys(sensitive({ (var.key) = "x" }))), open = "nothing to hide" }
  environment = { NAMES = join(" ", keys(sensitive({ (var.key) = "x" }))), TEST = var.test }
}
"#,
    );
}

/// SECRET-9: to be equal to a secret is no accident, however short it is.
#[test]
fn a_whole_value_that_equals_a_short_secret_is_secret() {
    const PIN: &str = "#7@";
    let text = r#"
variable "pin" { sensitive = true }
variable "number" {
  type      = number
  sensitive = true
}

resource "std_exec" "a" {
  create = ["sh", "-c", "cat"]
  input  = { pin = var.pin, number = var.number, open = "nothing to hide" }
}
"#;
    let variables = [("TF_VAR_pin", PIN), ("TF_VAR_number", "917")];
    // The finder searches for nothing that is so short.
    let trial = Trial::new(text, &variables, Finder::new(&[]));
    for command in [
        "deploy --yes --json",
        "show std_exec.a --json",
        "state export",
        "state show std_exec.a --json",
        "console std_exec.a.result --json",
    ] {
        let told = trial.done(command);
        for whole in [format!("{PIN:?}"), ":917,".to_owned(), ": 917,".to_owned(), ":917}".to_owned()] {
            assert!(!told.out.contains(&whole), "{command} shows {whole}:\n{}", told.out);
        }
    }
    let shown = trial.done("show std_exec.a --json").out;
    assert!(shown.contains("nothing to hide"), "{shown}");
    let state = std::fs::read(trial.folder.path().join(".trueup/state.db")).unwrap();
    assert!(!String::from_utf8_lossy(&state).contains(PIN), "the state holds {PIN}");
}
