//! The console subscriber: one plain line for each thing that happens, as logs and CI want it.

use std::io::Write;
use std::time::SystemTime;

use trueup_core::escape_line;

use super::{Event, EventKind, Subscriber};

/// Writes what happens as lines: time, resource, what. Whatever an event quotes, it is one line and does nothing to a
/// terminal (OUTPUT-1).
pub struct ConsoleLines<W>(pub W);

impl<W: Write + Send> Subscriber for ConsoleLines<W> {
    fn receive(&mut self, event: &Event) {
        let Some(what) = told(&event.kind) else { return };
        let seconds = event.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() % 86_400;
        let time = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
        let about = event.resource.as_ref().map_or(String::new(), |address| format!(" {address}"));
        // A reader that went away must not end the run.
        let _ = writeln!(self.0, "{}", escape_line(&format!("{time}{about} {what}")));
    }
}

/// What a person wants to hear of an event; `None` if nothing.
fn told(kind: &EventKind) -> Option<String> {
    Some(match kind {
        EventKind::RunStarted { reason, .. } => format!("{reason} started"),
        EventKind::RunFinished { succeeded: true } => "finished".to_owned(),
        EventKind::RunFinished { succeeded: false } => "finished with failures".to_owned(),
        EventKind::Decision { decision, .. } if decision == "noop" => return None,
        EventKind::Decision { decision, .. } => format!("to {decision}"),
        EventKind::DriftDetected { gone: true, .. } => "was removed outside".to_owned(),
        EventKind::DriftDetected { changes, gone: false } => {
            let paths: Vec<String> = changes.iter().map(|change| change.path.to_string()).collect();
            format!("was changed outside: {}", paths.join(", "))
        }
        EventKind::Started { operation, .. } => format!("{} started", operation.name()),
        EventKind::Completed { operation, .. } => format!("{} completed", operation.name()),
        EventKind::Failed { operation, failure } => {
            format!("{} failed: {}", operation.name(), failure.message)
        }
        EventKind::Retry { attempts, wait_ms, failure, .. } => {
            format!("retry {attempts} in {:.1} s: {}", *wait_ms as f64 / 1000.0, failure.message)
        }
        EventKind::Waiting { holder, .. } => format!("waiting for {holder}"),
        EventKind::Skipped { cause } => format!("skipped: waits for {cause}"),
        EventKind::Unchanged => "unchanged".to_owned(),
        EventKind::Adopted { .. } => "adopted".to_owned(),
        EventKind::Progress { doing } => doing.clone(),
    })
}
