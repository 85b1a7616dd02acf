//! Where a secret stands. It is authenticated with the secret, so that none can be put in another's place.
//!
//! A place names stack, stage, record and field, and not the address or the generation: a secret may move with its
//! resource, and from the attempt that sets it to the object that has it.

use std::fmt;

use trueup_core::Path;

use crate::record::RecordId;
use crate::store::Scope;

/// Where a secret stands.
pub(super) struct Place<'a> {
    pub(super) scope: &'a Scope,
    pub(super) subject: Subject,
    pub(super) part: Part,
    pub(super) path: Path,
}

/// What a secret belongs to.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    Record(RecordId),
    /// The stack as a whole.
    Stack,
}

/// What part of it.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Inputs,
    Outputs,
    Identity,
    Bindings,
    Pending,
    Private,
    Configuration,
    Sources,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Inputs => "inputs",
            Part::Outputs => "outputs",
            Part::Identity => "identity",
            Part::Bindings => "bindings",
            Part::Pending => "pending",
            Part::Private => "private",
            Part::Configuration => "configuration",
            Part::Sources => "secret_sources",
        }
    }
}

impl Place<'_> {
    /// The place as the bytes that are authenticated: each part with its length, so that no two run together.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let subject = match self.subject {
            Subject::Record(id) => id.to_string(),
            Subject::Stack => "stack".to_owned(),
        };
        let path = self.path.to_string();
        parts_to_bytes(&[
            "trueup secret v1",
            &self.scope.stack,
            &self.scope.stage,
            &subject,
            self.part.name(),
            &path,
        ])
    }

    /// The field, for people.
    pub(super) fn field(&self) -> String {
        match (self.path.is_root(), self.path.to_string()) {
            (true, _) => self.part.name().to_owned(),
            (false, path) if path.starts_with('[') => format!("{}{path}", self.part.name()),
            (false, path) => format!("{}.{path}", self.part.name()),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Record(id) => write!(f, "the record {id}"),
            Subject::Stack => f.write_str("the stack"),
        }
    }
}

/// Texts one after the other, each with its length.
pub(super) fn parts_to_bytes(parts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(parts.iter().map(|part| part.len() + 8).sum());
    for part in parts {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part.as_bytes());
    }
    bytes
}
