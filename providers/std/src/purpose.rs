//! What commands and requests are for, and how they say that a create can be resolved.

use std::fmt;
use std::time::Duration;

use trueup_provider::{Error, FieldType, PlanHook, Result};

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

/// How a create whose outcome is unknown is resolved.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recover {
    /// By looking for the object.
    Lookup,
    /// By creating it again with the same token.
    Token,
    /// By asking a person.
    Blind,
}

/// Plans for an object whose inputs nobody knows, because it was found or a create left it half made, in a resource without
/// `update`: nothing can finish it, so it is replaced. A deletion that is not declared would leave it beside the new one.
pub(crate) fn replace_unfinished(is_deletable: bool, plan: &mut PlanHook) -> Result<()> {
    if !is_deletable {
        return Err(unfinishable());
    }
    plan.replace("update");
    // What is half made may hold what the new object needs, such as its name.
    plan.delete_first();
    Ok(())
}

/// The error of a reconcile that meets such an object.
pub(crate) fn unfinished(is_deletable: bool) -> Error {
    match is_deletable {
        true => Error::conflict("its object may be half made, and it has no `update` to finish it")
            .hint("run again: the object will be replaced"),
        false => unfinishable(),
    }
}

fn unfinishable() -> Error {
    let message =
        "its object may be half made, and it has neither `update` to finish it nor `delete` to replace it";
    Error::conflict(message).hint(
        "declare `update`; one that does nothing accepts the object as it is. A `delete` that is declared now counts for \
         later objects only. Or delete the object by hand, and if it is recorded, `trueup state rm ADDRESS`",
    )
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
