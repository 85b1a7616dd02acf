//! AWS KMS: one key, named by the settings, in the region and with the credentials that AWS's own tools would use.
//!
//! Stack and stage are the encryption context. KMS authenticates it, shows it in CloudTrail, and policies can ask for it
//! (`kms:EncryptionContext:trueup:stage`).

use std::fmt;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use trueup_core::FailureClass;
use trueup_provider::{BoxFuture, Clock};
use trueup_provider_aws::{EncryptionContext, KmsError, KmsKey};
use trueup_state::Scope;
use trueup_state::sealing::{KeyService, KeyServiceError, WrappedText};
use zeroize::Zeroizing;

use crate::retry::{CallFailure, Retry, presentable, with_retries};

/// A key of AWS KMS by its id, ARN or alias (`alias/NAME`).
pub fn kms_key(key: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn KeyService>, String> {
    let is_sound = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_sound {
        return Err(format!("`{key}` is not the id, ARN or alias of a key"));
    }
    Ok(Arc::new(Kms { name: key.to_owned(), key: KmsKey::new(key), clock }))
}

struct Kms {
    name: String,
    key: KmsKey,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for Kms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kms").field("name", &self.name).finish_non_exhaustive()
    }
}

impl KeyService for Kms {
    fn location(&self) -> String {
        format!("AWS KMS {}", self.name)
    }

    fn wrap<'a>(
        &'a self,
        plaintext: &'a [u8],
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<WrappedText, KeyServiceError>> {
        Box::pin(async move {
            // An error could repeat what was sent.
            let hidden = Zeroizing::new(BASE64.encode(plaintext));
            let call = || async {
                let wrapped = self.key.encrypt(plaintext, &context(scope)).await;
                let wrapped = wrapped.map_err(|error| failure(error, &[&hidden]))?;
                Ok(WrappedText { text: wrapped.text, by: wrapped.key_arn })
            };
            with_retries(&*self.clock, call).await
        })
    }

    fn unwrap<'a>(
        &'a self,
        wrapped: &'a str,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<Zeroizing<Vec<u8>>, KeyServiceError>> {
        Box::pin(with_retries(&*self.clock, move || async move {
            let opened = self.key.decrypt(wrapped, &context(scope)).await;
            opened.map(Zeroizing::new).map_err(|error| failure(error, &[]))
        }))
    }
}

fn context(scope: &Scope) -> Box<EncryptionContext<'_>> {
    Box::new([("trueup:stack", scope.stack.as_str()), ("trueup:stage", scope.stage.as_str())])
}

fn failure(error: KmsError, hidden: &[&str]) -> CallFailure {
    let KmsError { failure, is_final } = error;
    let told: Vec<String> = [failure.message].into_iter().chain(failure.hints).collect();
    let told = presentable(&told.join("; "), hidden);
    let error = if is_final { KeyServiceError::Unusable(told) } else { KeyServiceError::Unavailable(told) };
    let retry = match failure.class {
        FailureClass::Retryable => Retry::After(None),
        FailureClass::Throttled { delay } => Retry::After(delay),
        _ => Retry::Never,
    };
    CallFailure { error, retry }
}
