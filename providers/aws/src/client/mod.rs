//! A thin client for AWS: endpoints, credentials, signatures, and four wire protocols.
//!
//! Each service has a client of its protocol ([`JsonClient`], [`QueryClient`], [`RestJsonClient`], [`S3Client`]). It
//! turns an operation into a [`Request`], lets [`Client`] sign and send it, and reads the [`Answer`]. Credentials and
//! settings come from `aws-config`, the connection from the HTTP client that `aws-config` itself uses: same proxies,
//! same certificates.
//!
//! Nothing here retries, follows a redirect, or logs. [`CallError`] tells requests that were certainly not sent from
//! those that AWS may have carried out. Requests have no `Debug`: their bodies hold secrets.

mod credentials;
mod endpoint;
mod error;
mod json;
mod partition;
mod percent;
mod query;
mod rest_json;
mod rest_xml;
mod service;
mod sign;
#[cfg(test)]
mod tests;
mod xml;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_credential_types::Credentials;
use aws_smithy_async::time::SharedTimeSource;
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_http_client::{Connector, ConnectorBuilder};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorSettings};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use aws_types::service_config::ServiceConfigKey;
use trueup_core::KnownSecrets;

pub(crate) use error::{CallError, ErrorAnswer};
pub(crate) use json::{JsonClient, JsonDialect};
pub(crate) use partition::Partition;
pub(crate) use query::{Form, QueryClient};
pub(crate) use rest_json::{RestCall, RestJsonClient};
pub(crate) use rest_xml::{BucketCall, S3Client};
pub(crate) use service::Service;
pub(crate) use xml::Element;

use credentials::CredentialsCache;
use endpoint::{Endpoint, EndpointOptions};
use sign::SigningScope;

/// The time to establish a connection, unless the configuration says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(3100);

/// The largest answer that is read. The largest that AWS sends here are lists of a megabyte.
const ANSWER_BYTES_MAX: usize = 64 << 20;

const USER_AGENT: &str = concat!("trueup/", env!("CARGO_PKG_VERSION"));

/// Everything that the clients of one configuration share.
pub(crate) struct Connection {
    connector: Connector,
    credentials: CredentialsCache,
    clock: SharedTimeSource,
    timeout: Duration,
}

/// A client for one service.
pub(crate) struct Client {
    connection: Arc<Connection>,
    service: Service,
    endpoint: Result<Endpoint, String>,
}

/// A request, before it is signed.
struct Request {
    method: &'static str,
    /// Percent-encoded, begins with `/`.
    path: String,
    /// Percent-encoded, without the `?`.
    query: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// A label in front of the endpoint's host.
    host_prefix: Option<String>,
}

/// An answer, whatever its status.
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Connection {
    /// A connection with this configuration. A call takes no longer than the timeout.
    pub(crate) fn new(config: &SdkConfig, timeout: Duration) -> Arc<Self> {
        let configured = config.timeout_config().and_then(TimeoutConfig::connect_timeout);
        let settings =
            HttpConnectorSettings::builder().connect_timeout(configured.unwrap_or(CONNECT_TIMEOUT)).build();
        let connector = ConnectorBuilder::default()
            .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
            .connector_settings(settings)
            .proxy_config(ProxyConfig::from_env())
            .build();
        Arc::new(Connection {
            connector,
            credentials: CredentialsCache::new(config.credentials_provider()),
            clock: config.time_source().unwrap_or_default(),
            timeout,
        })
    }
}

impl Client {
    pub(crate) fn new(connection: &Arc<Connection>, config: &SdkConfig, service: Service) -> Self {
        let options = EndpointOptions {
            region: config.region().map(ToString::to_string).unwrap_or_default(),
            url: configured_url(config, service),
            fips: config.use_fips().unwrap_or(false),
            dual_stack: config.use_dual_stack().unwrap_or(false),
        };
        Client { connection: Arc::clone(connection), service, endpoint: Endpoint::resolve(service, &options) }
    }

    fn endpoint(&self) -> Result<&Endpoint, CallError> {
        self.endpoint.as_ref().map_err(|reason| CallError::NotSent(reason.clone()))
    }

