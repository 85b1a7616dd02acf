//! What is common: the binary in a folder of its own, on a store, and the comparison of what exists with what is recorded.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

use tempfile::TempDir;
use trueup_test_servers::environment::search_path;

use crate::kills::server::Server;

/// A folder to run the binary in, and where it keeps its state.
pub(crate) struct Place {
    folder: TempDir,
    /// What says where the state is; nothing, if it is in the folder.
    variables: Vec<(&'static str, String)>,
}

impl Place {
    pub(crate) fn new(variables: Vec<(&'static str, String)>) -> Self {
        Place { folder: tempfile::tempdir().unwrap(), variables }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The value of a variable that says where the state is.
    pub(crate) fn variable(&self, name: &str) -> &str {
        let found = self.variables.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Makes this the program.
    pub(crate) fn write(&self, program: &str) {
        std::fs::write(self.folder.path().join("main.tf"), program).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
        command.args(arguments).arg("--stage").arg("test").current_dir(self.folder.path());
        command.env_clear().env("HOME", self.folder.path());
        command.env("PATH", search_path());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub(crate) fn trueup(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Deploys what killed runs left, as someone does who knows that they are dead: without waiting until their leases
    /// expire.
    pub(crate) fn deploy_after_kill(&self) -> Output {
        let tried = self.trueup(&["deploy", "--yes", "--no-wait"]);
        let said = told(&tried);
        let Some((_, run)) = said.split_once("unlock ").filter(|_| !tried.status.success()) else {
            return tried;
        };
        let run: String = run.chars().take_while(char::is_ascii_hexdigit).collect();
        let unlocked = self.trueup(&["unlock", &run, "--yes"]);
        assert!(unlocked.status.success(), "{}", told(&unlocked));
        self.trueup(&["deploy", "--yes", "--no-wait"])
    }

    pub(crate) fn records(&self) -> Vec<Json> {
        let exported = self.trueup(&["state", "export"]);
        if told(&exported).contains("has no stage") {
            // It was killed before it recorded anything.
            return Vec::new();
        }
        assert!(exported.status.success(), "{}", told(&exported));
        let exported: Json = serde_json::from_slice(&exported.stdout).unwrap();
        exported["records"].as_array().cloned().unwrap_or_default()
    }

    /// How many operations were begun and not ended, by what is recorded.
    pub(crate) fn open_operations(&self) -> usize {
        let open = |record: &&Json| record["current"]["status"]["status"] != "ready";
        self.records().iter().filter(open).count()
    }

    /// What exists is what is recorded, nothing is doubled, and nothing is left to do.
    pub(crate) fn compare(&self, server: &Server, at: &str) {
        let truth = server.truth();
        let recorded: BTreeMap<u64, String> = self
            .records()
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
        let again = self.trueup(&["plan", "--detailed-exitcode"]);
        assert_eq!(again.status.code(), Some(0), "{at}: {}", told(&again));
    }
}

pub(crate) fn told(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
