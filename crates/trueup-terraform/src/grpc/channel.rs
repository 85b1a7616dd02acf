//! A connection to a server, and requests on it.
//!
//! All requests in flight share one connection. After its loss the next request opens another one: a server may close a
//! connection that nobody uses, and stay ready for calls. The connection ends with the last clone of its channel, once
//! the requests in flight are done.

use std::io;
use std::sync::Arc;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use hyper::http::uri::PathAndQuery;
use hyper::{Method, Request, Response, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use trueup_provider::BoxFuture;

use super::framing::frame;
use super::{Code, GRPC_CONTENT_TYPE, Messages, Status};

/// The body of a request.
pub(crate) type Body = UnsyncBoxBody<Bytes, Status>;

/// A stream of bytes in both directions.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Opens the stream below a connection.
pub(crate) type Connector = Box<dyn Fn() -> BoxFuture<'static, io::Result<Box<dyn Duplex>>> + Send + Sync>;

/// A connection to a server. A clone shares it.
#[derive(Clone)]
pub(crate) struct Channel(Arc<Shared>);

struct Shared {
    connector: Connector,
    sender: Mutex<SendRequest<Body>>,
}

impl Channel {
    pub(crate) async fn connect(connector: Connector) -> io::Result<Self> {
        let sender = Mutex::new(open(&connector).await?);
        Ok(Channel(Arc::new(Shared { connector, sender })))
    }

    /// Calls a method with an encoded message, whose response is one message.
    pub(crate) async fn unary(
        &self,
        path: &'static str,
        headers: HeaderMap,
        message: &[u8],
        message_size_max: usize,
    ) -> Result<Bytes, Status> {
        self.call(path, headers, message, message_size_max).await?.single().await
    }

    /// Calls a method with an encoded message, whose response is any number of messages.
    pub(crate) async fn call(
        &self,
        path: &'static str,
        headers: HeaderMap,
        message: &[u8],
        message_size_max: usize,
    ) -> Result<Messages, Status> {
        let body = Full::new(frame(message, message_size_max)?);
        let mut request = Request::new(body.map_err(|never| match never {}).boxed_unsync());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = Uri::from_static(path);
        *request.headers_mut() = headers;
        request.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
        request.headers_mut().insert(TE, HeaderValue::from_static("trailers"));
        Messages::new(self.send(request).await?, message_size_max)
    }

    /// Sends a request as it is, except for its host.
    pub(crate) async fn send(&self, mut request: Request<Body>) -> Result<Response<Incoming>, Status> {
        let path = request.uri().path_and_query().cloned();
        let uri = Uri::builder()
            .scheme("http")
            .authority("localhost")
            .path_and_query(path.unwrap_or_else(|| PathAndQuery::from_static("/")));
        *request.uri_mut() =
            uri.build().map_err(|error| Status::new(Code::InvalidArgument, error.to_string()))?;
        *request.version_mut() = Version::HTTP_2;
        let response = self.sender().await?.send_request(request);
        response.await.map_err(|error| Status::connection_lost(&error))
    }

    /// Whether the next request opens another connection.
    #[cfg(test)]
    pub(super) async fn is_closed(&self) -> bool {
        self.0.sender.lock().await.is_closed()
    }

    /// The connection, replaced if it is closed.
    async fn sender(&self) -> Result<SendRequest<Body>, Status> {
        let mut sender = self.0.sender.lock().await;
        if sender.is_closed() {
            let opened = open(&self.0.connector).await;
            *sender = opened.map_err(|error| Status::connection_lost(&error))?;
        }
        Ok(sender.clone())
    }
}

async fn open(connector: &Connector) -> io::Result<SendRequest<Body>> {
    let stream = TokioIo::new(connector().await?);
    let handshake = Builder::new(TokioExecutor::new())
        // Schemas of large providers take many megabytes.
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(8 << 20)
        .handshake(stream);
    let (sender, connection) = handshake.await.map_err(io::Error::other)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("a connection to a plugin broke: {}", super::with_causes(&error));
        }
    });
    Ok(sender)
}
