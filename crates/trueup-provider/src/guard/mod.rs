//! The guard around every provider: no secret that one is given leaves it in the clear.
//!
//! A [`Registry`](crate::Registry) hands out providers in a [`GuardedProvider`] alone, and that hands out handlers in
//! guards alone. Each call collects what it was given ([`Given`]): configuration, inputs, states, bindings. Its failures,
//! diagnostics, progress and warnings are scrubbed of every secret of the run. Its values are never altered: one that
//! repeats a secret of the call is marked as secret itself. A server may echo any of these, whoever wrote the provider, so
//! typed providers are guarded like all others.
//!
//! Answers of providers that are not typed Rust are checked against their own schema too. Panics in methods that answer at
//! once are marked as such ([`ProviderPanic`]).

mod data;
mod ephemeral;
mod given;
mod panics;
mod provider;
mod resource;
mod schema;
#[cfg(test)]
mod tests;

pub(crate) use given::Given;
pub use panics::ProviderPanic;
pub(crate) use provider::GuardedProvider;
use trueup_core::{KnownSecrets, Value};

/// What all guards of a provider share.
#[derive(Clone)]
struct Guard {
    /// Whether answers match their schema by construction.
    is_typed: bool,
    /// The secrets of the run.
    secrets: KnownSecrets,
}

impl Guard {
    /// What a call was given.
    fn given(&self, values: impl Into<GivenValues>) -> Given {
        let GivenValues(values) = values.into();
        Given::new(values, self.secrets.clone())
    }
}

/// The values of a request.
struct GivenValues(Vec<Value>);
