//! The data source `std_http`: what a web address answers.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use trueup_core::{Marked, Value};
use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::http::{Question, Request, get};
use crate::surroundings::Surroundings;

/// What a web address answers. It is asked at every plan, so ask only what changes nothing.
#[derive(Inputs)]
pub struct HttpAnswer {
    /// The address.
    url: Marked<String>,
    /// The method.
    #[trueup(default = "GET", one_of("GET", "HEAD", "POST"))]
    method: String,
    /// Headers. Secrets among them are shown nowhere.
    #[trueup(default)]
    headers: BTreeMap<String, Marked<String>>,
    /// A body for a query by `POST`, sent as JSON.
    body: Option<Value>,
    /// The statuses that are no error; if it is not set, all of 200 to 299.
    statuses: Option<Vec<u16>>,
    /// Whether the answer is secret, also one that is an error.
    #[trueup(default)]
    secret: bool,
    /// How long to wait for the answer, in seconds.
    #[trueup(default = 30.0, range(min = 0.001, max = 86400))]
    timeout: f64,
    /// Certificates to trust beside those of the system, as PEM.
    ca_pem: Option<String>,
}

/// An answer.
#[derive(Outputs)]
pub struct HttpAnswerOutput {
    /// The status.
    status: u16,
    /// The headers, their names in lower case.
    headers: BTreeMap<String, Marked<String>>,
    /// The body as text.
    body: Marked<String>,
    /// The body as what its JSON says; text if it is none.
    response: Value,
}

impl DataSource for HttpAnswer {
    type Output = HttpAnswerOutput;
    type Config = Surroundings;

    async fn read(&self, context: &Context<Surroundings>) -> Result<HttpAnswerOutput> {
        let timeout = Duration::try_from_secs_f64(self.timeout)
            .map_err(|_| Error::invalid("this is no number of seconds").at("timeout"))?;
        let method = Method::from_bytes(self.method.as_bytes())
            .map_err(|_| Error::invalid("this is not a method").at("method"))?;
        let request = Request::plain(self.url.clone(), self.body.clone());
        let accepted = |status: u16| match &self.statuses {
            Some(statuses) => statuses.contains(&status),
            None => (200..300).contains(&status),
        };
        let question = Question {
            method,
            headers: &self.headers,
            ca_pem: self.ca_pem.as_deref(),
            timeout,
            accepted: &accepted,
            is_secret: self.secret,
        };
        let answer = get(&request, question, context).await?;
        let shown = |value: &reqwest::header::HeaderValue| {
            Marked::new(String::from_utf8_lossy(value.as_bytes()).into_owned(), self.secret)
        };
        Ok(HttpAnswerOutput {
            status: answer.status,
            headers: answer.headers.iter().map(|(name, value)| (name.to_string(), shown(value))).collect(),
            body: Marked::new(String::from_utf8_lossy(&answer.body).into_owned(), self.secret),
            response: answer.value().into_secret_if(self.secret),
        })
    }
}
