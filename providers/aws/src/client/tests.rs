//! The client against a server of one connection: the request on the wire, and each outcome of a call.

use std::fmt;

use aws_config::{Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_types::origin::Origin;
use aws_types::service_config::LoadServiceConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;

const SECRET: &str = "hunter2hunter2";

fn config(endpoint: &str) -> SdkConfig {
    let credentials = Credentials::new("AKID", SECRET, None, None, "test");
    SdkConfig::builder()
        .region(Region::new("eu-central-1"))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .endpoint_url(endpoint)
        .build()
}

fn client(endpoint: &str, timeout: Duration) -> Client {
    let config = config(endpoint);
    Client::new(&Connection::new(&config, timeout), &config, Service::Sqs)
}

/// A server that answers one request with these bytes and hangs up; it yields the request.
async fn server(answer: &'static str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    (endpoint, served)
}

fn request() -> Request {
    Request::new("POST", "/a%20b").query("c=d".to_owned()).body(b"hello".to_vec())
}

async fn outcome(answer: &'static str) -> Result<Answer, CallError> {
    let (endpoint, _served) = server(answer).await;
    client(&endpoint, Duration::from_secs(10)).send(request()).await
}

/// SECRET-1
#[tokio::test]
async fn a_request_is_signed_and_sent_as_it_is() {
    let (endpoint, served) = server("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nx-y: z\r\n\r\n{}").await;
    let answer = client(&endpoint, Duration::from_secs(10)).send(request()).await.ok().unwrap();
    assert_eq!(
        (answer.status, answer.body.as_slice(), answer.header("X-Y")),
        (200, b"{}".as_slice(), Some("z"))
    );
    let request = served.await.unwrap();
    let lowercase = request.to_ascii_lowercase();
    assert!(request.starts_with("POST /a%20b?c=d HTTP/1.1\r\n"), "{request}");
    assert!(lowercase.contains("authorization: aws4-hmac-sha256 credential=akid/"), "{request}");
    assert!(lowercase.contains("/eu-central-1/sqs/aws4_request"), "{request}");
    assert!(lowercase.contains("user-agent: trueup/"), "{request}");
    assert!(!request.contains(SECRET), "{request}");
}

/// RETRY-1
#[tokio::test]
async fn each_end_of_a_call_is_told_apart() {
    let redirect = "HTTP/1.1 307 .\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(outcome(redirect).await.ok().unwrap().status, 307);
    for broken in ["", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}", "SSH-2.0-x\r\n\r\n"] {
        let error = outcome(broken).await.err().unwrap();
        assert!(matches!(error, CallError::Unintelligible(_)), "{broken:?}: {error:?}");
    }
    let refused = client("http://127.0.0.1:9", Duration::from_secs(10)).send(request()).await;
    assert!(matches!(refused, Err(CallError::Refused(_))));
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let slow = client(&endpoint, Duration::from_millis(50)).send(request()).await;
    assert!(matches!(slow, Err(CallError::TimedOut)));
}

/// RETRY-1
#[tokio::test]
async fn nothing_is_sent_without_endpoint_or_credentials() {
    let nowhere = client("not a URL", Duration::from_secs(10)).send(request()).await;
    assert!(matches!(nowhere, Err(CallError::NotSent(_))));
    let config = SdkConfig::builder().region(Region::new("eu-central-1")).build();
    let connection = Connection::new(&config, Duration::from_secs(10));
    let anonymous = Client::new(&connection, &config, Service::Sqs).send(request()).await;
    assert!(matches!(anonymous, Err(CallError::NoCredentials(_))));
    let header = request().header("x-amz-target", "a\nb".to_owned());
    let broken = client("http://127.0.0.1:9", Duration::from_secs(10)).send(header).await;
    assert!(matches!(broken, Err(CallError::NotSent(_))));
}

/// An environment that has an endpoint for S3.
struct OwnEndpoint;

impl fmt::Debug for OwnEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnEndpoint")
    }
}

impl LoadServiceConfig for OwnEndpoint {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        assert_eq!((key.env(), key.profile()), ("AWS_ENDPOINT_URL", "endpoint_url"));
        (key.service_id() == "S3").then(|| "http://s3.example".to_owned())
    }
}

#[test]
fn a_service_can_have_an_endpoint_of_its_own() {
    let builder = config("http://all.example").into_builder().service_config(OwnEndpoint);
    let config = builder.build();
    assert_eq!(configured_url(&config, Service::S3).as_deref(), Some("http://s3.example"));
    assert_eq!(configured_url(&config, Service::Sqs).as_deref(), Some("http://all.example"));
    let mut builder = config.into_builder();
    builder.insert_origin("endpoint_url", Origin::shared_config());
    let config = builder.build();
    assert_eq!(configured_url(&config, Service::S3).as_deref(), Some("http://all.example"));
}
