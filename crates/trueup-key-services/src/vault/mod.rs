//! The transit engine of Vault or OpenBao: one key, named by the settings as `KEY` or `MOUNT/KEY`.
//!
//! `settings` reads what Vault's own tools read: `VAULT_ADDR`, `VAULT_TOKEN` or `~/.vault-token`, `VAULT_NAMESPACE` and
//! `VAULT_CACERT`. `request` sends one request; `refusal` says what an answer other than success means. The token goes to
//! `VAULT_ADDR` alone: redirects are refused.

mod refusal;
mod request;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::{Value, json};
use trueup_provider::{BoxFuture, Clock};
use trueup_state::Scope;
use trueup_state::sealing::{KeyService, KeyServiceError, WrappedText};
use zeroize::Zeroizing;

use crate::retry::{CallFailure, with_retries};
use request::{Requests, Verb};
use settings::VaultSettings;

/// A key of the transit engine. The environment says where Vault is and who asks.
pub fn vault_key(
    key: &str,
    environment: &BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn KeyService>, String> {
    let settings = VaultSettings::read(key, environment)?;
    Ok(Arc::new(Transit { requests: Requests::new(settings), clock }))
}

struct Transit {
    requests: Requests,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Transit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transit").field(&self.location()).finish()
    }
}

impl Transit {
    fn settings(&self) -> &VaultSettings {
        self.requests.settings()
    }

    /// Vault makes a key that it is asked to encrypt by, if the token may. A mistyped name would then seal by a key that
    /// nobody backs up, so the key has to be there first. A token that may not look at the key goes on without.
    async fn check_key(&self) -> Result<(), CallFailure> {
        let answer = match self.requests.send(Verb::ReadKey, None).await {
            Ok(answer) => answer,
            Err(failure) if failure.is_denied => return Ok(()),
            Err(failure) => return Err(failure.into()),
        };
        let is = |name: &str| answer["data"][name].as_bool();
        let why = match (is("derived"), is("supports_encryption")) {
            (Some(true), _) => "is derived, which needs a context with each call",
            (_, Some(false)) => "is of a type that does not encrypt",
            _ => return Ok(()),
        };
        let told = format!("the key `{}` {why}: create one of type aes256-gcm96", self.settings().key);
        Err(KeyServiceError::Unusable(told).into())
    }

    async fn encrypt(&self, plaintext: &[u8]) -> Result<WrappedText, CallFailure> {
        self.check_key().await?;
        let encoded = Zeroizing::new(BASE64.encode(plaintext));
        let answer = self.requests.send(Verb::Encrypt, Some(json!({ "plaintext": *encoded }))).await?;
        let text = field(&answer, "ciphertext")?.to_owned();
        Ok(WrappedText { text, by: self.settings().key_path() })
    }

    async fn decrypt(&self, wrapped: &str) -> Result<Zeroizing<Vec<u8>>, CallFailure> {
        let answer = self.requests.send(Verb::Decrypt, Some(json!({ "ciphertext": wrapped }))).await?;
        let opened = BASE64.decode(field(&answer, "plaintext")?);
        opened.map(Zeroizing::new).map_err(|_| unintelligible().into())
    }
}

impl KeyService for Transit {
    fn location(&self) -> String {
        format!("{} at {}", self.settings().key_path(), self.settings().address())
    }

    fn wrap<'a>(
        &'a self,
        plaintext: &'a [u8],
        _: &'a Scope,
    ) -> BoxFuture<'a, Result<WrappedText, KeyServiceError>> {
        Box::pin(with_retries(&*self.clock, move || self.encrypt(plaintext)))
    }

    fn unwrap<'a>(
        &'a self,
        wrapped: &'a str,
        _: &'a Scope,
    ) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, KeyServiceError>> {
        Box::pin(with_retries(&*self.clock, move || self.decrypt(wrapped)))
    }
}

fn field<'a>(answer: &'a Value, name: &str) -> Result<&'a str, CallFailure> {
    answer["data"][name].as_str().ok_or_else(|| unintelligible().into())
}

fn unintelligible() -> KeyServiceError {
    KeyServiceError::Unavailable("the answer is not one of Vault's: check VAULT_ADDR".to_owned())
}
