//! One request to the transit engine, bounded in time and size, and its answer as JSON.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use reqwest::{Certificate, Client, ClientBuilder, Method, Response, Url, redirect};
use serde_json::Value;
use trueup_files::Accept;
use trueup_state::sealing::KeyServiceError;

use super::refusal::{Refusal, refusal};
use super::settings::VaultSettings;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time Vault may take to answer a request.
const TIMEOUT: Duration = Duration::from_secs(15);

/// The largest answer. Vault's have a few hundred bytes.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// More than the roots that any machine trusts.
const CERTIFICATES_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The operations on a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verb {
    ReadKey,
    Encrypt,
    Decrypt,
}

impl Verb {
    fn method(self) -> Method {
        match self {
            Verb::ReadKey => Method::GET,
            Verb::Encrypt | Verb::Decrypt => Method::POST,
        }
    }

    /// The segment of the path between mount and key.
    pub(super) fn segment(self) -> &'static str {
        match self {
            Verb::ReadKey => "keys",
            Verb::Encrypt => "encrypt",
            Verb::Decrypt => "decrypt",
        }
    }
}

/// Sends requests for one key.
pub(super) struct Requests {
    settings: VaultSettings,
    /// Made when it is first needed: that takes the certificates of the machine.
    client: OnceLock<Result<Client, KeyServiceError>>,
}

impl Requests {
    pub(super) fn new(settings: VaultSettings) -> Self {
        Requests { settings, client: OnceLock::new() }
    }

    pub(super) fn settings(&self) -> &VaultSettings {
        &self.settings
    }

    /// Sends a request, once.
    pub(super) async fn send(&self, verb: Verb, body: Option<Value>) -> Result<Value, Refusal> {
        let client = self.client.get_or_init(|| client(&self.settings)).as_ref().map_err(Clone::clone)?;
        let token = self.settings.token()?;
        let mut request = client.request(verb.method(), self.url(verb)).header("x-vault-request", "true");
        let namespace = self.settings.namespace.as_deref().map(|it| ("x-vault-namespace", it));
        for (name, text) in [("x-vault-token", token.expose().as_str())].into_iter().chain(namespace) {
            // The error's own words could quote it.
            let broken =
                || KeyServiceError::Unavailable(format!("the value for {name} is not one for a header"));
            let mut value = HeaderValue::from_str(text).map_err(|_| broken())?;
            value.set_sensitive(true);
            request = request.header(HeaderName::from_static(name), value);
        }
        let sent: String = body.as_ref().map(Value::to_string).unwrap_or_default();
        if body.is_some() {
            request = request.header("content-type", "application/json").body(sent);
        }
        let response = request.send().await.map_err(|error| self.lost(&error))?;
        let (status, retry_after, redirected) =
            (response.status().as_u16(), retry_after(&response), location(&response));
        let answer = self.read(response).await?;
        if status == 200 {
            return serde_json::from_slice(&answer).map_err(|_| {
                KeyServiceError::Unavailable("the answer is not JSON: check VAULT_ADDR".to_owned()).into()
            });
        }
        let texts: Vec<&str> = body.iter().flat_map(strings).chain([token.expose().as_str()]).collect();
        let errors: Value = serde_json::from_slice(&answer).unwrap_or_default();
        Err(refusal(&self.settings, verb, status, &errors, &texts)
            .with_retry_after(retry_after)
            .with_redirect(redirected.as_deref()))
    }

    async fn read(&self, mut response: Response) -> Result<Vec<u8>, KeyServiceError> {
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(&error))? {
            answer.extend_from_slice(&chunk);
            if answer.len() > ANSWER_BYTES_MAX {
                return Err(KeyServiceError::Unavailable("the answer is too long".to_owned()));
            }
        }
        Ok(answer)
    }

    fn url(&self, verb: Verb) -> Url {
        let VaultSettings { address, mount, key, .. } = &self.settings;
        let mut url = address.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("v1").extend(mount).push(verb.segment()).push(key);
        }
        url
    }

    /// The innermost cause says most; the outer ones only say that sending failed.
    fn lost(&self, error: &reqwest::Error) -> KeyServiceError {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let address = self.settings.address();
        let told = match error.is_timeout() {
            true => format!("no answer from {address} in time"),
            false => format!(
                "no answer from {address}: {cause}; check VAULT_ADDR, and VAULT_CACERT for a private CA"
            ),
        };
        KeyServiceError::Unavailable(told)
    }
}

fn client(settings: &VaultSettings) -> Result<Client, KeyServiceError> {
    let failed = |why: String| KeyServiceError::Unavailable(why);
    let prepared = || -> ClientBuilder {
        let agent = concat!("trueup/", env!("CARGO_PKG_VERSION"));
        let client = Client::builder().user_agent(agent).redirect(redirect::Policy::none());
        settings.proxies.apply(client.connect_timeout(CONNECT_TIMEOUT).timeout(TIMEOUT))
    };
    let built = match &settings.ca_file {
        Some(file) => {
            let pem = trueup_files::read(file, Accept::Stream, CERTIFICATES_BYTES_MAX)
                .map_err(|error| failed(format!("VAULT_CACERT {}: {error}", file.display())))?;
            let trusted = Certificate::from_pem_bundle(&pem).ok().filter(|found| !found.is_empty());
            let none = || failed(format!("VAULT_CACERT {}: it holds no certificates in PEM", file.display()));
            prepared().tls_certs_only(trusted.ok_or_else(none)?).build()
        }
        // A machine without certificates can still ask a server that needs none of them.
        None => prepared().build().or_else(|_| prepared().tls_certs_only([]).build()),
    };
    built.map_err(|error| failed(format!("cannot prepare requests: {error}")))
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The server that a redirect names.
fn location(response: &Response) -> Option<String> {
    let target = Url::parse(response.headers().get("location")?.to_str().ok()?).ok()?;
    Some(target.origin().ascii_serialization()).filter(|_| response.status().is_redirection())
}

fn strings(body: &Value) -> impl Iterator<Item = &str> {
    body.as_object().into_iter().flat_map(|fields| fields.values().filter_map(Value::as_str))
}
