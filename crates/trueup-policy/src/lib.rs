//! Policies: what a plan must not do.
//!
//! A policy is an expression in CEL that is true of what it objects to, read from a TOML file ([`Policies::read`]). One
//! that speaks of `resource` is asked of each resource of a plan, any other once of the `plan` as a whole
//! ([`Policies::judge`]). It denies, or warns. It sees secrets as they are, but what is told of its judgement never quotes
//! one. What depends on values that a plan does not know yet is undecided, and judged again at apply ([`PolicyAdmission`]).
//!
//! An expression that cannot be evaluated denies, whatever its effect: a policy that does not work protects nothing.

mod admission;
pub mod cel;
mod file;
mod judge;
mod view;

use std::path::PathBuf;

pub use admission::PolicyAdmission;
pub use file::PolicyError;
pub use judge::{Judgement, Undecided};

/// The policies that plans are held against.
#[derive(Default)]
pub struct Policies {
    policies: Vec<Policy>,
}

/// One policy.
struct Policy {
    name: String,
    effect: Effect,
    message: String,
    program: cel::Program,
    /// Whether it is asked of each resource, rather than of the plan.
    of_resources: bool,
    file: PathBuf,
}

/// What a policy does about what it objects to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    /// The plan must not be carried out.
    #[default]
    Deny,
    /// The user is told.
    Warn,
}

impl Policies {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.policies.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.policies.len()
    }
}
