//! What commands and requests are for, and how they say that a create can be resolved.

use std::fmt;
use std::time::Duration;

use trueup_provider::{Error, FieldType, Result};

/// How long objects may stay invisible whose resource does not say: many APIs read from replicas that lag by seconds.
pub(crate) const CONSISTENCY_WINDOW: Duration = Duration::from_secs(10);

/// What a command is run or a request is sent for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Create,
    Precreate,
    Read,
    Update,
    Delete,
    Lookup,
}

impl Purpose {
    /// The attribute that holds the command or request.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Purpose::Create => "create",
            Purpose::Precreate => "precreate",
            Purpose::Read => "read",
            Purpose::Update => "update",
            Purpose::Delete => "delete",
            Purpose::Lookup => "lookup",
        }
    }

    /// Whether it makes an object.
    pub(crate) fn makes(self) -> bool {
        matches!(self, Purpose::Create | Purpose::Precreate)
    }

    /// Whether it changes anything.
    pub(crate) fn changes(self) -> bool {
        match self {
            Purpose::Create | Purpose::Precreate | Purpose::Update | Purpose::Delete => true,
            Purpose::Read | Purpose::Lookup => false,
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name())
    }
}

/// How a create is resolved of which nobody knows whether it went through.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recover {
    /// By looking for the object.
    Lookup,
    /// By creating it again with the same token.
    Token,
    /// By asking a person.
    Blind,
}

/// Refuses what only an update can bring about in a resource that has none: the end of a stub, and changes of what is bound
/// to it.
pub(crate) fn check_updates(stubbed: bool, bindings_changed: bool) -> Result<()> {
    if stubbed {
        return Err(Error::invalid("a stub is finished by `update`, and there is none").at("precreate"));
    }
    if bindings_changed {
        let message = "what is bound to it changes by `update`, and there is none";
        return Err(Error::invalid(message).at("update"));
    }
    Ok(())
}
