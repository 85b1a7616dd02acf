//! Failures and diagnostics that planner and executor give alike.

use trueup_core::{Address, Diagnostic, Diagnostics, Failure, FailureClass, Origin, Path, Value};
use trueup_provider::Traits;

/// A failed operation on one resource, for people: the headline says what could not be done and why (PLAN-14, OUTPUT-8).
/// `attempted` is a verb, such as `create`.
pub fn describe_failure(address: &Address, attempted: &str, failure: &Failure) -> Diagnostic {
    let (why, more) = failure.message.split_once('\n').unwrap_or((&failure.message, ""));
    let mut diagnostic =
        Diagnostic::error(format!("cannot {attempted} {address}: {why}")).about(address.to_string());
    let changes = matches!(attempted, "create" | "update" | "replace" | "delete");
    let unknown = (failure.class == FailureClass::Indeterminate && changes)
        .then_some("It is not known whether this took effect.");
    let detail: Vec<&str> = [more].into_iter().filter(|more| !more.is_empty()).chain(unknown).collect();
    diagnostic.detail = (!detail.is_empty()).then(|| detail.join("\n"));
    diagnostic.hints = failure.hints.clone();
    diagnostic.class = Some(failure.class.name().to_owned());
    if let Some(path) = failure.path.clone().filter(|path| !path.is_root()) {
        diagnostic.label = Some(format!("`{path}`"));
        diagnostic.path = Some(path);
    }
    diagnostic
}

/// A failed attempt at something other than an operation on one resource, for people. `attempted` says what, such as
/// `load the provider std`. The failure's class and hints stay.
pub fn describe_attempt(attempted: &str, failure: Failure) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("cannot {attempted}: {}", failure.message));
    let mut diagnostic = failure.hints.into_iter().fold(diagnostic, Diagnostic::hint);
    diagnostic.class = Some(failure.class.name().to_owned());
    diagnostic
}

/// A diagnostic at the place of the input that it is about, or of the nearest around it.
pub fn located(mut diagnostic: Diagnostic, inputs: &Value) -> Diagnostic {
    let Some(path) = diagnostic.path.as_ref().filter(|_| diagnostic.origin.is_none()) else {
        return diagnostic;
    };
    let mut steps = path.steps();
    while let Some((_, outer)) = steps.split_last() {
        let at: Path = steps.iter().cloned().collect();
        let origin = inputs.at(&at).and_then(|value| value.origin());
        if origin.is_some() {
            diagnostic.origin = origin;
            break;
        }
        steps = outer;
    }
    let mut secrets = Vec::new();
    secret_origins(inputs, &mut secrets);
    diagnostic.concealing(secrets.into())
}

/// Where secrets stand in the source: a line that is shown may hold one.
fn secret_origins(value: &Value, found: &mut Vec<Origin>) {
    if value.is_secret() {
        found.extend(value.origin());
    }
    value.children().for_each(|child| secret_origins(child, found));
}

/// What is wrong with a resource, as a failure of it.
pub(crate) fn invalid(diagnostics: Diagnostics) -> Failure {
    let wrong: Vec<String> = diagnostics.iter().map(|it| it.summary.clone()).collect();
    let mut failure = Failure::new(FailureClass::Invalid, wrong.join("; "));
    failure.diagnostics = diagnostics;
    failure
}

/// CRASH-1
pub(crate) fn outcome_unknown(address: &Address, traits: &Traits) -> Failure {
    let message = "the outcome of an earlier create is unknown, and nothing can find its object";
    let existing = match traits.importable {
        true => format!("`trueup import {address} ID`; if not,"),
        false => "delete it by hand: its type cannot be imported. Then, or if it does not exist,".to_owned(),
    };
    Failure::new(FailureClass::Indeterminate, message).hint(format!(
        "make sure no other run is creating it, then look for the object yourself. If it exists, {existing} \
         `trueup state resolve {address} --absent`"
    ))
}

/// Adds what the next run does about a create that is repeated with its token, and how to give it up.
pub(crate) fn to_be_repeated(address: &Address, failure: Failure) -> Failure {
    failure.hint(format!(
        "the next run repeats this create unchanged, with the same token; if it made nothing, \
         `trueup state resolve {address} --absent` gives it up"
    ))
}

/// Adds how to give up a create that is repeated with its token: editing the program does not change the repeated request.
pub(crate) fn repeated(address: &Address, failure: Failure) -> Failure {
    failure.hint(format!(
        "an earlier run began this create, and it is repeated unchanged; if it made nothing, \
         `trueup state resolve {address} --absent` gives it up"
    ))
}
