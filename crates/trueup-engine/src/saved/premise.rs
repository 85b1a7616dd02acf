//! What a program followed from, each by a digest: texts, values of variables, files that were read, versions
//! (PLANFILE-2). Which of them changed is told by name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use trueup_core::{Diagnostic, Diagnostics};

use super::PLAN_AGAIN;

/// Something that a program followed from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Premise {
    /// What kind of thing.
    pub kind: PremiseKind,
    /// Which, for people: a path or a name.
    pub name: String,
    /// What it said, as a digest or version.
    pub digest: String,
    /// Whether the digest must not be known, since what it stands for could be guessed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// What kind of thing a program followed from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PremiseKind {
    /// The program that plans, or the one that is the program.
    Build,
    /// A text of the program or of a module.
    Source,
    /// The value of a variable, or an argument of the stack.
    Variable,
    /// A provider, by its version.
    Provider,
    /// What a user's profile says of a provider's configuration.
    Profile,
    /// A file that an expression read, or whether there is one, or which.
    Read,
}

impl Premise {
    /// A premise by the digest of its content.
    pub fn of(kind: PremiseKind, name: impl Into<String>, content: &[u8]) -> Self {
        let digest = blake3::hash(content).to_hex().to_string();
        Premise { kind, name: name.into(), digest, secret: false }
    }
}

/// The premises of a saved plan that no longer hold. Files may be read later than the program is built, so one that was
/// not read yet is no difference.
pub fn changed_premises(saved: &[Premise], now: &[Premise]) -> Diagnostics {
    let keyed = |premises: &[Premise]| -> BTreeMap<(PremiseKind, String), String> {
        premises.iter().map(|it| ((it.kind, it.name.clone()), it.digest.clone())).collect()
    };
    let (before, after) = (keyed(saved), keyed(now));
    let mut changed = Diagnostics::new();
    for (key, digest) in &before {
        match after.get(key) {
            Some(now) if now == digest => {}
            Some(now) => changed.push(told(key, Differs::Changed { before: digest, now })),
            None if key.0 == PremiseKind::Read => {}
            None => changed.push(told(key, Differs::Gone)),
        }
    }
    for key in after.keys().filter(|key| !before.contains_key(*key)) {
        changed.push(told(key, Differs::New));
    }
    changed
}

enum Differs<'a> {
    Changed { before: &'a str, now: &'a str },
    Gone,
    New,
}

fn told((kind, name): &(PremiseKind, String), differs: Differs<'_>) -> Diagnostic {
    let what = match kind {
        PremiseKind::Build | PremiseKind::Source | PremiseKind::Read => name.clone(),
        PremiseKind::Variable => format!("the variable `{name}`"),
        PremiseKind::Provider => format!("the provider `{name}`"),
        PremiseKind::Profile => format!("what the profile says of provider `{name}`"),
    };
    let summary = match (kind, differs) {
        (PremiseKind::Build | PremiseKind::Provider, Differs::Changed { before, now })
            if before.len() < 40 && now.len() < 40 =>
        {
            format!("the plan was made with {what} {before}, and this is {now}")
        }
        (PremiseKind::Build | PremiseKind::Provider, _) => {
            format!("the plan was made with another build of {what}")
        }
        (PremiseKind::Variable, Differs::Changed { .. }) => {
            format!("{what} has another value than when the plan was made")
        }
        (_, Differs::Changed { .. }) => format!("{what} changed since the plan was made"),
        (_, Differs::Gone) => format!("{what} is gone since the plan was made"),
        (_, Differs::New) => format!("{what} is new since the plan was made"),
    };
    let hint = match kind {
        PremiseKind::Variable => "give it the value that it had, or plan again",
        PremiseKind::Profile => "use the profile that it was planned with, or plan again",
        _ => PLAN_AGAIN,
    };
    Diagnostic::error(summary).hint(hint)
}
