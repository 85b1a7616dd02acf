//! What a handler answers.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{Change, Diagnostics, Failure, FailureClass, Path, Value};

use crate::identity::Ownership;
use crate::state::{InputValues, State};

/// What to do with a resource, weakest first. *May* means: decided at apply, on real values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing.
    NoOp,
    /// Perhaps bring it up to date in place.
    MayUpdate,
    /// Bring it up to date in place.
    Update,
    /// Perhaps make a new one in its stead.
    MayReplace,
    /// Make a new one in its stead.
    Replace,
    /// Make it.
    Create,
}

/// What planning came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanAnswer {
    /// What to do.
    pub verdict: Verdict,
    /// The outputs to expect, unknown where apply will tell.
    pub outputs: Value,
    /// Where the inputs changed in a way that matters.
    pub changes: Vec<Change>,
    /// Where the object drifted from its record.
    pub drift: Vec<Change>,
    /// The changed inputs that force a replacement, or may.
    pub replace_paths: Vec<Path>,
    /// Whether a replacement must delete the old object first.
    pub delete_first: bool,
    /// What the provider wants handed to apply.
    pub private: PrivateBytes,
    /// What to tell the user.
    pub diagnostics: Diagnostics,
}

/// What only the provider understands; it may be secret, so it is not shown.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct PrivateBytes(pub Vec<u8>);

impl fmt::Debug for PrivateBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// How an object was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Observed {
    /// It is gone.
    Absent,
    /// It is there.
    Present(Box<State>),
    /// The type cannot read: there is nothing to compare (DRIFT-4).
    Unreadable,
}

/// An object that a lookup found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sighting {
    /// The object. Its inputs are those observed, if the type can tell them.
    pub state: State,
    /// Whose it is.
    pub ownership: Ownership,
}

/// A failed apply, with what is known of a half-made object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApplyFailure {
    /// What went wrong.
    pub failure: Failure,
    /// The object as far as it was made.
    pub partial: Option<Box<State>>,
}

impl From<Failure> for ApplyFailure {
    fn from(failure: Failure) -> Self {
        ApplyFailure { failure, partial: None }
    }
}

/// An object found by its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// Its type, which may differ from the one that was asked.
    pub type_name: SmolStr,
    /// The object.
    pub state: State,
}

/// Whether a stub can be made of some inputs (BIND-4).
#[derive(Clone, Debug)]
pub enum StubInputs {
    /// The type makes no stub of them.
    Impossible,
    /// It can once these are known too.
    Lacking(Vec<SmolStr>),
    /// The inputs of the stub, wholly known: those desired, with values of the type's own where a stub can do without.
    Sufficient(InputValues),
}

impl StubInputs {
    /// The inputs of the stub, or why there are none.
    pub fn into_result(self) -> Result<InputValues, Failure> {
        let invalid = |message: String| Err(Failure::new(FailureClass::Invalid, message));
        match self {
            StubInputs::Sufficient(inputs) => Ok(inputs),
            StubInputs::Impossible => invalid("no stub can be made of it".to_owned()),
            StubInputs::Lacking(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                invalid(format!("no stub can be made before its {} is known", names.join(" and ")))
            }
        }
    }
}
