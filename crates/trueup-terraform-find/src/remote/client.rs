//! Requests to servers that have providers.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, RETRY_AFTER};
use reqwest::{Certificate, Response, StatusCode, Url, redirect};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use trueup_core::{KnownSecrets, Secret};
use trueup_files::Accept;
use trueup_provider::{Clock, RuntimeClock};
use trueup_proxies::Proxies;

use super::{Meter, RemoteError};
use crate::hash;
use crate::install::{Progress, Watch};
use crate::problem::ProblemKind;
use crate::settings::Settings;

/// The largest answer that is no package, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;
const REDIRECTS_MAX: usize = 10;
/// More than the roots that any machine trusts.
const CERTIFICATES_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// How long a server may keep silent.
const SILENCE: Duration = Duration::from_secs(60);
const CONNECT: Duration = Duration::from_secs(15);
/// How much of a package is to come within each span of the patience.
const PIECE_BYTES: u64 = 1 << 20;

/// How often a request is sent, the first time included.
const ATTEMPTS_MAX: u32 = 3;
/// The longest wait between two, whatever a server asks for.
const WAIT_MAX: Duration = Duration::from_secs(20);

/// Sends requests, and those that fail in passing once more.
pub(crate) struct Client<'a> {
    http: reqwest::Client,
    tokens: BTreeMap<String, Secret<String>>,
    /// The tokens, which servers may repeat.
    secrets: KnownSecrets,
    /// Services of hosts that are not asked for them.
    pub(super) services: BTreeMap<String, BTreeMap<String, String>>,
    clock: RuntimeClock,
    backoff: Duration,
    patience: Duration,
    package_bytes_max: u64,
    watch: Watch<'a>,
}

impl<'a> Client<'a> {
    /// A client as the settings want it.
    pub(crate) fn new(settings: &Settings, watch: Watch<'a>) -> Result<Self, ProblemKind> {
        let http = prepared(settings);
        let http = http.map_err(|what| ProblemKind::Server { what, offline: false })?;
        let configuration = &settings.configuration;
        let (tokens, services) = (configuration.tokens.clone(), configuration.services.clone());
        let secrets = KnownSecrets::default();
        tokens.values().for_each(|token| secrets.learn_credential(token.expose(), &[]));
        let package_bytes_max = settings.package_limits.packed_bytes_max;
        let (clock, backoff, patience) = (RuntimeClock::new(), settings.backoff, settings.patience);
        Ok(Client { http, tokens, secrets, services, clock, backoff, patience, package_bytes_max, watch })
    }

    /// An error without the tokens that a server repeats.
    pub(super) fn scrubbed(&self, mut error: RemoteError) -> RemoteError {
        let texts = match &mut error {
            RemoteError::Unreachable { url, cause: what }
            | RemoteError::Answer { url, what }
            | RemoteError::Busy { url, what, .. } => vec![url, what],
            RemoteError::Absent { what } | RemoteError::Untrusted { what } => vec![what],
            RemoteError::Disk { path, cause } => vec![path, cause],
        };
        texts.into_iter().for_each(|text| self.secrets.scrub(text));
        error
    }

    /// The outcome of a request, which is sent again if it fails in passing.
    async fn retrying<T>(&self, send: impl AsyncFn() -> Result<T, RemoteError>) -> Result<T, RemoteError> {
        let mut backoff = self.backoff;
        for _ in 1..ATTEMPTS_MAX {
            let failed = match send().await {
                Err(failed @ (RemoteError::Unreachable { .. } | RemoteError::Busy { .. })) => failed,
                settled => return settled,
            };
            let asked = match &failed {
                RemoteError::Busy { wait, .. } => *wait,
                _ => None,
            };
            let wait = asked.unwrap_or(backoff).min(WAIT_MAX);
            let what = self.secrets.scrubbed(&failed.to_string()).into_owned();
            (self.watch)(Progress::Retrying { what: &what, wait });
            self.clock.sleep(wait).await;
            backoff *= 2;
        }
        send().await
    }

