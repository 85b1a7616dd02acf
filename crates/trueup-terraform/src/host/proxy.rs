//! Passing on what a run asks of the plugin.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Request, Response};
use prost::Message;
use prost::bytes::Bytes;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

use super::kept::{Begun, KeptAnswers, Ticket};
use super::spool::Spool;
use super::{TICKET_HEADER, VERSION_HEADER, WORDS_PATH};
use crate::client::{Client, Version};
use crate::grpc::{Body, Channel, Code, GRPC_CONTENT_TYPE, GRPC_STATUS, Status};
use crate::protocol::diagnostic::Severity;
use crate::protocol::{Diagnostic, DiagnosticsResponse, ValidateProviderResponse};

/// A whole answer: its message and how the call ended.
type Answer = (Response<()>, Bytes, HeaderMap);

/// The plugin, and what is known of how it is used.
pub(super) struct Proxy {
    version: Version,
    channel: Channel,
    pub(super) spool: Arc<Spool>,
    pub(super) kept: KeptAnswers,
    /// The changes that are under way, whether or not someone waits for them.
    pub(super) changes: TaskTracker,
    /// It was asked to stop, and will do nothing more.
    pub(super) stopped: AtomicBool,
    /// Whoever used it went away in good order: nobody will ask what came of a change.
    pub(super) left: AtomicBool,
    /// The configuration that it judged, what it was configured with, and what it answered.
    configuration: Mutex<BTreeMap<Setting, (Bytes, Answer)>>,
}

/// What is asked once of a plugin. Large ones take seconds for the first: they look at all they have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Setting {
    Validate,
    Configure,
}

impl Proxy {
    pub(super) fn new(client: &Client, spool: Arc<Spool>, kept: KeptAnswers) -> Self {
        Proxy {
            version: client.version(),
            channel: client.channel().clone(),
            spool,
            kept,
            changes: TaskTracker::new(),
            stopped: AtomicBool::new(false),
            left: AtomicBool::new(false),
            configuration: Mutex::default(),
        }
    }

    /// Answers a request.
    pub(super) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let path = request.uri().path().to_owned();
        let method = path.rsplit('/').next().unwrap_or_default();
        let answered = match method {
            _ if path == WORDS_PATH => Ok(self.words()),
            "Shutdown" => {
                self.left.store(true, Ordering::Relaxed);
                Ok(empty())
            }
            "PrepareProviderConfig" | "ValidateProviderConfig" => self.set(Setting::Validate, request).await,
            "Configure" | "ConfigureProvider" => self.set(Setting::Configure, request).await,
            _ if request.headers().contains_key(TICKET_HEADER) => self.change(request).await,
            _ => {
                if matches!(method, "Stop" | "StopProvider") {
                    self.stopped.store(true, Ordering::Relaxed);
                }
                self.pass_on(request.map(passed_on)).await
            }
        };
        Ok(answered.unwrap_or_else(refused))
    }

    async fn pass_on(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        Ok(self.channel.send(request).await?.map(passed_on))
    }

    async fn whole(&self, request: Request<Body>) -> Result<Answer, Status> {
        let (parts, body) = self.pass_on(request).await?.into_parts();
        let collected = body.collect().await?;
        let trailers = collected.trailers().cloned().unwrap_or_default();
        Ok((Response::from_parts(parts, ()), collected.to_bytes(), trailers))
    }

    /// A plugin is configured once. Whoever asks for the same again gets the same answer.
    async fn set(&self, setting: Setting, request: Request<Incoming>) -> Result<Response<Body>, Status> {
        let (parts, body) = request.into_parts();
        let asked = passed_on(body).collect().await?.to_bytes();
        let mut configuration = self.configuration.lock().await;
        if let Some((before, answer)) = configuration.get(&setting)
            && *before == asked
        {
            return Ok(answered(answer.clone()));
        }
        let answer = self.whole(Request::from_parts(parts, full(asked.clone()))).await?;
        if !setting.went_well(&answer) {
            // Whoever tries again may have put right what was wrong: that takes another process.
            self.stopped.store(true, Ordering::Relaxed);
        }
        configuration.insert(setting, (asked, answer.clone()));
        Ok(answered(answer))
    }

    /// Asks for a change, whose answer is kept whether or not anyone still waits for it.
    async fn change(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Body>, Status> {
        let ticket = request.headers().get(TICKET_HEADER).and_then(|it| it.to_str().ok()?.parse().ok());
        let ticket = Ticket(ticket.ok_or_else(|| Status::new(Code::InvalidArgument, "that is no ticket"))?);
        let (mut parts, body) = request.into_parts();
        parts.headers.remove(TICKET_HEADER);
        let asked = passed_on(body).collect().await?.to_bytes();
        let kept = self.kept.clone();
        let begun = tokio::task::spawn_blocking(move || kept.begin(ticket)).await;
        // The plugin has not been asked yet.
        let unkept = |error: String| {
            Status::new(Code::InvalidArgument, format!("its answer could not be kept: {error}"))
        };
        let begun =
            begun.map_err(|error| unkept(error.to_string()))?.map_err(|error| unkept(error.to_string()))?;
        let own = self.clone();
        let changing = self.changes.spawn(async move {
            let answer = own.whole(Request::from_parts(parts, full(asked))).await?;
            keep(begun, &answer).await;
            Ok::<Answer, Status>(answer)
        });
        let answer = changing.await.map_err(|error| Status::connection_lost(&error))??;
        Ok(answered(answer))
    }

    /// What the plugin prints, line by line for as long as it lives.
    fn words(&self) -> Response<Body> {
        let lines = futures_util::stream::unfold(self.spool.clone(), |spool| async move {
            let line = spool.next().await?;
            Some((Ok(Frame::data(Bytes::from(line + "\n"))), spool))
        });
        let mut response = Response::new(StreamBody::new(lines).boxed_unsync());
        let version = match self.version {
            Version::V5 => "5",
            Version::V6 => "6",
        };
        response.headers_mut().insert(VERSION_HEADER, HeaderValue::from_static(version));
        response
    }
}

