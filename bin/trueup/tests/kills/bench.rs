//! What is common: the binary in a folder, and the comparison of what exists with what is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::server::Server;

/// How many operations were begun and not ended, by what is recorded.
pub(crate) fn open_operations(folder: &Path) -> usize {
    records(folder).iter().filter(|record| record["current"]["status"]["status"] != "ready").count()
}

/// What exists is what is recorded, nothing is doubled, and nothing is left to do.
pub(crate) fn compare(folder: &Path, server: &Server, at: &str) {
    let truth = server.truth();
    let recorded: BTreeMap<u64, String> = records(folder)
        .iter()
        .map(|record| {
            let id = record["current"]["object"]["outputs"]["id"].as_str().and_then(|id| id.parse().ok());
            (id.unwrap_or_else(|| panic!("{at}: no id in {record}")), record["address"].to_string())
        })
        .collect();
    let alive: Vec<u64> = truth.keys().copied().collect();
    let kept: Vec<u64> = recorded.keys().copied().collect();
    assert_eq!(alive, kept, "{at}: what exists {truth:?}, what is recorded {recorded:?}");
    assert!(server.doubled().is_empty(), "{at}: made twice: {:?}", server.doubled());
    let again = trueup(folder, &["plan", "--detailed-exitcode"]);
    assert_eq!(again.status.code(), Some(0), "{at}: {}", told(&again));
}

pub(crate) fn records(folder: &Path) -> Vec<Json> {
    let exported = trueup(folder, &["state", "export"]);
    assert!(exported.status.success(), "{}", told(&exported));
    let exported: Json = serde_json::from_slice(&exported.stdout).unwrap();
    exported["records"].as_array().cloned().unwrap_or_default()
}

pub(crate) fn trueup(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.args(arguments).arg("--stage").arg("test").current_dir(folder);
    command.env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

pub(crate) fn told(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
