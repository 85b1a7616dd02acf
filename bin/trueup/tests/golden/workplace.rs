//! A copy of a golden stack in a temporary folder, and the binary at work in it.
//!
//! The stack is in `stack`, its key in `key`, and the state that is a file in `state`: plan files name the store by the
//! path from the stack to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;
use trueup_cli_harness::{Folder, Told};

use crate::golden::place::CREDENTIALS;
use crate::golden::{Golden, STAGE, files};

/// The address of state in a file, from the stack.
pub(crate) const STATE_FILE: &str = "../state/state.db";

/// A stack, its key and its state.
pub(crate) struct Workplace {
    folder: Folder,
    state: String,
    /// The variable that names the key.
    key: (&'static str, String),
    /// Runs the binary under a neutral host and user name, which golden files may record.
    anonymous: bool,
}

impl Workplace {
    /// A copy of a golden stack with the golden key, and with its state at an address.
    pub(crate) fn of(golden: &Golden, stack: &str, state: &str) -> Self {
        let workplace = Workplace::empty(state, false);
        workplace.lay_out(&golden.files(&format!("stacks/{stack}")));
        workplace.put("key/key", golden.text("key"), 0o600);
        workplace
    }

    /// The same with the golden SQLite file.
    pub(crate) fn with_state_file(golden: &Golden, stack: &str) -> Self {
        let workplace = Workplace::of(golden, stack, STATE_FILE);
        workplace.put("state/state.db", std::fs::read(golden.path("sqlite/state.db")).unwrap(), 0o600);
        workplace
    }

    /// An empty one, to write golden files with.
    pub(crate) fn to_write(state: &str) -> Self {
        Workplace::empty(state, true)
    }

    fn empty(state: &str, anonymous: bool) -> Self {
        let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
        for name in ["stack", "state", "key"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let key = ("TRUEUP_KEY_FILE", folder.path().join("key/key").display().to_string());
        Workplace { folder, state: state.to_owned(), key, anonymous }
    }

    /// The same with another key than that in the file.
    pub(crate) fn with_key(self, variable: &'static str, value: &str) -> Self {
        Workplace { key: (variable, value.to_owned()), ..self }
    }

    /// Writes the files of a stack.
    pub(crate) fn lay_out(&self, files: &BTreeMap<String, Vec<u8>>) {
        for (name, bytes) in files {
            self.put(&format!("stack/{name}"), bytes, 0o644);
        }
    }

    /// Writes a file of the stack.
    pub(crate) fn write(&self, name: &str, text: &str) {
        self.put(&format!("stack/{name}"), text, 0o644);
    }

    /// Lets the program accept what the lookup of a `std_exec` finds. Programs from before it had to say so lack this line.
    pub(crate) fn accept_found(&self, resource: &str) {
        let program = std::fs::read_to_string(self.path("stack/main.tf")).unwrap();
        let block = format!("resource \"std_exec\" \"{resource}\" {{\n");
        assert!(program.contains(&block), "{program}");
        if !program.contains(&format!("{block}  update")) {
            self.write("main.tf", &program.replace(&block, &format!("{block}  update = [\"true\"]\n")));
        }
    }

    /// Writes a file. Its mode is part of what `std_file` compares, and not kept by Git.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>, mode: u32) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        #[cfg(not(unix))]
        let _ = mode;
    }

    pub(crate) fn remove(&self, name: &str) {
        std::fs::remove_file(self.path(name)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The files of the stack as they are now, without what the binary keeps there for itself.
    pub(crate) fn stack_files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = files(&self.path("stack"));
        files.retain(|name, _| !name.starts_with(".trueup/"));
        files
    }

    /// Runs the binary in the stack.
    pub(crate) fn run(&self, arguments: &str) -> Told {
        let plain = self.folder.command(arguments);
        let mut command = if self.anonymous { anonymous(&plain, self.folder.path()) } else { plain };
        command.current_dir(self.path("stack")).env("TRUEUP_STATE", &self.state).env("TRUEUP_STAGE", STAGE);
        command.env(self.key.0, &self.key.1).envs(CREDENTIALS);
        Told::of(command.output().unwrap(), arguments)
    }

    /// Runs what must succeed.
    pub(crate) fn done(&self, arguments: &str) -> Told {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told
    }

    /// Runs what must fail with a message.
    pub(crate) fn refused(&self, arguments: &str, why: &str) {
        let told = self.run(arguments);
        let words: Vec<&str> = told.err.split_whitespace().collect();
        assert!(told.code == 1 && words.join(" ").contains(why), "{arguments}: {told:?}");
    }

    /// The JSON that a command writes, a value for each line, whether it succeeds or not.
    pub(crate) fn lines(&self, arguments: &str) -> Vec<Json> {
        let told = self.run(arguments);
        let parsed = |line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{arguments}: {error}: {told:?}"))
        };
        told.out.lines().map(parsed).collect()
    }

    /// The addresses of all records.
    pub(crate) fn addresses(&self) -> Vec<String> {
        let list = self.json("state list --json");
        let records = list["records"].as_array().unwrap_or_else(|| panic!("{list}"));
        records.iter().map(|record| record["address"].as_str().unwrap().to_owned()).collect()
    }

    /// The JSON that a command writes as a whole.
    pub(crate) fn json(&self, arguments: &str) -> Json {
        let told = self.run(arguments);
        serde_json::from_str(&told.out).unwrap_or_else(|error| panic!("{arguments}: {error}: {told:?}"))
    }
}

/// The same command on a host named `golden`, where everyone is root.
fn anonymous(command: &Command, home: &Path) -> Command {
    let mut namespace = Command::new("unshare");
    namespace.args(["--map-root-user", "--uts", "sh", "-c", "hostname golden && exec \"$0\" \"$@\""]);
    namespace.arg(command.get_program()).args(command.get_args()).env_clear();
    let environment = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
    namespace.envs(environment).env("HOME", home).stdin(std::process::Stdio::null());
    namespace
}
