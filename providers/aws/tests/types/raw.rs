//! Requests that are written out, to see and change objects behind the provider's back.
//!
//! Nothing here is the provider's: bodies and paths are those of AWS's documentation, and another HTTP client sends them.
//! So what the provider's client gets wrong is not wrong here in the same way.

use aws_credential_types::Credentials;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, sign,
};
use aws_sigv4::sign::v4;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use trueup_provider::{Clock, RuntimeClock};

/// An account, reached by raw requests. Clones are the same one. Whatever AWS refuses panics.
#[derive(Clone)]
pub(crate) struct Raw {
    http: reqwest::Client,
    /// An emulator's address; `None` for the real AWS.
    endpoint: Option<String>,
    pub(crate) region: String,
    credentials: SharedCredentialsProvider,
}

impl Raw {
    pub(crate) fn emulated(endpoint: &str, region: &str) -> Self {
        let credentials = Credentials::new("test", "secret", None, None, "test");
        Raw {
            http: reqwest::Client::new(),
            endpoint: Some(endpoint.to_owned()),
            region: region.to_owned(),
            credentials: SharedCredentialsProvider::new(credentials),
        }
    }

    /// The real AWS, with the credentials of whoever runs the tests.
    pub(crate) async fn real(region: &str) -> Self {
        let config = aws_config::defaults(aws_config::BehaviorVersion::latest());
        let config = config.region(aws_config::Region::new(region.to_owned())).load().await;
        let credentials = config.credentials_provider().unwrap();
        Raw { http: reqwest::Client::new(), endpoint: None, region: region.to_owned(), credentials }
    }

    /// Calls an operation of a service that speaks JSON, such as `AmazonSQS.CreateQueue`.
    pub(crate) async fn json(&self, target: &str, input: Value) -> Value {
        let (service, version) = match target.split_once('.').unwrap().0 {
            "AmazonSQS" => ("sqs", "1.0"),
            "DynamoDB_20120810" => ("dynamodb", "1.0"),
            "Logs_20140328" => ("logs", "1.1"),
            other => panic!("{other} is not a service"),
        };
        let content_type = format!("application/x-amz-json-{version}");
        let headers = [("content-type", content_type.as_str()), ("x-amz-target", target)];
        parsed(&self.send(service, "POST", "/", &headers, input.to_string().into_bytes()).await)
    }

    /// Calls an operation of IAM, and returns the document that it answers with.
    pub(crate) async fn iam(&self, action: &str, fields: &[(&str, &str)]) -> String {
        let own = [("Action", action), ("Version", "2010-05-08")];
        let fields = own.iter().chain(fields).map(|(name, value)| format!("{name}={}", escaped(value)));
        let body = fields.collect::<Vec<_>>().join("&").into_bytes();
        self.send("iam", "POST", "/", &[("content-type", "application/x-www-form-urlencoded")], body).await
    }

    /// Calls Lambda (`lambda`) or API Gateway (`apigateway`).
    pub(crate) async fn rest(&self, service: &str, method: &str, path: &str, input: Option<Value>) -> Value {
        let body = input.map_or(Vec::new(), |input| input.to_string().into_bytes());
        parsed(&self.send(service, method, path, &[("content-type", "application/json")], body).await)
    }

    /// Calls S3, with a bucket and all else in the path, and returns the document that it answers with.
    pub(crate) async fn s3(&self, method: &str, path: &str, body: &str) -> String {
        // Many operations demand a checksum, and none minds it.
        let checksum = STANDARD.encode(Sha256::digest(body.as_bytes()));
        let checksum = ("x-amz-checksum-sha256", checksum.as_str());
        let headers = if body.is_empty() { &[][..] } else { &[checksum] };
        self.send("s3", method, path, headers, body.as_bytes().to_vec()).await
    }

    async fn send(
        &self,
        service: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> String {
        let region = if service == "iam" { "us-east-1" } else { self.region.as_str() };
        let host = match service {
            "iam" => "https://iam.amazonaws.com".to_owned(),
            _ => format!("https://{service}.{region}.amazonaws.com"),
        };
        let url = format!("{}{path}", self.endpoint.as_ref().unwrap_or(&host));
        let mut settings = SigningSettings::default();
        if service == "s3" {
            settings.percent_encoding_mode = PercentEncodingMode::Single;
            settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        }
        let identity = self.credentials.provide_credentials().await.unwrap().into();
        let scope = v4::SigningParams::builder().identity(&identity).region(region).name(service);
        let scope = scope.time(RuntimeClock::new().now()).settings(settings).build().unwrap();
        let signable =
            SignableRequest::new(method, &url, headers.iter().copied(), SignableBody::Bytes(&body)).unwrap();
        let (signature, _) = sign(signable, &scope.into()).unwrap().into_parts();
        let mut request = self.http.request(method.parse().unwrap(), &url);
        for (name, value) in headers.iter().copied().chain(signature.headers()) {
            request = request.header(name, value);
        }
        let answer = request.body(body).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{method} {url}: {status}: {text}");
        text
    }
}

fn parsed(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap() }
}

fn escaped(value: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    value.bytes().map(escape).collect()
}

/// The texts between all tags of this name.
pub(crate) fn texts(document: &str, tag: &str) -> Vec<String> {
    let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let parts = document.split(&begin).skip(1);
    parts.filter_map(|part| part.split_once(&end)).map(|(text, _)| text.to_owned()).collect()
}

/// The texts of a list in an answer, or those of one field of its items.
pub(crate) fn strings(list: &Value, field: Option<&str>) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    let items = items.map(|item| field.map_or(item, |field| &item[field]));
    items.map(|item| item.as_str().unwrap().to_owned()).collect()
}
