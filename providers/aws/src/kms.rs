//! One key of KMS, which encrypts and decrypts a few bytes: for data keys, not for resources.
//!
//! Region and credentials come from the same sources as the provider's, when the first request is made. A key named by
//! its ARN is asked for in the ARN's region. Both calls leave nothing behind at AWS, so they can be repeated.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;
use trueup_core::{Failure, FailureClass};
use trueup_provider::Error;

use crate::client::{CallError, Client, Connection, JsonClient, JsonDialect, Service};
use crate::failure::cannot;
use crate::settings::Settings;

/// The time KMS may take to answer a request.
const TIMEOUT: Duration = Duration::from_secs(15);

/// A key of KMS.
pub struct KmsKey {
    key: String,
    client: OnceCell<RegionalClient>,
}

struct RegionalClient {
    kms: JsonClient,
    region: String,
}

/// Bytes as KMS encrypted them.
pub struct KmsCiphertext {
    /// The ciphertext in Base64.
    pub text: String,
    /// The ARN of the key that encrypted it.
    pub key_arn: String,
}

/// A call that did not succeed.
#[derive(Debug)]
pub struct KmsError {
    /// What went wrong, and what to do. Its class says whether the call is worth repeating.
    pub failure: Failure,
    /// The key does not exist, or did not encrypt this in this context: no credentials or later attempts help.
    pub is_final: bool,
}

/// Codes that are final.
const FINAL_CODES: [&str; 4] =
    ["IncorrectKeyException", "InvalidCiphertextException", "InvalidKeyUsageException", "NotFoundException"];

/// Pairs that KMS authenticates, and shows in its log.
pub type EncryptionContext<'a> = [(&'a str, &'a str)];

impl KmsKey {
    /// A key by its id, its ARN, its alias (`alias/NAME`) or the alias's ARN.
    pub fn new(key: &str) -> Self {
        KmsKey { key: key.to_owned(), client: OnceCell::new() }
    }

    /// Encrypts up to 4 KiB.
    pub async fn encrypt(
        &self,
        plaintext: &[u8],
        context: &EncryptionContext<'_>,
    ) -> Result<KmsCiphertext, KmsError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Answer {
            ciphertext_blob: String,
            key_id: String,
        }
        let input = json!({
            "KeyId": self.key, "Plaintext": BASE64.encode(plaintext), "EncryptionContext": document(context),
        });
        let Answer { ciphertext_blob, key_id } = self.call("Encrypt", "wrap a data key", input).await?;
        Ok(KmsCiphertext { text: ciphertext_blob, key_arn: key_id })
    }

    /// Decrypts what this key encrypted in the same context. KMS refuses the ciphertext of another key.
    pub async fn decrypt(
        &self,
        ciphertext: &str,
        context: &EncryptionContext<'_>,
    ) -> Result<Vec<u8>, KmsError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Answer {
            plaintext: String,
        }
        let input = json!({
            "KeyId": self.key, "CiphertextBlob": ciphertext, "EncryptionContext": document(context),
        });
        let Answer { plaintext } = self.call("Decrypt", "unwrap a data key", input).await?;
        let broken = |_| Error::fatal("cannot unwrap a data key: KMS answers without Base64").into();
        BASE64.decode(plaintext).map_err(broken)
    }

    async fn call<A: serde::de::DeserializeOwned>(
        &self,
        operation: &str,
        doing: &str,
        input: Value,
    ) -> Result<A, KmsError> {
        let RegionalClient { kms, region } = self.client.get_or_try_init(|| self.connected()).await?;
        let called = kms.call(operation, input).await;
        called.map_err(|error| failed(&format!("{doing} in region {region}"), error))
    }

    async fn connected(&self) -> Result<RegionalClient, KmsError> {
        let settings = Settings::from_environment(region_of_arn(&self.key));
        let config = settings.load(TIMEOUT).await?;
        let region = config.region().map(ToString::to_string).filter(|region| !region.is_empty());
        let Some(region) = region else {
            let told = "no region is configured: set AWS_REGION, or the region of the profile, or name the key by its ARN";
            return Err(Error::invalid(told).into());
        };
        let connection = Connection::new(&config, TIMEOUT);
        let kms = JsonClient::new(Client::new(&connection, &config, Service::Kms), JsonDialect::KMS);
        Ok(RegionalClient { kms, region })
    }
}

fn document(context: &EncryptionContext<'_>) -> Value {
    let pairs = context.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value)));
    Value::Object(pairs.collect::<Map<_, _>>())
}

/// The region in an ARN, such as `arn:aws:kms:eu-central-1:123456789012:alias/trueup`.
fn region_of_arn(key: &str) -> Option<String> {
    let rest = key.strip_prefix("arn:")?;
    rest.split(':').nth(2).filter(|region| !region.is_empty()).map(str::to_owned)
}

impl From<Error> for KmsError {
    fn from(error: Error) -> Self {
        KmsError { failure: error.into_parts().0, is_final: false }
    }
}

fn failed(doing: &str, error: CallError) -> KmsError {
    let is_final =
        matches!(&error, CallError::Answered(answer) if FINAL_CODES.contains(&answer.code.as_str()));
    let (mut failure, _) = cannot(doing)(error).into_parts();
    // The provider's hints are about resources.
    failure.hints = hint(&failure.class).into_iter().map(str::to_owned).collect();
    KmsError { failure, is_final }
}

fn hint(class: &FailureClass) -> Option<&'static str> {
    match class {
        FailureClass::Denied => Some(
            "the credentials need kms:Encrypt and kms:Decrypt on the key; `aws sts get-caller-identity` shows whose \
             they are, and AWS_REGION must be the key's region",
        ),
        FailureClass::NotFound => Some("check the key's name, AWS_REGION and the account of the credentials"),
        FailureClass::Conflict => Some("enable the key, or cancel its deletion"),
        FailureClass::Retryable => Some("check the network, and AWS_ENDPOINT_URL if it is set"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_names_its_region() {
        for (key, region) in [
            ("arn:aws:kms:eu-central-1:123456789012:alias/trueup", Some("eu-central-1")),
            ("arn:aws-cn:kms:cn-north-1:123456789012:key/1234", Some("cn-north-1")),
            ("arn:aws:kms::x", None),
            ("alias/trueup", None),
            ("1234abcd-12ab-34cd-56ef-1234567890ab", None),
        ] {
            assert_eq!(region_of_arn(key).as_deref(), region, "{key}");
        }
    }
}
