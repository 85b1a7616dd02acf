//! An event as one line of JSON, written piece by piece: each step of a run has some. Keys stand in the order of their
//! texts, and values in their public form, without secrets.

use std::time::SystemTime;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use trueup_core::{Address, Change, Failure, JsonForm, Path, Value};

use super::{EVENT_VERSION, Event, EventKind};

/// The line of an event.
pub(super) fn written(event: &Event) -> String {
    let resource = event.resource.as_ref();
    let line = Line {
        data: Data(&event.kind),
        event: &event.kind.name(),
        resource: resource.map(|address| Resource { address, r#type: address.type_name() }),
        run: &event.run,
        sequence: event.sequence,
        stack: &event.scope.stack,
        stage: &event.scope.stage,
        time_ms: milliseconds(event.at),
        version: EVENT_VERSION,
    };
    serde_json::to_string(&line).expect("events have texts for keys")
}

/// Since the epoch.
fn milliseconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

#[derive(Serialize)]
struct Line<'a> {
    data: Data<'a>,
    event: &'a str,
    resource: Option<Resource<'a>>,
    run: &'a str,
    sequence: Option<u64>,
    stack: &'a str,
    stage: &'a str,
    time_ms: u64,
    version: u32,
}

#[derive(Serialize)]
struct Resource<'a> {
    address: &'a Address,
    r#type: &'a str,
}

/// What an event of this kind says.
struct Data<'a>(&'a EventKind);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut data = serializer.serialize_map(None)?;
        match self.0 {
            EventKind::RunStarted { reason, holder, origin } => {
                if let Some(job) = &origin.ci_job {
                    data.serialize_entry(
                        "ci",
                        &Ci { actor: &job.actor, job: &job.job, service: &job.service },
                    )?;
                }
                let texts = [("command", &origin.command), ("host", &holder.host)];
                for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
                    data.serialize_entry(name, text)?;
                }
                data.serialize_entry("reason", reason)?;
                if !holder.user.is_empty() {
                    data.serialize_entry("user", &holder.user)?;
                }
            }
            EventKind::Waiting { holder, since } => {
                data.serialize_entry("holder", holder)?;
                data.serialize_entry("since_ms", &milliseconds(*since))?;
            }
            EventKind::RunFinished { succeeded } => data.serialize_entry("succeeded", succeeded)?,
            EventKind::Decision { decision, changes, inputs } => {
                data.serialize_entry("decision", decision)?;
                data.serialize_entry("diff", &diff(changes))?;
                data.serialize_entry("params", &Public(inputs))?;
            }
            EventKind::DriftDetected { changes, gone } => {
                data.serialize_entry("diff", &diff(changes))?;
                data.serialize_entry("gone", gone)?;
            }
            EventKind::Started { changes, inputs, .. } => {
                data.serialize_entry("diff", &diff(changes))?;
                data.serialize_entry("params", &Public(inputs))?;
            }
            EventKind::Completed { outputs, .. } | EventKind::Adopted { outputs } => {
                data.serialize_entry("outputs", &Public(outputs))?;
            }
            EventKind::Unchanged => {}
            EventKind::Failed { operation, failure } => {
                data.serialize_entry("error", &Error::of(failure))?;
                data.serialize_entry("operation", operation.name())?;
            }
            EventKind::Retry { operation, attempts, wait_ms, failure } => {
                data.serialize_entry("attempts", attempts)?;
                data.serialize_entry("error", &Error::of(failure))?;
                data.serialize_entry("operation", operation.name())?;
                data.serialize_entry("wait_ms", wait_ms)?;
            }
            EventKind::Skipped { cause } => data.serialize_entry("cause", cause)?,
            EventKind::Progress { doing } => data.serialize_entry("doing", doing)?,
        }
        data.end()
    }
}

#[derive(Serialize)]
struct Ci<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: &'a Option<String>,
    job: &'a str,
    service: &'a str,
}

#[derive(Serialize)]
struct Difference<'a> {
    after: Option<Public<'a>>,
    before: Option<Public<'a>>,
    path: &'a Path,
}

fn diff(changes: &[Change]) -> Vec<Difference<'_>> {
    changes.iter().map(Difference::of).collect()
}

impl<'a> Difference<'a> {
    fn of(change: &'a Change) -> Self {
        let Change { path, before, after, .. } = change;
        Difference { after: after.as_ref().map(Public), before: before.as_ref().map(Public), path }
    }
}

/// A value in its public form.
struct Public<'a>(&'a Value);

impl Serialize for Public<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.in_form(JsonForm::PUBLIC).serialize(serializer)
    }
}

#[derive(Serialize)]
struct Error<'a> {
    class: &'a str,
    hints: &'a [String],
    message: &'a str,
    path: &'a Option<Path>,
}

impl<'a> Error<'a> {
    fn of(failure: &'a Failure) -> Self {
        let Failure { message, path, hints, .. } = failure;
        Error { class: failure.class.name(), hints, message, path }
    }
}
