//! The guard around every provider: no text leaves one with a secret that it was given.
//!
//! A [`Registry`](crate::Registry) hands out providers in a [`GuardedProvider`] alone, and that hands out handlers in
//! guards alone. Each call collects what it was given ([`Given`]): configuration, inputs, states, bindings. Failures,
//! diagnostics, progress and warnings of the call pass through it. A server may echo any of these in an error, whoever
//! wrote the provider, so typed providers are guarded like all others.
//!
//! Answers of providers that are not typed Rust are checked against their own schema too.
//!
//! The guard marks no outputs as secret: only the type knows what its outputs mean.

mod data;
mod ephemeral;
mod given;
mod known_secrets;
mod provider;
mod resource;
mod schema;
#[cfg(test)]
mod tests;

pub(crate) use given::Given;
pub use known_secrets::KnownSecrets;
pub(crate) use provider::GuardedProvider;

/// What all guards of a provider share.
#[derive(Clone)]
struct Guard {
    /// Whether answers match their schema by construction.
    is_typed: bool,
    /// Where the provider wants to learn of secrets, for what it prints outside of any call.
    known_secrets: Option<KnownSecrets>,
}

impl Guard {
    /// What a call was given.
    fn given(&self, request: impl Into<Given>) -> Given {
        let given = request.into();
        if let Some(known) = &self.known_secrets {
            known.learn(given.values());
        }
        given
    }
}
