//! Sealing: no store ever sees a secret in the clear (SECRET-3).
//!
//! [`SealedStore`] stands around any store. On the way in it seals each secret value and all private bytes (`cipher`),
//! bound to the `place` where they stand, and on the way out it opens them; `work` finds them. Data keys are the
//! scope's own. They lie beside the records in a keyring ([`Keyring`]), wrapped by a key that the store does not have:
//! [`KeySources`] knows where that one is. [`rekey`] changes keys, [`forget`] gives up what no key opens any more.
//! [`Envelope`] seals anything else for which the same keys serve.
//!
//! What is not secret is stored as it is: a lost key loses secrets and nothing else (SECRET-4). Nothing here asks
//! people or reads the environment; keys and the places to look for them are handed in.

mod cipher;
mod envelope;
mod error;
mod keyring;
mod place;
mod rekeying;
mod source;
mod store;
mod work;

pub use envelope::{Envelope, EnvelopeError};
pub use error::KeyError;
pub use keyring::{Keyring, Keys};
pub use rekeying::{Forgotten, Rekeyed, forget, rekey};
pub use source::{
    KeyKind, KeyService, KeyServiceError, KeyServices, KeySources, NewKeyFile, ServiceKey, Variables,
    WrappedText,
};
pub use store::SealedStore;
pub(crate) use work::is_resealed;
pub use work::{Unopened, is_sealed_throughout, opened, outline};
