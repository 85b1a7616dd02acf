//! Key services that wrap the data keys of state, each behind its feature: `kms` (AWS KMS) and `vault` (the transit
//! engine of Vault and OpenBao).
//!
//! Each client implements [`trueup_state::sealing::KeyService`] for one key, which the user's settings name. `retry`
//! repeats calls that a service turned away for the moment. Errors hold neither key material nor credentials, whatever
//! the service answers. Nothing here decides when a key is used: that is `trueup-state`'s.

#[cfg(feature = "kms")]
mod kms;
#[cfg(any(feature = "kms", feature = "vault"))]
mod retry;
#[cfg(feature = "vault")]
mod vault;

#[cfg(feature = "kms")]
pub use kms::kms_key;
#[cfg(feature = "vault")]
pub use vault::vault_key;
