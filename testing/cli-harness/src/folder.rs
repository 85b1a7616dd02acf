//! A folder of its own for a binary, and what the binary tells when it runs there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use trueup_test_servers::environment::search_path;

use crate::{Started, documents};

/// A folder for a binary to work in, removed at the end.
#[derive(Debug)]
pub struct Folder {
    folder: TempDir,
    binary: PathBuf,
}

/// What a command came to.
#[derive(Debug)]
pub struct Told {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub out: String,
    /// What it wrote to standard error.
    pub err: String,
}

impl Folder {
    /// An empty folder for this binary.
    pub fn of(binary: impl Into<PathBuf>) -> Self {
        Folder { folder: tempfile::tempdir().unwrap(), binary: binary.into() }
    }

    /// The binary.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file, and the folders above it. Whoever watches it sees it whole, as editors write files.
    pub fn write(&self, name: &str, text: &str) {
        let (path, beside) = (self.path().join(name), self.path().join(format!("{name}.new")));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&beside, text).unwrap();
        std::fs::rename(beside, path).unwrap();
    }

    /// Puts a key where the binary looks for it, as everyone has one who shares state.
    pub fn give_key(&self) {
        self.write(".config/trueup/key", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n");
    }

    /// What a file says.
    pub fn read(&self, name: &str) -> String {
        let path = self.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether there is such a file.
    pub fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// The binary, about to run here with these arguments, separated by spaces, and an environment that has nothing of
    /// the person who runs the tests.
    pub fn command(&self, arguments: &str) -> Command {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        self.command_of(&arguments)
    }

    /// The same, for arguments that have spaces.
    pub fn command_of(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.path()).env_clear().stdin(Stdio::null());
        command.envs(self.environment());
        command
    }

    /// The environment of whatever runs here.
    pub(crate) fn environment(&self) -> Vec<(&'static str, std::ffi::OsString)> {
        vec![("HOME", self.path().into()), ("LANG", "C.UTF-8".into()), ("PATH", search_path())]
    }

    /// Runs the binary. Whatever it writes with `--json` must be as the book says.
    pub fn run(&self, arguments: &str) -> Told {
        self.run_with(arguments, &[])
    }

    /// Runs it with more in its environment.
    pub fn run_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Told {
        Told::by(self.command(arguments).envs(environment.iter().copied()))
    }

    /// Starts the binary, to look at things while it runs.
    pub fn start(&self, arguments: &str) -> Started {
        self.start_with(arguments, &[])
    }

    /// Starts it with more in its environment.
    pub fn start_with(&self, arguments: &str, environment: &[(&str, &str)]) -> Started {
        let mut command = self.command(arguments);
        command.envs(environment.iter().copied());
        Started::spawn(command, arguments)
    }

    /// Runs what must succeed.
    pub fn done(&self, arguments: &str) -> Told {
        let told = self.run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        told
    }

    /// Runs what must answer with one JSON document.
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let told = self.run(arguments);
        serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{told:?}"))
    }
}

impl Told {
    /// Runs a command of a binary with our command line. Whatever it writes with `--json` must be as the book says.
    pub fn by(command: &mut Command) -> Self {
        let told = Self::unchecked(command.output().unwrap());
        let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy()).collect();
        documents::check(&arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &told);
        told
    }

    /// What such a command came to, with these arguments.
    pub fn of(output: Output, arguments: &str) -> Self {
        let told = Self::unchecked(output);
        told.check(arguments);
        told
    }

    /// Holds it against the book, as what such a command came to.
    pub fn check(&self, arguments: &str) {
        documents::check(&arguments.split_whitespace().collect::<Vec<_>>(), self);
    }

    /// What another program came to, or one whose standard output went elsewhere.
    pub fn unchecked(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Told { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}
