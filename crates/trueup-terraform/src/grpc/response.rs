//! A response: its messages, then the outcome of the call.

use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::{Response, StatusCode};
use prost::bytes::Bytes;

use super::framing::Deframer;
use super::{Code, Status};

/// The messages of a response.
pub(crate) struct Messages<B = Incoming> {
    body: B,
    deframer: Deframer,
    /// The outcome, once headers or trailers told it.
    outcome: Option<Result<(), Status>>,
}

impl<B> Messages<B>
where
    B: Body<Data = Bytes, Error: std::error::Error> + Unpin,
{
    /// Fails if the headers already say that the call failed.
    pub(super) fn new(response: Response<B>, message_size_max: usize) -> Result<Self, Status> {
        let outcome = Status::from_headers(response.headers());
        match &outcome {
            Some(Err(status)) => return Err(status.clone()),
            None if response.status() != StatusCode::OK => return Err(from_http(response.status())),
            _ => {}
        }
        Ok(Messages { body: response.into_body(), deframer: Deframer::new(message_size_max), outcome })
    }

    /// The next message; `None` at the end of a successful call.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if let Some(message) = self.deframer.take()? {
                return Ok(Some(message));
            }
            let Some(frame) = self.body.frame().await else { return self.end() };
            let frame = frame.map_err(|error| Status::connection_lost(&error))?;
            match frame.into_data() {
                Ok(data) => self.deframer.push(&data),
                Err(frame) => {
                    let told = frame.trailers_ref().and_then(Status::from_headers);
                    self.outcome = told.or(self.outcome.take());
                }
            }
        }
    }

    /// The message of a response that has exactly one.
    pub(super) async fn single(mut self) -> Result<Bytes, Status> {
        let Some(message) = self.next().await? else {
            return Err(Status::new(Code::Internal, "its answer has no message"));
        };
        match self.next().await? {
            None => Ok(message),
            Some(_) => Err(Status::new(Code::Internal, "its answer has more than one message")),
        }
    }

    fn end(&mut self) -> Result<Option<Bytes>, Status> {
        match self.outcome.take() {
            Some(Err(status)) => Err(status),
            _ if !self.deframer.is_empty() => Err(Status::new(Code::Internal, "its answer is cut off")),
            Some(Ok(())) => Ok(None),
            None => Err(Status::new(Code::Unknown, "its answer ended without a status")),
        }
    }
}

/// The failure that an HTTP status stands for, by gRPC's table.
fn from_http(status: StatusCode) -> Status {
    let code = match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    };
    Status::new(code, format!("it answered with the HTTP status {status}"))
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use hyper::header::{HeaderMap, HeaderValue};

    use super::super::GRPC_STATUS;
    use super::super::framing::frame;
    use super::*;

    type Chunk = Result<Frame<Bytes>, std::io::Error>;

    fn status(code: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static(code))])
    }

    fn data(bytes: impl Into<Bytes>) -> Chunk {
        Ok(Frame::data(bytes.into()))
    }

    fn trailers(code: &'static str) -> Chunk {
        Ok(Frame::trailers(status(code)))
    }

    /// The outcome of a unary call with this response.
    async fn check(
        http: u16,
        headers: HeaderMap,
        chunks: impl IntoIterator<Item = Chunk>,
    ) -> Result<Bytes, (Code, String)> {
        let chunks: Vec<Chunk> = chunks.into_iter().collect();
        let mut response = Response::new(StreamBody::new(stream::iter(chunks)));
        *response.status_mut() = StatusCode::from_u16(http).unwrap();
        *response.headers_mut() = headers;
        let single = async { Messages::new(response, 1 << 20)?.single().await };
        single.await.map_err(|status| (status.code(), status.to_string()))
    }

    fn failed(code: Code, message: &str) -> Result<Bytes, (Code, String)> {
        Err((code, message.to_owned()))
    }

    fn one() -> Bytes {
        frame(b"one", 100).unwrap()
    }

    #[tokio::test]
    async fn a_call_succeeds_with_one_message_and_a_status() {
        let none = HeaderMap::new;
        let whole = check(200, none(), [data(one()), trailers("0")]).await;
        assert_eq!(whole, Ok(Bytes::from("one")));
        let split = [data(one().slice(..2)), data(""), data(one().slice(2..)), trailers("0")];
        assert_eq!(check(200, none(), split).await, Ok(Bytes::from("one")));
        // Told early, and not contradicted.
        assert_eq!(check(200, status("0"), [data(one())]).await, Ok(Bytes::from("one")));
        assert_eq!(
            check(200, status("0"), [data(one()), Ok(Frame::trailers(none()))]).await,
            Ok(Bytes::from("one"))
        );
    }

    #[tokio::test]
    async fn the_status_of_the_server_is_the_outcome() {
        let none = HeaderMap::new;
        let unknown_call = failed(Code::Unimplemented, "it gave no reason but the gRPC status Unimplemented");
        assert_eq!(check(200, status("12"), []).await, unknown_call);
        assert_eq!(check(503, status("12"), [data("ignored")]).await, unknown_call);
        assert_eq!(check(200, none(), [trailers("12")]).await, unknown_call);
        assert_eq!(check(200, none(), [data(one()), trailers("12")]).await, unknown_call);
        assert_eq!(check(200, none(), [data(one().slice(..6)), trailers("12")]).await, unknown_call);
        assert_eq!(check(200, status("0"), [data(one()), trailers("12")]).await, unknown_call);
    }

    #[tokio::test]
    async fn an_incomplete_response_is_no_success() {
        let none = HeaderMap::new;
        let no_status = failed(Code::Unknown, "its answer ended without a status");
        assert_eq!(check(200, none(), []).await, no_status);
        assert_eq!(check(200, none(), [data(one())]).await, no_status);
        assert_eq!(check(200, none(), [data(one()), Ok(Frame::trailers(none()))]).await, no_status);
        let cut_off = failed(Code::Internal, "its answer is cut off");
        assert_eq!(check(200, none(), [data(one().slice(..6)), trailers("0")]).await, cut_off);
        assert_eq!(check(200, none(), [data(one().slice(..2))]).await, cut_off);
        assert_eq!(
            check(200, none(), [trailers("0")]).await,
            failed(Code::Internal, "its answer has no message")
        );
        assert_eq!(
            check(200, none(), [data([one(), one()].concat()), trailers("0")]).await,
            failed(Code::Internal, "its answer has more than one message")
        );
    }

    #[tokio::test]
    async fn a_response_without_a_status_fails_by_its_http_status() {
        let page = || [data("<html>")];
        assert_eq!(
            check(404, HeaderMap::new(), page()).await,
            failed(Code::Unimplemented, "it answered with the HTTP status 404 Not Found")
        );
        assert_eq!(
            check(502, HeaderMap::new(), page()).await,
            failed(Code::Unavailable, "it answered with the HTTP status 502 Bad Gateway")
        );
        assert_eq!(
            check(200, HeaderMap::new(), page()).await,
            failed(Code::Internal, "its answer is not gRPC")
        );
    }

    #[tokio::test]
    async fn a_broken_connection_is_told_from_a_failed_call() {
        let broken: [Chunk; 2] = [data(one()), Err(std::io::ErrorKind::BrokenPipe.into())];
        let response = Response::new(StreamBody::new(stream::iter(broken)));
        let status = Messages::new(response, 100).unwrap().single().await.unwrap_err();
        assert!(status.is_connection_lost());
        assert_eq!(status.to_string(), "broken pipe");
    }
}
