//! What a program followed from, each by a digest: texts, values of variables, files that were read, versions
//! (PLANFILE-2).

use serde::{Deserialize, Serialize};

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
