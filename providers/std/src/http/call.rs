//! From an operation to its request, and from the answer to outputs.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::Method;
use trueup_core::{Kind, Marked, Value};
use trueup_provider::{Binding, Context, Converge, Error, Recovery, Result};

use super::client::new_client;
use super::send::Answer;
use super::status::Judgement;
use super::template::{TOKEN, Variables};
use super::{Http, HttpOutput, Request, pointer};
use crate::purpose::Purpose;
use crate::surroundings::Surroundings;

/// What an error shows instead of an answer that is secret.
const CONCEALED: &str = "(secret)";

/// The method of a request that names none.
pub(super) fn method_for(purpose: Purpose) -> Method {
    match purpose {
        Purpose::Create | Purpose::Precreate => Method::POST,
        Purpose::Update => Method::PUT,
        Purpose::Delete => Method::DELETE,
        Purpose::Read | Purpose::Lookup => Method::GET,
    }
}

/// What a request knows beside the resource's inputs.
#[derive(Clone, Copy, Default)]
pub(super) struct Known<'a> {
    pub(super) output: Option<&'a HttpOutput>,
    /// What others attach.
    pub(super) bindings: &'a [Binding],
}

impl<'a> Known<'a> {
    /// An object, and nothing that is attached.
    pub(super) fn of(output: &'a HttpOutput) -> Self {
        Known { output: Some(output), bindings: &[] }
    }
}

impl Http {
    /// Sends a request and takes a successful answer.
    pub(super) async fn call(
        &self,
        purpose: Purpose,
        request: &Request,
        context: &Context<Surroundings>,
        known: Known<'_>,
    ) -> Result<Answer> {
        let Known { output, bindings } = known;
        let variables = Variables {
            fixed: vec![
                ("id", output.and_then(|output| output.id.clone())),
                ("name", Some(output.map_or_else(|| context.physical_name(), |output| output.name.clone()))),
                (TOKEN, context.token.map(|token| token.to_string())),
                ("address", Some(context.address.to_string())),
                ("stack", Some(context.owner.stack.to_string())),
                ("stage", Some(context.owner.stage.to_string())),
            ],
            response: output.map(|output| output.response.clone()),
            bindings: bindings.iter().map(|it| (it.key.to_string(), it.payload.clone())).collect(),
        };
        let timeout = Duration::try_from_secs_f64(self.timeout)
            .map_err(|_| Error::invalid("this is no number of seconds").at("timeout"))?;
        let outgoing = request.outgoing(method_for(purpose), &self.headers, &variables, timeout)?;
        let title = context.scrubbed(&outgoing.title());
        let judgement = Judgement {
            purpose,
            outcomes: self.outcomes.as_ref(),
            retry_statuses: &self.retry_statuses,
            recovery: self.recovery(),
            repeatable: request.is_idempotent(&method_for(purpose)),
            title: &title,
        };
        let client = client(self.ca_pem.as_deref(), context)?;
        let answer = outgoing.send(&client, context).await.map_err(|none| judgement.unanswered(none))?;
        // The answer and what follows it may repeat its secrets elsewhere.
        let response = self.response(request, &answer)?;
        context.secrets.learn([&response]);
        match answer.status {
            200..=299 => Ok(answer),
            // It may hold any of them.
            _ if self.has_secret_responses() && is_unreadable_json(&answer.value()) => {
                Err(judgement.refused(&answer, CONCEALED))
            }
            _ => Err(judgement.refused(&answer, &context.scrubbed(&String::from_utf8_lossy(&answer.body)))),
        }
    }

    fn has_secret_responses(&self) -> bool {
        self.secret_responses.iter().flatten().next().is_some()
    }

    /// The part of an answer that is about the object, with its secrets marked.
    fn response(&self, request: &Request, answer: &Answer) -> Result<Value> {
        let mut response = answer.value();
        // Words of a refusal are an error and kept nowhere; what is known to be secret is taken out of them.
        let is_kept = (200..300).contains(&answer.status);
        if self.has_secret_responses()
            && (is_unreadable_json(&response) || is_kept && has_no_parts(&response))
        {
            response = response.into_secret();
        }
        if let Some(place) = &request.pointer {
            response = pointer::at(&response, &steps(place, "pointer")?).unwrap_or(Value::NULL);
        }
        for place in self.secret_responses.iter().flatten() {
            let steps = steps(place, "secret_responses")?;
            let mark = |part: Value| Some(part.into_secret());
            response = pointer::changed(&response, &steps, &mark).unwrap_or(Value::NULL);
        }
        Ok(response)
    }

