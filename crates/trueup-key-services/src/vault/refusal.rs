//! What Vault's answers other than success mean, and what to do about them.

use std::time::Duration;

use serde_json::Value;
use trueup_state::sealing::KeyServiceError;

use super::request::Verb;
use super::settings::VaultSettings;
use crate::retry::{CallFailure, Retry, presentable};

/// A request that was not carried out.
pub(super) struct Refusal {
    failure: CallFailure,
    /// The token may not do this.
    pub(super) is_denied: bool,
}

impl From<KeyServiceError> for Refusal {
    fn from(error: KeyServiceError) -> Self {
        Refusal { failure: error.into(), is_denied: false }
    }
}

impl From<Refusal> for CallFailure {
    fn from(refusal: Refusal) -> Self {
        refusal.failure
    }
}

impl Refusal {
    /// A call that is worth another attempt waits as long as the server asks.
    pub(super) fn with_retry_after(mut self, asked: Option<Duration>) -> Self {
        if let Retry::After(pause) = &mut self.failure.retry {
            *pause = asked;
        }
        self
    }

    /// The token is for one server alone.
    pub(super) fn with_redirect(self, target: Option<&str>) -> Self {
        let Some(target) = target else { return self };
        let told = format!(
            "it redirects to {target}, which does not get the token: set VAULT_ADDR to the active node"
        );
        KeyServiceError::Unavailable(told).into()
    }
}

/// What an answer means. These texts are not repeated, whatever it says.
pub(super) fn refusal(
    settings: &VaultSettings,
    verb: Verb,
    status: u16,
    answer: &Value,
    hidden: &[&str],
) -> Refusal {
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let said: Vec<String> =
        errors.iter().filter_map(Value::as_str).map(|text| presentable(text, hidden)).collect();
    let said = said.join("; ");
    let key_path = settings.key_path();
    let (mount, key) = (settings.mount.join("/"), &settings.key);
    let unavailable = |told: String| Refusal::from(KeyServiceError::Unavailable(told));
    let unusable = |told: String| Refusal::from(KeyServiceError::Unusable(told));
    match status {
        503 if said.contains("sealed") => {
            unavailable("Vault is sealed: unseal it, then run again".to_owned())
        }
        429 | 500..=599 => {
            let error = KeyServiceError::Unavailable(format!("Vault answers with status {status}: {said}"));
            Refusal { failure: CallFailure { error, retry: Retry::After(None) }, is_denied: false }
        }
        401 | 403 => {
            let told = format!(
                "{said}: the token has expired, or its policy lacks `update` on {mount}/{}/{key}",
                verb.segment()
            );
            Refusal { is_denied: true, ..unavailable(told) }
        }
        404 if verb == Verb::ReadKey && said.is_empty() => unusable(missing(&key_path, &mount, key)),
        404 => unavailable(format!(
            "there is no transit engine at `{mount}`: check the key's mount, VAULT_NAMESPACE and VAULT_ADDR ({said})"
        )),
        400 if said.contains("key not found") => unusable(missing(&key_path, &mount, key)),
        400 if said.contains("disallowed by policy") => unavailable(format!(
            "{said}: lower min_decryption_version of {key_path} until `trueup state rekey` has run"
        )),
        400 => unusable(said),
        _ => unavailable(format!("Vault answers with status {status}: {said}")),
    }
}

fn missing(key_path: &str, mount: &str, key: &str) -> String {
    format!("there is no key {key_path}: `vault write -f {mount}/keys/{key}` creates one")
}