    /// Signs and sends a request, once.
    async fn send(&self, request: Request) -> Result<Answer, CallError> {
        let exchange = self.exchange(request);
        tokio::time::timeout(self.connection.timeout, exchange).await.unwrap_or(Err(CallError::TimedOut))
    }

    async fn exchange(&self, request: Request) -> Result<Answer, CallError> {
        let (connection, endpoint) = (&self.connection, self.endpoint()?);
        let credentials = connection.credentials.get(connection.clock.now()).await?;
        let scope = SigningScope {
            service: self.service.name(),
            region: &endpoint.signing_region,
            time: connection.clock.now(),
        };
        let url = endpoint.url(request.host_prefix.as_deref(), &request.path, &request.query);
        let signature = sign::signature(&request, &url, credentials.clone(), &scope)?;
        let request = http_request(request, &url, signature)?;
        let answered = connection.connector.call(request).await;
        let answer = read_answer(answered.map_err(|error| CallError::of_transport(&error))?).await?;
        Ok(if answer.is_success() { answer } else { answer.without(&credentials) })
    }
}

/// The URL that the configuration gives for a service: in code, else for this service, else for all.
fn configured_url(config: &SdkConfig, service: Service) -> Option<String> {
    let general = || config.endpoint_url().map(ToOwned::to_owned);
    if config.get_origin("endpoint_url").is_client_config() {
        return general();
    }
    let key =
        ServiceConfigKey::builder().service_id(service.id()).env("AWS_ENDPOINT_URL").profile("endpoint_url");
    let own = key.build().ok().and_then(|key| config.service_config()?.load_config(key));
    own.or_else(general)
}

fn http_request(
    request: Request,
    url: &str,
    signature: Vec<(String, String)>,
) -> Result<HttpRequest, CallError> {
    // The error's text could quote a header.
    let broken = || CallError::NotSent("the request holds characters that HTTP does not allow".to_owned());
    let mut http = HttpRequest::new(SdkBody::from(request.body));
    http.set_method(request.method).map_err(|_| broken())?;
    http.set_uri(url).map_err(|_| broken())?;
    let own = request.headers.into_iter().map(|(name, value)| (name.to_owned(), value));
    for (name, value) in own.chain(signature).chain([("user-agent".to_owned(), USER_AGENT.to_owned())]) {
        http.headers_mut().try_insert(name, value).map_err(|_| broken())?;
    }
    Ok(http)
}

async fn read_answer(response: HttpResponse) -> Result<Answer, CallError> {
    let status = response.status().as_u16();
    let headers = response.headers().iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers = headers.collect();
    let mut stream = ByteStream::new(response.into_body());
    let mut body = Vec::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| CallError::Unintelligible(error::causes(&error)))?;
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(CallError::Unintelligible("the answer is too long".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body })
}

impl Request {
    fn new(method: &'static str, path: &str) -> Self {
        Request {
            method,
            path: path.to_owned(),
            query: String::new(),
            headers: Vec::new(),
            body: Vec::new(),
            host_prefix: None,
        }
    }

    fn query(self, query: String) -> Self {
        Request { query, ..self }
    }

    fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    fn body(self, body: Vec<u8>) -> Self {
        Request { body, ..self }
    }

    fn host_prefix(self, prefix: &str) -> Self {
        Request { host_prefix: Some(prefix.to_owned()), ..self }
    }
}

impl Answer {
    fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A refusal without the credentials that it may repeat.
    fn without(mut self, credentials: &Credentials) -> Self {
        let secrets = KnownSecrets::default();
        let held = [Some(credentials.secret_access_key()), credentials.session_token()];
        held.into_iter()
            .flatten()
            .for_each(|it| secrets.learn_credential(it, &[credentials.access_key_id()]));
        self.headers.iter_mut().for_each(|(_, value)| secrets.scrub(value));
        if let Cow::Owned(scrubbed) = secrets.scrubbed(&String::from_utf8_lossy(&self.body)) {
            self.body = scrubbed.into_bytes();
        }
        self
    }

    fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        header.map(|(_, value)| value.as_str())
    }
}