    /// An answer in JSON; `None` if there is nothing at that place.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        url: &Url,
        token_of: Option<&str>,
    ) -> Result<Option<T>, RemoteError> {
        let Some(body) = self.bytes(url, token_of).await? else { return Ok(None) };
        let garbled = |error: serde_json::Error| answered(url, format!("what cannot be understood: {error}"));
        serde_json::from_slice(&body).map(Some).map_err(garbled)
    }

    /// An answer; `None` if there is nothing at that place.
    pub(super) async fn bytes(
        &self,
        url: &Url,
        token_of: Option<&str>,
    ) -> Result<Option<Vec<u8>>, RemoteError> {
        self.retrying(async || self.in_time(url, self.bytes_once(url, token_of)).await).await
    }

    /// What a server answers, if it does so in time. One that sends a byte now and then is not silent, and would hold us
    /// for ever (BOUND-1).
    async fn in_time<T>(
        &self,
        url: &Url,
        answer: impl Future<Output = Result<T, RemoteError>>,
    ) -> Result<T, RemoteError> {
        let slow = |_| Err(answered(url, "too slowly".to_owned()));
        tokio::time::timeout(self.patience, answer).await.unwrap_or_else(slow)
    }

    async fn bytes_once(&self, url: &Url, token_of: Option<&str>) -> Result<Option<Vec<u8>>, RemoteError> {
        let mut response = self.send(url, token_of).await?;
        if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Ok(None);
        }
        let mut body = Vec::new();
        refuse_failure(url, &response)?;
        while let Some(chunk) = response.chunk().await.map_err(|error| broken_off(url, &error))? {
            body.extend_from_slice(&chunk);
            if body.len() > ANSWER_BYTES_MAX {
                return Err(answered(url, "more than can be right".to_owned()));
            }
        }
        Ok(Some(body))
    }

    /// Fetches what is there to a file, and tells its digest in hexadecimal.
    pub(super) async fn download(
        &self,
        url: &Url,
        path: &Path,
        meter: Meter<'_>,
    ) -> Result<String, RemoteError> {
        self.retrying(async || self.download_once(url, path, meter).await).await
    }

    async fn download_once(&self, url: &Url, path: &Path, meter: Meter<'_>) -> Result<String, RemoteError> {
        let disk = |error: std::io::Error| RemoteError::Disk {
            path: path.display().to_string(),
            cause: error.to_string(),
        };
        // Packages often lie with someone else than the registry: no token goes there.
        let mut response = self.in_time(url, self.send(url, None)).await?;
        refuse_failure(url, &response)?;
        let total = response.content_length();
        let too_large = || {
            let what = format!("more than the {} bytes that a package may have", self.package_bytes_max);
            answered(url, what)
        };
        if total.is_some_and(|total| total > self.package_bytes_max) {
            return Err(too_large());
        }
        let mut file = fs::File::create(path).map_err(disk)?;
        let (mut hasher, mut received) = (Sha256::new(), 0);
        meter(received, total);
        // Takes a piece; false at the end.
        let mut piece = async || {
            let piece_end = received + PIECE_BYTES;
            while received < piece_end {
                let chunk = response.chunk().await.map_err(|error| broken_off(url, &error))?;
                let Some(chunk) = chunk else { return Ok(false) };
                received += chunk.len() as u64;
                // A server need not say how much it sends, nor keep to it.
                if received > self.package_bytes_max {
                    return Err(too_large());
                }
                hasher.update(&chunk);
                file.write_all(&chunk).map_err(disk)?;
                meter(received, total);
            }
            Ok(true)
        };
        while self.in_time(url, piece()).await? {}
        Ok(hash::hex(&hasher.finalize()))
    }

    async fn send(&self, url: &Url, token_of: Option<&str>) -> Result<Response, RemoteError> {
        if !is_secure(url) {
            let what = format!("{url} is not encrypted, and what comes from there could be anybody's");
            return Err(RemoteError::Untrusted { what });
        }
        let mut request = self.http.get(url.clone());
        if let Some(token) = token_of.and_then(|host| self.tokens.get(host)) {
            request = request.header(AUTHORIZATION, format!("Bearer {}", token.expose()));
        }
        request.send().await.map_err(|error| broken_off(url, &error))
    }
}

/// A client of the network as the settings want it.
fn prepared(settings: &Settings) -> Result<reqwest::Client, String> {
    let trusted = match &settings.trusted {
        Some(path) => {
            let pem = trueup_files::read(path, Accept::Stream, CERTIFICATES_BYTES_MAX);
            let pem = pem.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
            Certificate::from_pem_bundle(&pem)
                .map_err(|_| format!("{} holds no certificates in PEM", path.display()))?
        }
        None => Vec::new(),
    };
    let proxies = Proxies::from_variables(|name| Some(settings.proxies.get(name)?.expose().as_str()));
    let proxies = proxies.map_err(|error| error.to_string())?;
    let builder = || {
        let client = reqwest::Client::builder()
            .user_agent(concat!("trueup/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .redirect(securely());
        proxies.apply(client)
    };
    // A machine without certificates of its own can still trust those that are named.
    let http = builder().tls_certs_merge(trusted.clone()).build();
    let http = http.or_else(|_| builder().tls_certs_only(trusted).build());
    let http = http.map_err(|error| format!("cannot prepare requests: {error}"))?;
    Ok(http)
}

/// TLS, or a server on this machine.
fn is_secure(url: &Url) -> bool {
    let local = match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && local)
}

fn securely() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        if attempt.previous().len() > REDIRECTS_MAX {
            return attempt.error("it redirects too often");
        }
        match is_secure(attempt.url()) {
            true => attempt.follow(),
            false => attempt.error("it redirects to a place that is not encrypted"),
        }
    })
}

fn refuse_failure(url: &Url, response: &Response) -> Result<(), RemoteError> {
    match response.status() {
        status if status.is_success() => Ok(()),
        status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
            Err(answered(url, format!("{status}: it wants a token, or another one")))
        }
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            let wait =
                response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let (url, what) = (url.to_string(), status.to_string());
            Err(RemoteError::Busy { url, what, wait: wait.map(Duration::from_secs) })
        }
        status => Err(answered(url, status.to_string())),
    }
}

pub(super) fn answered(url: &Url, what: String) -> RemoteError {
    RemoteError::Answer { url: url.to_string(), what }
}

fn broken_off(url: &Url, error: &reqwest::Error) -> RemoteError {
    // What went wrong stands at the end of the chain.
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let told = if error.is_timeout() { "it does not answer in time".to_owned() } else { cause.to_string() };
    RemoteError::Unreachable { url: url.to_string(), cause: told }
}
