//! Envelopes: anything else that is sealed by the same keys as secrets in state, such as a saved plan.
//!
//! An envelope has a key of its own, wrapped like that of a keyring, so that it opens wherever the state's secrets do.

use zeroize::Zeroizing;

use super::error::KeyError;
use super::keyring::{Keyring, Keys};
use super::source::KeySources;
use crate::store::Scope;

/// Every envelope begins with this, and the version of its form.
const BEGINNING: &[u8] = b"trueup envelope ";
const FORM: &[u8] = b"1\n";

/// Seals and opens payloads of one stack and stage, for one purpose. Both are authenticated: what was sealed for
/// another purpose, stack or stage does not open.
#[derive(Clone, Copy, Debug)]
pub struct Envelope<'a> {
    /// The stack and stage.
    pub scope: &'a Scope,
    /// What the payload is, such as `plan`.
    pub purpose: &'a str,
}

/// Why an envelope does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// It is something else.
    #[error("it is not sealed by trueup")]
    Foreign,
    /// A newer program made it.
    #[error("it was sealed by a newer trueup")]
    Newer,
    /// Its key cannot be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// It is not what was sealed, or not for this.
    #[error("it was changed, or sealed for another purpose, stack or stage")]
    Changed,
}

impl Envelope<'_> {
    /// Seals a payload by the chosen kind of key.
    pub async fn seal(&self, payload: &[u8], sources: &KeySources) -> Result<Vec<u8>, KeyError> {
        let keys = Keys::random();
        let keyring = Keyring::of(&keys, &sources.choose().await?, self.scope).await?.to_text();
        let sealed = keys.active().seal(&self.place(&keyring), payload);
        Ok([BEGINNING, FORM, keyring.as_bytes(), b"\n", &sealed].concat())
    }

    /// Opens what [`Envelope::seal`] made.
    pub async fn open(
        &self,
        sealed: &[u8],
        sources: &KeySources,
    ) -> Result<Zeroizing<Vec<u8>>, EnvelopeError> {
        let rest = sealed.strip_prefix(BEGINNING).ok_or(EnvelopeError::Foreign)?;
        let rest = rest.strip_prefix(FORM).ok_or(EnvelopeError::Newer)?;
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or(EnvelopeError::Changed)?;
        let (keyring, sealed) = (&rest[..end], &rest[end + 1..]);
        let keyring = std::str::from_utf8(keyring).map_err(|_| EnvelopeError::Changed)?;
        let keys = Keyring::parse(keyring)?.unlock(sources, self.scope).await?;
        keys.and_then(|keys| keys.active().open(&self.place(keyring), sealed)).ok_or(EnvelopeError::Changed)
    }

    fn place(&self, keyring: &str) -> Vec<u8> {
        let Scope { stack, stage } = self.scope;
        super::place::parts_to_bytes(&["trueup envelope v1", stack, stage, self.purpose, keyring])
    }
}