    /// What an answer says of the object.
    pub(super) fn output(
        &self,
        context: &Context<Surroundings>,
        request: &Request,
        answer: &Answer,
        known: Known<'_>,
    ) -> Result<HttpOutput> {
        let response = self.response(request, answer)?;
        let known = known.output;
        let mut observed = response.clone();
        let ignored = self.ignore.iter().flatten().map(|place| (place, "ignore"));
        // The id tells one object from another, not how this one is.
        for (place, input) in ignored.chain([(&self.id, "id")]) {
            let steps = steps(place, input)?;
            observed = pointer::changed(&observed, &steps, &|_| None).unwrap_or(Value::NULL);
        }
        let told = pointer::at(&response, &steps(&self.id, "id")?).and_then(|id| pointer::text(&id));
        Ok(HttpOutput {
            // The id is what the object was made with; a later answer may call something else an id.
            id: known.and_then(|known| known.id.clone()).or(told),
            name: known.map_or_else(|| context.physical_name(), |known| known.name.clone()),
            status: answer.status,
            response,
            observed,
        })
    }

    /// Refuses an object without an id, if an id is how it is spoken of.
    pub(super) fn require_id(&self, purpose: Purpose, made: &HttpOutput) -> Result<()> {
        let requests = [&self.read, &self.update, &self.delete].into_iter().flatten();
        if made.id.is_some() || !requests.into_iter().any(|request| request.mentions("id")) {
            return Ok(());
        }
        let message = format!("the answer to {purpose} has no id at `{}`", self.id);
        Err(Error::indeterminate(message).at("id").hint("say with `id` where it stands"))
    }
}

/// Whether an answer is the text of an object or list that is cut short, nested too deeply or broken in another way.
fn is_unreadable_json(answer: &Value) -> bool {
    answer.as_str().is_some_and(|text| text.trim_start().starts_with(['{', '[']))
}

/// Whether an answer has no parts that could be told apart: it is no JSON, or JSON that is cut short, nested too deeply or
/// broken in another way.
fn has_no_parts(answer: &Value) -> bool {
    matches!(answer.kind(), Kind::String(_) | Kind::Number(_) | Kind::Bool(_))
}

/// What a web address is asked, and what for.
pub(crate) struct Question<'a> {
    pub(crate) method: Method,
    pub(crate) headers: &'a BTreeMap<String, Marked<String>>,
    pub(crate) ca_pem: Option<&'a str>,
    pub(crate) timeout: Duration,
    pub(crate) accepted: &'a (dyn Fn(u16) -> bool + Sync),
    /// Whether the answer is secret, also one that is not accepted.
    pub(crate) is_secret: bool,
}

/// Asks a web address, without any resource behind it.
pub(crate) async fn get(
    request: &Request,
    question: Question<'_>,
    context: &Context<Surroundings>,
) -> Result<Answer> {
    let Question { method, headers, ca_pem, timeout, accepted, is_secret } = question;
    let variables = Variables { fixed: Vec::new(), response: None, bindings: Vec::new() };
    let outgoing = request.outgoing(method, headers, &variables, timeout)?;
    let title = context.scrubbed(&outgoing.title());
    // What is only read may be asked again, whatever its method.
    let judgement = Judgement {
        purpose: Purpose::Read,
        outcomes: None,
        retry_statuses: &[],
        recovery: Recovery::Blind,
        repeatable: true,
        title: &title,
    };
    let client = client(ca_pem, context)?;
    let answer = outgoing.send(&client, context).await.map_err(|none| judgement.unanswered(none))?;
    match accepted(answer.status) {
        true => Ok(answer),
        false if is_secret => Err(judgement.refused(&answer, CONCEALED)),
        false => Err(judgement.refused(&answer, &context.scrubbed(&String::from_utf8_lossy(&answer.body)))),
    }
}

/// The client for those who trust these certificates.
fn client(ca_pem: Option<&str>, context: &Context<Surroundings>) -> Result<reqwest::Client> {
    match ca_pem {
        Some(pem) => new_client(Some(pem), context.config().environment()),
        None => context.config().client(),
    }
}

/// The steps of a pointer that an input holds.
pub(super) fn steps(place: &str, input: &str) -> Result<Vec<String>> {
    pointer::parse(place).ok_or_else(|| {
        Error::invalid(format!("`{place}` is not a JSON pointer such as `/items/0/id`")).at(input)
    })
}
