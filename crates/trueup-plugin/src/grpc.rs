//! Unary gRPC calls on an HTTP/2 connection.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use prost::bytes::{BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use trueup_terraform::{Code, Status};

use crate::methods;
use crate::service::Service;

/// The largest request; Terraform's own limit for responses is a quarter of it.
const REQUEST_SIZE_MAX: usize = 256 << 20;
const PREFIX_SIZE: usize = 5;

const SHUTDOWN: &str = "/plugin.GRPCController/Shutdown";
const STDIO: &str = "/plugin.GRPCStdio/StreamStdio";

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Serves a connection until the client closes it or the server shuts down.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    service: Arc<Service>,
    end: CancellationToken,
) {
    let ended = end.clone();
    let answer = service_fn(|request| answered(request, service.clone(), end.clone()));
    let conversation = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(8 << 20)
        .serve_connection(TokioIo::new(stream), answer);
    let mut conversation = pin!(conversation);
    if let Either::Right(_) = select(conversation.as_mut(), pin!(ended.cancelled())).await {
        // Lets calls in flight finish.
        conversation.as_mut().graceful_shutdown();
        let _ = conversation.await;
    }
}

async fn answered(
    request: Request<Incoming>,
    service: Arc<Service>,
    end: CancellationToken,
) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    let outcome = match path.as_str() {
        STDIO => return Ok(silence(end)),
        SHUTDOWN => {
            service.stop();
            end.cancel();
            Ok(Bytes::new())
        }
        _ => match message_of(request.into_body()).await {
            // A task of its own, so that a call completes even if the client disconnects.
            Ok(message) => tokio::spawn(async move { methods::answer(&service, &path, message).await })
                .await
                .unwrap_or_else(|_| Err(Status::new(Code::Internal, "the provider panicked"))),
            Err(status) => Err(status),
        },
    };
    Ok(match outcome {
        Ok(message) => respond(&message),
        Err(status) => status.into_response().map(|()| whole(Bytes::new())),
    })
}

/// The one message of a request.
async fn message_of(body: Incoming) -> Result<Bytes, Status> {
    let collected = Limited::new(body, REQUEST_SIZE_MAX).collect().await;
    let bytes =
        collected.map_err(|error| Status::new(Code::ResourceExhausted, error.to_string()))?.to_bytes();
    unframed(&bytes)
}

/// The message behind its prefix.
fn unframed(bytes: &Bytes) -> Result<Bytes, Status> {
    let wrong = |text: &str| Err(Status::new(Code::Internal, text));
    let Some((prefix, message)) = bytes.split_first_chunk::<PREFIX_SIZE>() else {
        return wrong("the request is cut off");
    };
    let [compressed, size @ ..] = prefix;
    match compressed {
        0 if message.len() == u32::from_be_bytes(*size) as usize => Ok(bytes.slice(PREFIX_SIZE..)),
        0 => wrong("the request has another size than it says"),
        _ => Err(Status::new(Code::Unimplemented, "compressed requests are not taken")),
    }
}

fn framed(message: &[u8]) -> Option<Bytes> {
    let mut framed = BytesMut::with_capacity(PREFIX_SIZE + message.len());
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).ok()?);
    framed.put_slice(message);
    Some(framed.freeze())
}

fn respond(message: &[u8]) -> Response<Body> {
    let Some(framed) = framed(message) else {
        let status = Status::new(Code::ResourceExhausted, "the answer is larger than 4 GiB");
        return status.into_response().map(|()| whole(Bytes::new()));
    };
    let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
    let body = Full::new(framed).with_trailers(async move { Some(Ok(trailers)) }).boxed_unsync();
    opened(body)
}

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

fn opened(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn whole(bytes: Bytes) -> Body {
    Full::new(bytes).boxed_unsync()
}

/// The stream of the plugin's standard output and error. Both go to the process's own, so it stays empty until shutdown.
fn silence(end: CancellationToken) -> Response<Body> {
    let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
    let ending = futures_util::stream::once(async move {
        end.cancelled().await;
        Ok(Frame::trailers(trailers))
    });
    opened(StreamBody::new(ending).boxed_unsync())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stands_behind_its_size() {
        let sent = framed(b"message").unwrap();
        assert_eq!(unframed(&sent).unwrap(), Bytes::from("message"));
        let refused = |bytes: &'static [u8]| unframed(&Bytes::from_static(bytes)).unwrap_err().to_string();
        assert_eq!(refused(b"\0\0\0"), "the request is cut off");
        assert_eq!(refused(b"\0\0\0\0\x02x"), "the request has another size than it says");
        assert_eq!(refused(b"\x01\0\0\0\0"), "compressed requests are not taken");
    }
}
