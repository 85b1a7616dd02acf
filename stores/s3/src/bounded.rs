//! Answers of a bounded size: a service may declare or send more than there is memory (BOUND-2).

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use http_body_util::{BodyExt, Limited};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService, ReqwestConnector,
};

/// More than any object of a store: the largest hold the records of a stage.
const ANSWER_BYTES_MAX: usize = 1 << 30;

/// What the error of an answer beyond that says.
const TOO_LARGE: &str = "the answer has more than 1024 MiB";

/// The largest page of a list: a thousand names of a kilobyte each, with what stands beside them.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// What the error of a page beyond that says.
const PAGE_TOO_LARGE: &str = "a page of the list has more than 4 MiB";

/// The largest refusal.
const REFUSAL_BYTES_MAX: usize = 1 << 20;

/// What the error of a refusal beyond that says.
const REFUSAL_TOO_LARGE: &str = "an error of the service has more than 1 MiB";

/// How many pages a list may have. One that goes on has no end.
const PAGES_MAX: usize = 256;

/// What the error of a list beyond that says.
const ENDLESS: &str = "the list has more than 256 pages";

/// Whether a text is what is said of an answer beyond a bound. The next one would be as large.
pub(crate) fn is_of_bounds(text: &str) -> bool {
    [TOO_LARGE, PAGE_TOO_LARGE, REFUSAL_TOO_LARGE, ENDLESS].contains(&text)
}

/// Connects with the client that the library would use, and bounds its answers.
#[derive(Debug, Default)]
pub(crate) struct Bounded(ReqwestConnector);

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(BoundedService { client: self.0.connect(options)?, pages: AtomicUsize::new(0) }))
    }
}

#[derive(Debug)]
struct BoundedService {
    client: HttpClient,
    /// How many pages of a list were asked for, from its first one on.
    pages: AtomicUsize,
}

impl BoundedService {
    /// The size that the answer may have, and what an error says of one that has more.
    fn bound(&self, query: &str) -> Result<(usize, &'static str), HttpError> {
        let is_set = |name: &str| query.split('&').any(|it| it.split('=').next() == Some(name));
        if !is_set("list-type") {
            return Ok((ANSWER_BYTES_MAX, TOO_LARGE));
        }
        if !is_set("continuation-token") {
            self.pages.store(0, Ordering::Relaxed);
        }
        match self.pages.fetch_add(1, Ordering::Relaxed) {
            PAGES_MAX.. => Err(refusal(ENDLESS)),
            _ => Ok((PAGE_BYTES_MAX, PAGE_TOO_LARGE)),
        }
    }
}

#[async_trait]
impl HttpService for BoundedService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (bytes_max, too_large) = self.bound(request.uri().query().unwrap_or_default())?;
        let response = self.client.execute(request).await?;
        let is_refusal = !response.status().is_success();
        let (bytes_max, too_large) =
            if is_refusal { (REFUSAL_BYTES_MAX, REFUSAL_TOO_LARGE) } else { (bytes_max, too_large) };
        let declared = response.headers().get("content-length").and_then(|it| it.to_str().ok()?.parse().ok());
        // Room for all of it would be made before any of it came.
        if declared.is_some_and(|declared: usize| declared > bytes_max) {
            return Err(refusal(too_large));
        }
        // A connection that breaks in the middle of an answer keeps its own error, which may be tried again.
        let cause = move |error: Box<dyn Error + Send + Sync>| {
            error.downcast::<HttpError>().map_or_else(|_| refusal(too_large), |broken| *broken)
        };
        let bounded = |body| Limited::new(body, bytes_max).map_err(cause);
        Ok(response.map(|body| HttpResponseBody::new(bounded(body))))
    }
}

fn refusal(said: &'static str) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, std::io::Error::other(said))
}
