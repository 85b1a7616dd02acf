//! Calls over real sockets, to servers that behave and to servers that don't.

use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, TE};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::bytes::Bytes;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Barrier, mpsc};
use tokio::time::timeout;

use super::framing::frame;
use super::*;

const MESSAGE_SIZE_MAX: usize = 1 << 20;

const TEST_HEADER: HeaderName = HeaderName::from_static("x-test");

/// The frame that opens a server's side of a connection: SETTINGS, empty.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// GOAWAY without an error: no request was accepted.
const GOAWAY: [u8; 17] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

type Answer = Response<http_body_util::combinators::UnsyncBoxBody<Bytes, io::Error>>;

/// A place to listen at.
struct Socket {
    folder: TempDir,
    listener: UnixListener,
}

impl Socket {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let listener = UnixListener::bind(folder.path().join("socket")).unwrap();
        Socket { folder, listener }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    async fn accept(&self) -> UnixStream {
        self.listener.accept().await.unwrap().0
    }
}

async fn connect(socket: &Socket) -> Channel {
    let path = socket.path();
    let connector: Connector = Box::new(move || {
        let path = path.clone();
        Box::pin(async move { Ok(Box::new(UnixStream::connect(path).await?) as Box<dyn Duplex>) })
    });
    Channel::connect(connector).await.unwrap()
}

async fn call(channel: &Channel) -> Result<Bytes, Status> {
    channel.unary("/test.Service/Method", HeaderMap::new(), b"request", MESSAGE_SIZE_MAX).await
}

/// Waits until the client notices that its connection is closed.
async fn closed(channel: &Channel) {
    while !channel.is_closed().await {
        tokio::task::yield_now().await;
    }
}

/// Serves one connection until it ends.
async fn serve<F>(stream: UnixStream, answer: impl Fn(Request<Incoming>) -> F)
where
    F: Future<Output = Answer> + Send + 'static,
{
    let service = service_fn(|request| {
        let answer = answer(request);
        async move { Ok::<_, Infallible>(answer.await) }
    });
    let _ = http2::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

fn answer(chunks: impl IntoIterator<Item = Result<Frame<Bytes>, io::Error>>) -> Answer {
    let chunks: Vec<_> = chunks.into_iter().collect();
    Response::new(StreamBody::new(stream::iter(chunks)).boxed_unsync())
}

fn success(message: &[u8]) -> Answer {
    let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
    let message = frame(message, MESSAGE_SIZE_MAX).unwrap();
    answer([Ok(Frame::data(message)), Ok(Frame::trailers(trailers))])
}

/// The outcome of one call to a server that answers like this.
async fn outcome(response: Answer) -> Result<Bytes, Status> {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let response = Cell::new(Some(response));
    let stream = socket.accept().await;
    let serving = serve(stream, |_| {
        let response = response.take().unwrap();
        async move { response }
    });
    let calling = async {
        let outcome = timeout(Duration::from_secs(20), call(&channel)).await.unwrap();
        drop(channel);
        outcome
    };
    join(serving, calling).await.1
}

#[tokio::test]
async fn a_request_is_what_servers_of_grpc_expect() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let stream = socket.accept().await;
    let (sender, mut requests) = mpsc::unbounded_channel();
    let serving = serve(stream, |request| {
        let sender = sender.clone();
        async move {
            let (parts, body) = request.into_parts();
            sender.send((parts, body.collect().await.unwrap().to_bytes())).unwrap();
            success(b"response")
        }
    });
    let calling = async {
        let headers = HeaderMap::from_iter([(TEST_HEADER, HeaderValue::from_static("yes"))]);
        let path = "/test.Service/Method";
        let response = channel.unary(path, headers, b"request", MESSAGE_SIZE_MAX).await;
        assert_eq!(response.unwrap(), "response");
        let (parts, body) = requests.recv().await.unwrap();
        assert_eq!((parts.method, parts.uri.path()), (Method::POST, path));
        assert_eq!(parts.uri.authority().unwrap(), "localhost");
        assert_eq!(parts.headers[CONTENT_TYPE], "application/grpc");
        assert_eq!(parts.headers[TE], "trailers");
        assert_eq!(parts.headers[TEST_HEADER], "yes");
        assert_eq!(body, frame(b"request", MESSAGE_SIZE_MAX).unwrap());
        // The connection ends with its channel.
        drop(channel);
    };
    timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
}

