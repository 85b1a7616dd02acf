//! What the status of an answer means.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use trueup_provider::Error;

use super::send::{Answer, NoAnswer};
use crate::purpose::Purpose;

/// How much of an answer an error shows.
const SHOWN_CHARS_MAX: usize = 1_000;

/// What a refusal is judged by.
pub(super) struct Judgement<'a> {
    pub(super) purpose: Purpose,
    /// The statuses after which a request may be sent again.
    pub(super) retry_statuses: &'a [u16],
    /// Whether an object that is there already can be looked for.
    pub(super) can_look: bool,
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
        match status {
            429 => Error::throttled(retry_after(answer), message),
            status if self.retry_statuses.contains(&status) => match retry_after(answer) {
                Some(delay) => Error::throttled(Some(delay), message),
                None => Error::retryable(message),
            },
            401 | 403 => Error::denied(message),
            404 | 410 if self.purpose != Purpose::Create => Error::not_found(message),
            409 if self.purpose == Purpose::Create && self.can_look => Error::already_exists(message),
            409 | 412 | 423 => Error::conflict(message),
            300..=399 => Error::invalid(message).hint("redirects to another host are not followed"),
            400..=499 => Error::invalid(message),
            // A server that broke off may have done what it was asked.
            _ => self.unclear(message),
        }
    }

    /// The error of a request without an answer.
    pub(super) fn unanswered(&self, no_answer: NoAnswer) -> Error {
        let title = self.title;
        match no_answer {
            NoAnswer::NotSent(why) => Error::retryable(format!("{title} cannot be sent: {why}")),
            NoAnswer::Lost(why) => self.unclear(format!("{title} was not answered: {why}")),
        }
    }

    fn unclear(&self, message: String) -> Error {
        if self.repeatable { Error::retryable(message) } else { Error::indeterminate(message) }
    }
}

/// How long the server asks to wait, if it says so in seconds.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let seconds = answer.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds))
}
