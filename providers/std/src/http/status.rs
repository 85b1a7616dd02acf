//! What the status of an answer means.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use trueup_provider::{Error, Recovery};

use super::send::{Answer, NoAnswer};
use crate::outcome::{Outcome, Outcomes, declared};
use crate::purpose::Purpose;

/// How much of an answer an error shows.
const SHOWN_CHARS_MAX: usize = 1_000;

/// What a refusal is judged by.
pub(super) struct Judgement<'a> {
    pub(super) purpose: Purpose,
    /// The statuses whose meaning the resource declares.
    pub(super) outcomes: Option<&'a Outcomes>,
    /// The statuses after which a request may be sent again.
    pub(super) retry_statuses: &'a [u16],
    /// How a create with an unknown outcome is resolved.
    pub(super) recovery: Recovery,
    /// Whether sending it twice does no more than sending it once.
    pub(super) repeatable: bool,
    /// The request, for messages.
    pub(super) title: &'a str,
}

impl Judgement<'_> {
    /// The error of an answer that is no success. `shown` is what it says, without secrets.
    pub(super) fn refused(&self, answer: &Answer, shown: &str) -> Error {
        let (title, status) = (self.title, answer.status);
        let shown: String = shown.trim().chars().take(SHOWN_CHARS_MAX).collect();
        let said = if shown.is_empty() { String::new() } else { format!(": {shown}") };
        let message = format!("{title} was answered with {status}{said}");
        match self.outcome(status) {
            Outcome::Failed => self.failed(status, message),
            Outcome::Retry => again(status, retry_after(answer), message),
            Outcome::Unknown if self.is_repeated(status) => again(status, retry_after(answer), message),
            Outcome::Unknown => {
                let error = Error::indeterminate(message);
                match status {
                    300..=399 => error.hint(ELSEWHERE),
                    _ => error,
                }
            }
        }
    }

    /// The error of a request without an answer.
    pub(super) fn unanswered(&self, no_answer: NoAnswer) -> Error {
        let title = self.title;
        match no_answer {
            NoAnswer::NotSent(why) => {
                let error = Error::retryable(format!("{title} cannot be sent: {why}"));
                // Of a read after a create, only the read was not sent.
                if self.purpose.changes() { error.unsent() } else { error }
            }
            // The same request has the same answer.
            NoAnswer::Unusable(why) => match self.purpose.changes() {
                true => Error::indeterminate(format!("{title}: {why}")),
                false => Error::fatal(format!("{title}: {why}")),
            },
            NoAnswer::Lost(why) => {
                let message = format!("{title} was not answered: {why}");
                // Whoever can look does so in the next run: what is still on its way may arrive any time.
                let harmless = match self.purpose {
                    Purpose::Create | Purpose::Precreate => self.recovery == Recovery::Token,
                    Purpose::Update | Purpose::Delete => self.repeatable,
                    Purpose::Read | Purpose::Lookup => true,
                };
                if harmless { Error::retryable(message) } else { Error::indeterminate(message) }
            }
        }
    }

    /// The table of the reference.
    fn outcome(&self, status: u16) -> Outcome {
        if let Some(outcome) = declared(self.outcomes, i32::from(status)) {
            return outcome;
        }
        match status {
            429 => Outcome::Retry,
            status if self.retry_statuses.contains(&status) => Outcome::Retry,
            400..=407 | 409..=428 => Outcome::Failed,
            // What only looks has no effect that could be unknown.
            status if !self.purpose.changes() && !is_passing(status) => Outcome::Failed,
            _ => Outcome::Unknown,
        }
    }

    /// Whether a request with an unknown outcome is repeated in this run. The engine looks before it repeats a create of
    /// a type that can look.
    fn is_repeated(&self, status: u16) -> bool {
        let harmless = match self.purpose {
            Purpose::Create | Purpose::Precreate => self.recovery != Recovery::Blind,
            Purpose::Update | Purpose::Delete => self.repeatable,
            Purpose::Read | Purpose::Lookup => true,
        };
        harmless && is_passing(status)
    }

    /// The error of a refusal that had no effect.
    fn failed(&self, status: u16, message: String) -> Error {
        let creates = self.purpose.makes();
        match status {
            401 | 403 => Error::denied(message),
            404 | 410 if !creates => Error::not_found(message),
            409 if creates && self.recovery == Recovery::Lookup => Error::already_exists(message),
            409 | 412 | 423 => Error::conflict(message),
            300..=399 => Error::invalid(message).hint(ELSEWHERE),
            _ => Error::invalid(message),
        }
    }
}

const ELSEWHERE: &str = "redirects to another host are not followed";

/// Whether a status may be another one the next time.
fn is_passing(status: u16) -> bool {
    status == 408 || status >= 500
}

/// The error of a request that is sent again, after the delay that the server asks for.
fn again(status: u16, delay: Option<Duration>, message: String) -> Error {
    match delay {
        None if status != 429 => Error::retryable(message),
        delay => Error::throttled(delay, message),
    }
}

/// How long the server asks to wait, if it says so in seconds.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let seconds = answer.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds))
}
