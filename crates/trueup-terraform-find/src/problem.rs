//! What can be wrong with finding a provider, and what to do about it.

use std::path::PathBuf;

use semver::Version;
use trueup_core::{Diagnostic, Origin};
use trueup_provider::ProviderAddress;

use crate::remote::RemoteError;

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
    /// No way to install has it.
    #[error("nobody has it{}", listed(asked))]
    Nowhere {
        /// What was asked, or what each says.
        asked: Vec<String>,
    },
    /// There are versions, and none will do.
    #[error("no version meets `{constraints}`; there are {}", shortened(available))]
    NoVersion {
        /// What is demanded.
        constraints: String,
        /// What there is.
        available: Vec<Version>,
    },
    /// A server cannot be asked, or answers what is of no use.
    #[error("{what}")]
    Server {
        /// What is wrong.
        what: String,
        /// Whether it cannot be reached at all.
        offline: bool,
    },
    /// What came from a server must not be used.
    #[error("{what}")]
    Untrusted {
        /// Why.
        what: String,
    },
    /// There is no folder in which packages could be kept.
    #[error("there is no place to keep packages")]
    NoCache,
    /// Something could not be written.
    #[error("cannot write {}: {what}", path.display())]
    Disk {
        /// Where.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// The lock file would have to be changed, and must not be.
    #[error("the lock file {} is not up to date", path.display())]
    WouldChangeLock {
        /// The file.
        path: PathBuf,
    },
    /// The package is not the one that was expected.
    #[error("the package {} has the checksum {found}, which is none of those that are expected", path.display())]
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

fn listed(asked: &[String]) -> String {
    if asked.is_empty() {
        return ": Terraform's CLI configuration has no way to install it".to_owned();
    }
    format!(": {}", asked.join("; "))
}

/// The newest of many versions, newest first.
fn shortened(versions: &[Version]) -> String {
    const SHOWN: usize = 8;
    let newest: Vec<String> = versions.iter().rev().take(SHOWN).map(Version::to_string).collect();
    let more = if versions.len() > SHOWN { ", …" } else { "" };
    newest.join(", ") + more
}

impl From<RemoteError> for ProblemKind {
    fn from(error: RemoteError) -> Self {
        let what = error.to_string();
        match error {
            RemoteError::Unreachable { .. } => ProblemKind::Server { what, offline: true },
            RemoteError::Answer { .. } | RemoteError::Busy { .. } | RemoteError::Absent { .. } => {
                ProblemKind::Server { what, offline: false }
            }
            RemoteError::Untrusted { .. } => ProblemKind::Untrusted { what },
            RemoteError::Disk { path, cause } => ProblemKind::Disk { path: path.into(), what: cause },
        }
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
                "it may have been damaged or exchanged. Remove it, and install it with `trueup init`; if the \
                 publisher has it so now, remove the provider from .terraform.lock.hcl first"
            }
            ProblemKind::Nowhere { .. } => {
                "check its source in `required_providers`, and `provider_installation` in Terraform's CLI \
                 configuration"
            }
            ProblemKind::NoVersion { .. } => "change the version in `required_providers`",
            ProblemKind::Server { offline: true, .. } => {
                "check the network and proxies; without a network, put the package into a mirror and name it in \
                 Terraform's CLI configuration (`filesystem_mirror`), or below ~/.terraform.d/plugins"
            }
            ProblemKind::Server { offline: false, .. } => {
                "check the source in `required_providers`, then try again"
            }
            ProblemKind::Untrusted { .. } => "do not use it; tell whoever publishes it",
            ProblemKind::NoCache => "set HOME, or TF_PLUGIN_CACHE_DIR",
            ProblemKind::Disk { .. } => "check that it may be written and that there is room, then try again",
            ProblemKind::WouldChangeLock { .. } => {
                "run `trueup init` without --locked, and commit what it writes"
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
