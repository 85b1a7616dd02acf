//! A stack whose every exit is searched: what its commands print, and all files below its folder, which is also home and
//! holds the folder for temporary files.

use std::process::Command;

use trueup_cli_harness::{Folder, Told};

use super::finder::Finder;
use crate::binary::stack;

/// The log of all commands of a trial, at its most talkative.
pub(super) const LOG: &str = "log.txt";

/// Where temporary files go.
const TEMPORARY: &str = "temporary";

pub(super) struct Trial {
    pub(super) folder: Folder,
    pub(super) finder: Finder,
    variables: Vec<(&'static str, &'static str)>,
}

impl Trial {
    /// A stack that is given these variables of the environment; what the finder searches for never shows.
    pub(super) fn new(text: &str, variables: &[(&'static str, &'static str)], finder: Finder) -> Self {
        let folder = stack(text);
        std::fs::create_dir(folder.path().join(TEMPORARY)).unwrap();
        Trial { folder, finder, variables: variables.to_vec() }
    }

    pub(super) fn command(&self, command: &str, variables: &[(&str, &str)]) -> Command {
        let mut command = self.folder.command(&format!("{command} --log-file {LOG}"));
        command.env("TRUEUP_STAGE", "t").env("TRUEUP_LOG", "trace");
        command.env("TMPDIR", self.folder.path().join(TEMPORARY));
        command.envs(self.variables.iter().copied()).envs(variables.iter().copied());
        command
    }

    /// Runs a command without a look at what it prints.
    pub(super) fn run_unsearched(&self, command: &str, variables: &[(&str, &str)]) -> Told {
        Told::by(&mut self.command(command, variables))
    }

    /// Runs a command that prints no secret.
    #[track_caller]
    pub(super) fn run_with(&self, command: &str, variables: &[(&str, &str)]) -> Told {
        let told = self.run_unsearched(command, variables);
        self.finder.assert_absent(command, told.out.as_bytes());
        self.finder.assert_absent(command, told.err.as_bytes());
        told
    }

    #[track_caller]
    pub(super) fn run(&self, command: &str) -> Told {
        self.run_with(command, &[])
    }

    /// Runs a command that succeeds and prints no secret.
    #[track_caller]
    pub(super) fn done(&self, command: &str) -> Told {
        let told = self.run(command);
        assert_eq!(told.code, 0, "{command}: {told:?}");
        told
    }

    /// Runs a command that fails and prints no secret.
    #[track_caller]
    pub(super) fn failed(&self, command: &str) -> Told {
        let told = self.run(command);
        assert_eq!(told.code, 1, "{command}: {told:?}");
        told
    }

    /// Searches what all runs so far told the history, and all files.
    #[track_caller]
    pub(super) fn search_kept(&self) {
        let told = self.run("history --json");
        if told.code == 1 && told.err.contains("has no stage") {
            // Whatever was tried was refused before anything was recorded.
            return self.finder.assert_absent_below(self.folder.path());
        }
        let runs = self.done("history --json").out;
        let runs: serde_json::Value = serde_json::from_str(&runs).unwrap();
        for run in runs["runs"].as_array().unwrap() {
            self.done(&format!("history {} --json", run["run"].as_str().unwrap()));
        }
        self.done("state export");
        self.finder.assert_absent_below(self.folder.path());
    }
}