/// Keeps the answer of a call that succeeded. One without a status is cut off: part of a message can read like another
/// message, such as one of an object that was not created. That it cannot be kept is no reason not to give it.
async fn keep(begun: Begun, (_, message, trailers): &Answer) {
    if trailers.get(GRPC_STATUS).is_none_or(|status| status != "0") {
        return;
    }
    let message = message.clone();
    let kept = tokio::task::spawn_blocking(move || begun.keep(&message)).await;
    if let Ok(Err(error)) = kept {
        tracing::warn!("an answer could not be kept: {error}");
    }
}

impl Setting {
    /// Whether a configuration was taken without complaint. The message stands behind five bytes that say how long it is.
    fn went_well(self, (_, message, trailers): &Answer) -> bool {
        let told = message.get(5..).and_then(|message| match self {
            Setting::Validate => ValidateProviderResponse::decode(message).ok().map(|told| told.diagnostics),
            Setting::Configure => DiagnosticsResponse::decode(message).ok().map(|told| told.diagnostics),
        });
        let fine = |told: Vec<Diagnostic>| told.iter().all(|it| it.severity() != Severity::Error);
        trailers.get(GRPC_STATUS).is_some_and(|status| status == "0") && told.is_some_and(fine)
    }
}

fn answered((response, message, trailers): Answer) -> Response<Body> {
    let body = Full::new(message).with_trailers(async move { Some(Ok(trailers)) });
    response.map(|()| body.map_err(|never| match never {}).boxed_unsync())
}

fn full(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

/// An empty message: no compression, no bytes.
fn empty() -> Response<Body> {
    let mut response = Response::new(());
    response.headers_mut().insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    let trailers = HeaderMap::from_iter([(GRPC_STATUS, HeaderValue::from_static("0"))]);
    answered((response, Bytes::from_static(&[0; 5]), trailers))
}

fn refused(status: Status) -> Response<Body> {
    status.into_response().map(|()| full(Bytes::new()))
}

fn passed_on(body: Incoming) -> Body {
    body.map_err(|error| Status::connection_lost(&error)).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use trueup_provider::IdempotencyToken;

    use super::super::Outcome;
    use super::*;

    #[tokio::test]
    async fn only_the_answer_of_a_call_that_succeeded_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let kept = KeptAnswers::new(folder.path().to_owned());
        let answer = Outcome::Answer(b"answer".to_vec());
        for (status, outcome) in
            [(Some("0"), answer), (Some("2"), Outcome::Unanswered), (None, Outcome::Unanswered)]
        {
            let ticket = Ticket(IdempotencyToken::fresh());
            let status = status.map(|status| (GRPC_STATUS, HeaderValue::from_static(status)));
            let answer = (Response::new(()), Bytes::from("answer"), HeaderMap::from_iter(status));
            keep(kept.begin(ticket).unwrap(), &answer).await;
            assert_eq!(kept.look(ticket).unwrap(), outcome);
        }
    }
}
