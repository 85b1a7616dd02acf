//! Sending a request and taking its answer, bounded in time and size.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, Url};
use trueup_core::Value;
use trueup_provider::{CallContext, Result};

/// The largest answer.
const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A request, ready to be sent.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Whether the URL must not be told.
    pub(crate) url_is_secret: bool,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
}

/// An answer, whatever it says.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Why there is no answer.
pub(crate) enum NoAnswer {
    /// The request never got there.
    NotSent(String),
    /// It may have got there.
    Lost(String),
    /// It was answered, and what was answered is of no use: it is too long, or redirects too often.
    Unusable(String),
}

impl Outgoing {
    /// What it is, for messages: without the query, which may hold secrets.
    pub(crate) fn title(&self) -> String {
        if self.url_is_secret {
            return format!("{} (secret)", self.method);
        }
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        // Fails only for URLs that cannot have them.
        let _ = url.set_password(None);
        let _ = url.set_username("");
        format!("{} {url}", self.method)
    }

    /// Sends it and waits for the whole answer.
    pub(crate) async fn send(self, client: &Client, call: &CallContext) -> Result<Answer, NoAnswer> {
        let seconds = self.timeout.as_secs_f64();
        let mut request = client.request(self.method, self.url).headers(self.headers);
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let work = async {
            let mut response = request.send().await.map_err(|error| lost(&error))?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(|error| lost(&error))? {
                body.extend_from_slice(&chunk);
                if body.len() > BODY_BYTES_MAX {
                    let message = format!("the answer has more than {} MiB", BODY_BYTES_MAX / (1024 * 1024));
                    return Err(NoAnswer::Unusable(message));
                }
            }
            Ok(Answer { status, headers, body })
        };
        let (out_of_time, cancelled) = (call.clock.sleep(self.timeout), pin!(call.cancellation.cancelled()));
        match select(pin!(work), select(out_of_time, cancelled)).await {
            Either::Left((answered, _)) => answered,
            Either::Right((Either::Left(_), _)) => {
                Err(NoAnswer::Lost(format!("no answer within {seconds} s")))
            }
            Either::Right((Either::Right(_), _)) => Err(NoAnswer::Lost("the run is being ended".to_owned())),
        }
    }
}

impl Answer {
    /// The body as a value: JSON as what it says, anything else as text, nothing as null.
    pub(crate) fn value(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        if text.trim().is_empty() {
            return Value::NULL;
        }
        Value::from_plain_json(&text).unwrap_or_else(|_| Value::from(text.into_owned()))
    }
}

fn lost(error: &reqwest::Error) -> NoAnswer {
    let mut message = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        // The innermost cause says most: the outer ones only say that sending failed.
        message = error.to_string();
        cause = error.source();
    }
    if message.is_empty() {
        // Its own words hold the URL, with a query that may be secret.
        message = "the connection failed".to_owned();
    }
    if error.is_redirect() {
        NoAnswer::Unusable(message)
    } else if error.is_connect() || error.is_builder() {
        NoAnswer::NotSent(message)
    } else {
        NoAnswer::Lost(message)
    }
}
