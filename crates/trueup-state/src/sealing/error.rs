//! Why a key could not be had.

use crate::cause::Cause;
use crate::store::{Scope, StoreError};

/// Why a key could not be had, and where it was looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is not there.
    #[error("there is no key in {looked}")]
    Missing {
        /// Where it was looked for.
        looked: String,
    },
    /// It is not there, and none is made.
    #[error(
        "there is no key in {looked}, and none is made unasked for shared state: name one with TRUEUP_KEY_FILE, or make one with `trueup key new`"
    )]
    Unmade {
        /// Where it was looked for.
        looked: String,
    },
    /// There is one, and it is not the one.
    #[error("the key in {looked} is {found}, and the secrets are sealed by {wanted}")]
    Other {
        /// Where it was looked for.
        looked: String,
        /// What tells the key that is there.
        found: String,
        /// What tells the key that is wanted.
        wanted: String,
    },
    /// What is there cannot be used.
    #[error("the key in {looked} cannot be used: {why}")]
    Unusable {
        /// Where it was looked for.
        looked: String,
        /// What is wrong with it.
        #[source]
        why: Cause,
    },
    /// It is there and cannot be had now: a key service does not answer, or does not let us use it. Nothing is lost.
    #[error("the key in {looked} is out of reach: {why}")]
    Unavailable {
        /// Where it was looked for.
        looked: String,
        /// What is in the way.
        #[source]
        why: Cause,
    },
    /// The keyring does not say what it should.
    #[error("the keyring is damaged: {why}")]
    Keyring {
        /// What is wrong with it.
        #[source]
        why: Cause,
    },
    /// The keyring was written by a newer program.
    #[error("the keyring has format {found}, this program knows up to {known}: use a newer trueup")]
    Format {
        /// The version found.
        found: u64,
        /// The newest version known.
        known: u64,
    },
}

/// What a store says when the keys of a scope cannot be had.
pub(super) fn no_key(scope: &Scope, error: KeyError) -> StoreError {
    StoreError::Key { stack: scope.stack.to_string(), stage: scope.stage.to_string(), error }
}