#[tokio::test]
async fn calls_in_flight_share_a_connection() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let stream = socket.accept().await;
    // Nobody is answered before all have asked.
    let everyone = Arc::new(Barrier::new(5));
    let serving = serve(stream, |_| {
        let everyone = everyone.clone();
        async move {
            everyone.wait().await;
            success(b"response")
        }
    });
    let calling = async {
        let outcomes = futures_util::future::join_all((0..5).map(|_| call(&channel))).await;
        assert!(outcomes.iter().all(|outcome| *outcome == Ok(Bytes::from("response"))), "{outcomes:?}");
        drop(channel);
    };
    timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
}

#[tokio::test]
async fn a_dropped_call_is_reset_and_leaves_the_connection_usable() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let stream = socket.accept().await;
    let (begun, mut first_begun) = mpsc::channel::<()>(1);
    let (held, mut first_reset) = mpsc::channel::<()>(1);
    let held = Cell::new(Some(held));
    let serving = serve(stream, |_| {
        let (held, begun) = (held.take(), begun.clone());
        async move {
            let Some(_held) = held else { return success(b"second") };
            begun.send(()).await.unwrap();
            std::future::pending().await
        }
    });
    let calling = async {
        let first = call(&channel);
        tokio::select! {
            _ = first => panic!("nobody answers it"),
            _ = first_begun.recv() => {}
        }
        assert_eq!(first_reset.recv().await, None);
        assert_eq!(call(&channel).await.unwrap(), "second");
        drop(channel);
    };
    timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
}

#[tokio::test]
async fn a_stream_of_messages_is_read_to_its_end() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let stream = socket.accept().await;
    let serving = serve(stream, |_| async {
        let messages = ["one", "two", ""].map(|it| frame(it.as_bytes(), 100).unwrap()).concat();
        let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
        let chunks = messages.chunks(3).map(|chunk| Ok(Frame::data(Bytes::copy_from_slice(chunk))));
        answer(chunks.chain([Ok(Frame::trailers(trailers))]))
    });
    let calling = async {
        let mut messages = channel.call("/test.Service/Stream", HeaderMap::new(), b"", 100).await.unwrap();
        for expected in [Some("one"), Some("two"), Some(""), None] {
            assert_eq!(messages.next().await.unwrap().as_deref(), expected.map(str::as_bytes));
        }
        drop((messages, channel));
    };
    timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
}

#[tokio::test]
async fn hostile_responses_are_refused() {
    let failure = |code, text: &str| Err(Status::new(code, text));
    let trailers_only = Status::new(Code::NotFound, "nothing, 100% of it\n…");
    let response = trailers_only.clone().into_response();
    let response = response.map(|()| Full::default().map_err(|never| match never {}).boxed_unsync());
    assert_eq!(outcome(response).await, Err(trailers_only));
    let oversized = [0, 255, 255, 255, 255];
    // A body that never ends is not read on.
    let endless = stream::repeat_with(move || Ok(Frame::data(Bytes::copy_from_slice(&oversized))));
    assert_eq!(
        outcome(Response::new(StreamBody::new(endless).boxed_unsync())).await,
        failure(Code::ResourceExhausted, "its answer is larger than 1 MiB")
    );
    let one = || frame(b"one", 100).unwrap();
    let endless = stream::repeat_with(move || Ok(Frame::data(one())));
    assert_eq!(
        outcome(Response::new(StreamBody::new(endless).boxed_unsync())).await,
        failure(Code::Internal, "its answer has more than one message")
    );
    assert_eq!(
        outcome(answer([Ok(Frame::data(one()))])).await,
        failure(Code::Unknown, "its answer ended without a status")
    );
    assert_eq!(
        outcome(answer([Ok(Frame::data(Bytes::from("HTTP/1.1 what?")))])).await,
        failure(Code::Internal, "its answer is not gRPC")
    );
    let mut details = Status::new(Code::Aborted, "no").into_response();
    details.headers_mut().insert("grpc-status-details-bin", HeaderValue::from_static("!no base64!"));
    let details = details.map(|()| Full::default().map_err(|never| match never {}).boxed_unsync());
    assert_eq!(outcome(details).await, failure(Code::Aborted, "no"));
}

