//! The tools that are measured. Another one is a table more: [`Adapter`].

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use trueup_test_servers::environment::search_path;

use crate::failure::Failure;
use crate::operation::Operation;

/// How a tool is called. All of them run in the folder of the stack and keep its state there.
pub(crate) struct Adapter {
    pub(crate) name: &'static str,
    /// What must be done once in a new folder. It is not measured.
    prepare: &'static [&'static str],
    /// What an operation is called, if there is one like it.
    arguments: fn(Operation) -> Option<&'static [&'static str]>,
    environment: &'static [(&'static str, &'static str)],
    version: &'static [&'static str],
    /// Whether stacks are given to it that would take any other too long.
    pub(crate) takes_the_largest: bool,
}

/// The program of this repository.
pub(crate) const TRUEUP: Adapter = Adapter {
    name: "trueup",
    prepare: &[],
    arguments: |operation| {
        Some(match operation {
            Operation::Validate => &["validate", "--stage", "bench"],
            Operation::Deploy | Operation::DeployOne | Operation::DeployAll => {
                &["deploy", "--yes", "--stage", "bench"]
            }
            Operation::Plan | Operation::PlanOne => &["plan", "--detailed-exitcode", "--stage", "bench"],
            Operation::Records => &["state", "list", "--stage", "bench"],
            Operation::Destroy => &["destroy", "--yes", "--stage", "bench"],
        })
    },
    environment: &[],
    version: &["version"],
    takes_the_largest: true,
};

const TERRAFORM: Adapter = Adapter {
    name: "terraform",
    prepare: &["init", "-input=false"],
    arguments: |operation| {
        Some(match operation {
            Operation::Validate => &["validate"],
            Operation::Deploy | Operation::DeployOne | Operation::DeployAll => {
                &["apply", "-auto-approve", "-input=false"]
            }
            Operation::Plan | Operation::PlanOne => &["plan", "-detailed-exitcode", "-input=false"],
            Operation::Records => &["state", "list"],
            Operation::Destroy => &["destroy", "-auto-approve", "-input=false"],
        })
    },
    // Otherwise it asks a server whether there is a newer one.
    environment: &[("CHECKPOINT_DISABLE", "1")],
    version: &["version"],
    takes_the_largest: false,
};

const TOFU: Adapter = Adapter { name: "tofu", ..TERRAFORM };

/// Those that are measured beside it, where they are on the path.
pub(crate) const PEERS: &[Adapter] = &[TERRAFORM, TOFU];

/// A tool that is here.
pub(crate) struct Tool {
    pub(crate) adapter: &'static Adapter,
    pub(crate) program: PathBuf,
    pub(crate) version: String,
}

/// A tool as reports name it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) version: String,
}

impl Tool {
    /// A tool at a place, which is asked for its version.
    pub(crate) fn at(adapter: &'static Adapter, program: &Path, home: &Path) -> Result<Self, Failure> {
        let mut tool = Tool { adapter, program: program.to_owned(), version: String::new() };
        let output = tool.command(home).args(adapter.version).output();
        let output = output.map_err(|error| Failure::at(program, error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        tool.version = text.lines().next().unwrap_or("of unknown version").trim().to_owned();
        Ok(tool)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.adapter.name
    }

    pub(crate) fn named(&self) -> Named {
        Named { name: self.name().to_owned(), version: self.version.clone() }
    }

    /// The program, to be given arguments, in an environment in which nothing of a user's has a say.
    pub(crate) fn command(&self, home: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.environment(home));
        command
    }

    /// The variables it is given: no `TF_…`, no `TRUEUP_…`, and a home with nothing in it.
    pub(crate) fn environment(&self, home: &Path) -> Vec<(String, std::ffi::OsString)> {
        let mut all = vec![("PATH".to_owned(), search_path()), ("HOME".to_owned(), home.into())];
        let own = self.adapter.environment.iter();
        all.extend(own.map(|(name, value)| ((*name).to_owned(), (*value).into())));
        all
    }

    pub(crate) fn arguments(&self, operation: Operation) -> Option<Vec<String>> {
        let arguments = (self.adapter.arguments)(operation)?;
        Some(arguments.iter().map(|it| (*it).to_owned()).collect())
    }

    /// Makes a new folder ready.
    pub(crate) fn prepare(&self, folder: &Path, home: &Path) -> Result<(), Failure> {
        if self.adapter.prepare.is_empty() {
            return Ok(());
        }
        let output = self.command(home).args(self.adapter.prepare).current_dir(folder).output();
        let output = output.map_err(|error| Failure::at(&self.program, error))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Failure::new(format!("{} {} failed: {said}", self.name(), self.adapter.prepare.join(" "))))
    }
}
