//! What can be wrong with finding a provider, and what to do about it.

use std::path::PathBuf;

use semver::Version;
use trueup_core::{Diagnostic, Origin};

use crate::address::ProviderAddress;

/// What is wrong with one provider, or with finding as such.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}{kind}", .address.as_ref().map(|it| format!("provider {it}: ")).unwrap_or_default())]
pub struct Problem {
    /// The provider, if it is about one.
    pub address: Option<ProviderAddress>,
    /// Where it is required, if that is in a text.
    pub origin: Option<Origin>,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProblemKind {
    /// Terraform's CLI configuration cannot be read.
    #[error("cannot read Terraform's CLI configuration {}: {what}", path.display())]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The lock file cannot be read.
    #[error("cannot read the lock file {}: {what}", path.display())]
    Lock {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The version in the lock file is not one that will do.
    #[error("the lock file has version {locked}, the program wants {constraints}")]
    LockedOut {
        /// The version in the lock file.
        locked: Version,
        /// What is demanded.
        constraints: String,
    },
    /// No version that will do is on this machine.
    #[error("{} is not on this machine", wanted(constraints, locked.as_ref()))]
    NotFound {
        /// What is demanded; empty if nothing is.
        constraints: String,
        /// The version in the lock file.
        locked: Option<Version>,
        /// Versions that are there and will not do.
        present: Vec<Version>,
        /// Where it was looked for.
        looked_in: Vec<PathBuf>,
    },
    /// The package does not hold what it should.
    #[error("{what}")]
    Package {
        /// What is wrong with it.
        what: String,
        /// Whether it is the package of a development override.
        overridden: bool,
    },
    /// The package is not the one that the lock file means.
    #[error("the package {} has the checksum {found}, which is not in the lock file", path.display())]
    Checksum {
        /// The package.
        path: PathBuf,
        /// Its checksum.
        found: String,
    },
}

fn wanted(constraints: &str, locked: Option<&Version>) -> String {
    match (locked, constraints) {
        (Some(version), _) => format!("version {version} of the lock file"),
        (None, "") => "it".to_owned(),
        (None, constraints) => format!("a version that meets `{constraints}`"),
    }
}

impl Problem {
    pub(crate) fn general(kind: ProblemKind) -> Self {
        Problem { address: None, origin: None, kind }
    }

    /// What to do about it.
    pub fn hints(&self) -> Vec<String> {
        let hint = match &self.kind {
            ProblemKind::Configuration { .. } => "mend the file, or name another one in TF_CLI_CONFIG_FILE",
            ProblemKind::Lock { .. } => {
                "bring it back from version control, or remove it and run `trueup init`"
            }
            ProblemKind::LockedOut { .. } => "choose again with `trueup init --upgrade`",
            ProblemKind::NotFound { .. } => "install it with `trueup init`",
            ProblemKind::Package { overridden: true, .. } => {
                "build the provider, or mend `dev_overrides` in Terraform's CLI configuration"
            }
            ProblemKind::Package { overridden: false, .. } => {
                "remove the package, and install it with `trueup init`"
            }
            ProblemKind::Checksum { .. } => {
                "if the package is what you want, accept it with `trueup providers lock`; else remove it, and \
                 install it with `trueup init`"
            }
        };
        vec![hint.to_owned()]
    }
}

impl From<&Problem> for Diagnostic {
    fn from(problem: &Problem) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(problem.to_string());
        diagnostic.origin = problem.origin;
        if let ProblemKind::NotFound { present, looked_in, .. } = &problem.kind {
            let mut detail = String::new();
            if !present.is_empty() {
                let present: Vec<String> = present.iter().map(Version::to_string).collect();
                detail = format!("there are only {}\n", present.join(", "));
            }
            let looked: Vec<String> = looked_in.iter().map(|path| format!("  {}", path.display())).collect();
            detail.push_str(&format!("looked in:\n{}", looked.join("\n")));
            diagnostic = diagnostic.detail(detail);
        }
        problem.hints().into_iter().fold(diagnostic, Diagnostic::hint)
    }
}
