//! Going wrong, in every way that a provider can.
//!
//! | `trouble` | what happens |
//! | --- | --- |
//! | `warn` | every call warns |
//! | `fail-plan`, `fail-create`, `fail-update`, `fail-read` | an error, and nothing is done |
//! | `fail-delete` | an error, and the object is left |
//! | `partial` | the object is made or changed, and an error is told |
//! | `crash-plan`, `crash-before`, `crash-after` | the process ends: in a plan, before or after an object is made |
//! | `crash-once` | the process ends in the first plan |
//! | `hang-plan`, `hang-read` | a plan or read never answers |
//! | `hang` | apply waits until it is told to stop, then fails |
//! | `hang-before`, `hang-after` | the first apply never answers, before or after an object is made; whoever reads the pipe `reached` hears of it |
//! | `wait-after` | the first apply makes or changes the object and answers when someone writes to the pipe `go` |
//! | `bad-plan` | the plan does not keep to the configuration |
//! | `inconsistent` | apply does not keep to the plan |
//! | `unknown-after` | something stays unknown after apply |
//! | `bad-answer` | the answer to apply does not match the schema |
//! | `huge` | the answer to a plan has more than 64 MiB |
//!
//! A provider that is given a `token` repeats it in whatever it says and prints, as it is and as servers show tokens:
//! in hexadecimal digits, in percent escapes, and cut short.

use std::sync::{PoisonError, RwLock};

use serde_json::json;
use trueup_terraform::protocol::attribute_path::{Step, step::Selector};
use trueup_terraform::protocol::diagnostic::Severity;
use trueup_terraform::protocol::{AttributePath, Diagnostic};

use crate::listening::complain;

/// The token that the provider repeats, if it was given one.
static TOKEN: RwLock<String> = RwLock::new(String::new());

/// Repeats a token from now on.
pub(crate) fn repeat(token: &str) {
    token.clone_into(&mut TOKEN.write().unwrap_or_else(PoisonError::into_inner));
}

/// A text, and the token that the provider was given.
pub(crate) fn gossip(text: &str) -> String {
    match TOKEN.read().unwrap_or_else(PoisonError::into_inner).as_str() {
        "" => text.to_owned(),
        token => format!("{text} (by the token {token}), that is {}", in_other_forms(token)),
    }
}

fn in_other_forms(token: &str) -> String {
    let digits: String = token.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let cut: String = token.chars().take(token.chars().count() * 2 / 3).collect();
    format!("{digits}, {percent} or {cut}…")
}

/// Prints a text, as it is and as a line of a log.
pub(crate) fn print(text: &str) {
    complain(&gossip(text));
    let logged = json!({ "@level": "warn", "@message": gossip(&format!("{text}, for the log")) });
    complain(&logged.to_string());
}

pub(crate) fn error(summary: &str, detail: &str, at: &[&str]) -> Diagnostic {
    diagnostic(Severity::Error, summary, detail, at)
}

pub(crate) fn warning(summary: &str) -> Diagnostic {
    diagnostic(Severity::Warning, summary, "", &[])
}

fn diagnostic(severity: Severity, summary: &str, detail: &str, at: &[&str]) -> Diagnostic {
    Diagnostic {
        severity: severity.into(),
        summary: gossip(summary),
        detail: gossip(detail),
        attribute: (!at.is_empty()).then(|| path(at)),
    }
}

/// The path to a position by the names of attributes.
pub(crate) fn path(names: &[&str]) -> AttributePath {
    let step = |name: &&str| Step { selector: Some(Selector::AttributeName((*name).to_owned())) };
    AttributePath { steps: names.iter().map(step).collect() }
}

/// Ends the process as a panic of Go would.
#[expect(clippy::disallowed_methods, reason = "to end at once is what is wanted")]
pub(crate) fn crash(place: &str) -> ! {
    complain(&gossip(&format!("panic: asked to crash {place}\n\ngoroutine 1 [running]:")));
    std::process::exit(2)
}
