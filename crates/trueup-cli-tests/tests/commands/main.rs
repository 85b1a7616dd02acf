//! The commands on real binaries, real files and a real store.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod deploying;
mod looking;
mod settings;
mod state;
mod texts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder with a stack.
struct Folder {
    folder: TempDir,
    binary: PathBuf,
}

/// What a command came to.
#[derive(Debug)]
struct Told {
    code: i32,
    out: String,
    err: String,
}

impl Folder {
    /// One with this text for the binary `lines`.
    fn with(text: &str) -> Self {
        let folder = Folder::empty();
        folder.write("stack.lines", text);
        folder
    }

    fn empty() -> Self {
        let binary = PathBuf::from(env!("CARGO_BIN_EXE_lines"));
        Folder { folder: tempfile::tempdir().unwrap(), binary }
    }

    /// One for the stack in Rust.
    fn of_shelf() -> Self {
        Folder { binary: PathBuf::from(env!("CARGO_BIN_EXE_shelf")), ..Folder::empty() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(arguments.split_whitespace())
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.path())
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &str) -> Told {
        Told::of(self.command(arguments).output().unwrap())
    }

    fn run_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Told {
        Told::of(self.command(arguments).envs(environment.iter().copied()).output().unwrap())
    }

    /// Runs what must succeed.
    fn done(&self, arguments: &str) -> Told {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told
    }

    /// Runs what must succeed and answer with JSON that has a version.
    fn json(&self, arguments: &str) -> serde_json::Value {
        let told = self.run(arguments);
        let json: serde_json::Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{told:?}"));
        assert_eq!(json["version"], 1, "{arguments}: {json}");
        json
    }
}

impl Told {
    fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Told { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// Whatever differs from run to run, made the same.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    for line in text.lines() {
        let words: Vec<String> = line
            .split(' ')
            .map(|word| {
                let digits = word.chars().filter(char::is_ascii_digit).count();
                let clock = word.len() == 8 && word.matches(':').count() == 2 && digits == 6;
                if clock { "HH:MM:SS".to_owned() } else { word.to_owned() }
            })
            .collect();
        let mut line = words.join(" ");
        for unit in ["ms", "s"] {
            while let Some(at) = line.find(&format!(" {unit}")) {
                let number = line[..at].rfind(' ').map_or(0, |space| space + 1);
                let is_number = line[number..at].chars().all(|char| char.is_ascii_digit() || char == '.');
                let ends =
                    line[at + 1 + unit.len()..].chars().next().is_none_or(|char| !char.is_alphanumeric());
                if !is_number || !ends || number == at {
                    break;
                }
                line.replace_range(number..at + 1 + unit.len(), "TIME");
            }
        }
        steady.push_str(&line);
        steady.push('\n');
    }
    steady
}

/// Every read command answers with JSON that has a version.
#[test]
fn every_read_command_has_json() {
    let folder =
        Folder::with("stack site\ntest_file a path=a.txt content=hello\noutput a @test_file.a.path\n");
    folder.done("deploy --yes");
    for command in [
        "plan --json",
        "drift --json",
        "output --json",
        "output a --json",
        "show test_file.a --json",
        "why test_file.a --json",
        "state list --json",
        "state show test_file.a --json",
        "history --json",
        "graph --json",
        "schema --json",
        "schema test_file --json",
        "config --json",
        "validate --json",
        "version --json",
        "console @test_file.a.path --json",
    ] {
        assert!(folder.json(command)["kind"].is_string(), "{command}");
    }
}