#[tokio::test]
async fn a_reset_stream_is_a_lost_connection() {
    let broken = Err(io::Error::other("the server gave up"));
    let lost = outcome(answer([Ok(Frame::data(Bytes::from_static(&[0; 3]))), broken])).await.unwrap_err();
    assert!(lost.is_connection_lost(), "{lost:?}");
    assert_eq!(lost.code(), Code::Unavailable);
}

/// Servers that break the connection in one way or another; what each sends before it does.
#[tokio::test]
async fn the_call_after_a_lost_connection_opens_another() {
    let goaway = [SETTINGS.as_slice(), &GOAWAY].concat();
    let unknown_frames = [SETTINGS.as_slice(), &[255; 64]].concat();
    for sent in [&b""[..], b"\0", b"HTTP/1.1 400 Bad Request\r\n\r\n", &SETTINGS, &goaway, &unknown_frames] {
        let socket = Socket::new();
        let channel = connect(&socket).await;
        let serving = async {
            let mut stream = socket.accept().await;
            // The call is on its way before the connection breaks.
            assert!(stream.read(&mut [0; 100]).await.unwrap() > 0);
            stream.write_all(sent).await.unwrap();
            if sent == goaway {
                // The client closes the connection, which has no request left.
                let _ = stream.read_to_end(&mut Vec::new()).await;
            }
            drop(stream);
            serve(socket.accept().await, |_| async { success(b"second") }).await;
        };
        let calling = async {
            let lost = call(&channel).await.unwrap_err();
            assert!(lost.is_connection_lost(), "{sent:?}: {lost:?}");
            closed(&channel).await;
            assert_eq!(call(&channel).await.unwrap(), "second");
            drop(channel);
        };
        timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
    }
}

/// Servers may close connections that nobody uses.
#[tokio::test]
async fn a_connection_closed_in_good_order_fails_no_call() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    let serving = async {
        for message in ["first", "second"] {
            let (answered, mut close) = mpsc::channel::<()>(1);
            let service = service_fn(|_| {
                let answered = answered.clone();
                async move {
                    answered.send(()).await.unwrap();
                    Ok::<_, Infallible>(success(message.as_bytes()))
                }
            });
            let stream = TokioIo::new(socket.accept().await);
            let mut serving =
                std::pin::pin!(http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service));
            tokio::select! {
                _ = &mut serving => panic!("the client went away"),
                _ = close.recv() => serving.as_mut().graceful_shutdown(),
            }
            // The client may be gone before the last frame is out.
            let _ = serving.await;
        }
    };
    let calling = async {
        assert_eq!(call(&channel).await.unwrap(), "first");
        closed(&channel).await;
        assert_eq!(call(&channel).await.unwrap(), "second");
    };
    timeout(Duration::from_secs(20), join(serving, calling)).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_gone_is_a_lost_connection() {
    let socket = Socket::new();
    let channel = connect(&socket).await;
    drop(socket.accept().await);
    drop(socket);
    for _ in 0..2 {
        let lost = timeout(Duration::from_secs(20), call(&channel)).await.unwrap().unwrap_err();
        assert!(lost.is_connection_lost(), "{lost:?}");
    }
}
