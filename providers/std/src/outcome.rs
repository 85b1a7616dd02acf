//! What a refused create, update or delete says about its effect.
//!
//! Only proof that nothing happened lets a create be repeated or given up. Everything else is an unknown outcome, which
//! the resource's recovery settles: it looks, repeats with the token, or stops and asks.

use std::collections::BTreeMap;

use trueup_provider::{Error, FieldType, Result};

/// The effect of a request or command that did not succeed.
#[derive(FieldType, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing happened, and repeating does not help.
    Failed,
    /// Nothing happened, and it is tried again later.
    Retry,
    /// It may have happened.
    Unknown,
}

/// The outcomes that a resource declares, by status or exit code.
pub(crate) type Outcomes = BTreeMap<String, Outcome>;

/// The outcome that a resource declares for a code.
pub(crate) fn declared(outcomes: Option<&Outcomes>, code: i32) -> Option<Outcome> {
    outcomes?.get(&code.to_string()).copied()
}

/// Refuses keys that are no status or exit code.
pub(crate) fn check_codes(outcomes: Option<&Outcomes>, codes: std::ops::RangeInclusive<u16>) -> Result<()> {
    let is_code = |key: &&String| {
        let code = key.parse::<u16>().ok().filter(|code| codes.contains(code));
        code.is_some_and(|code| code.to_string() == **key)
    };
    match outcomes.into_iter().flat_map(BTreeMap::keys).find(|key| !is_code(key)) {
        None => Ok(()),
        Some(key) => {
            let (first, last) = codes.into_inner();
            Err(Error::invalid(format!("`{key}` is not a number from {first} to {last}")).at("outcomes"))
        }
    }
}
