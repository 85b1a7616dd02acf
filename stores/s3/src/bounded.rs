//! Answers of a bounded size: a service may declare or send more than there is memory (BOUND-2).

use std::error::Error;

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
pub(crate) const TOO_LARGE: &str = "the answer has more than 1024 MiB";

/// Connects with the client that the library would use, and bounds its answers.
#[derive(Debug, Default)]
pub(crate) struct Bounded(ReqwestConnector);

impl HttpConnector for Bounded {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(BoundedService(self.0.connect(options)?)))
    }
}

#[derive(Debug)]
struct BoundedService(HttpClient);

#[async_trait]
impl HttpService for BoundedService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = self.0.execute(request).await?;
        let declared = response.headers().get("content-length").and_then(|it| it.to_str().ok()?.parse().ok());
        // Room for all of it would be made before any of it came.
        if declared.is_some_and(|declared: usize| declared > ANSWER_BYTES_MAX) {
            return Err(too_large());
        }
        // A connection that breaks in the middle of an answer keeps its own error, which may be tried again.
        let cause = |error: Box<dyn Error + Send + Sync>| {
            error.downcast::<HttpError>().map_or_else(|_| too_large(), |broken| *broken)
        };
        let bounded = |body| Limited::new(body, ANSWER_BYTES_MAX).map_err(cause);
        Ok(response.map(|body| HttpResponseBody::new(bounded(body))))
    }
}

fn too_large() -> HttpError {
    HttpError::new(HttpErrorKind::Decode, std::io::Error::other(TOO_LARGE))
}
