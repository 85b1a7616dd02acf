//! The log in words, a line each.

use trueup_state::{Status, Write};

use crate::cloud::{Effect, Who};
use crate::log::Happened;

/// What happened, in words.
pub(crate) fn told(happened: &Happened) -> String {
    match happened {
        Happened::Began { process, what, .. } => format!("process {process}: {what}"),
        Happened::Approved { process, plan, .. } => {
            let plan = plan.to_string().replace('\n', "\n             | ");
            format!("process {process} has its plan approved\n             | {plan}")
        }
        Happened::Cancelled { process } => format!("process {process} is told to stop"),
        Happened::Killed { process } => format!("process {process} is KILLED"),
        Happened::Ended { process, how } => format!("process {process} ends: {how}"),
        Happened::Asked { caller, what, .. } => format!("  asked   {what} ({caller})"),
        Happened::Refused { caller, what } => format!("  refused {what} ({caller})"),
        Happened::ToldGone { object } => format!("  told    {object} is gone"),
        Happened::Effect { who, object, effect } => {
            let who = match who {
                Who::Engine(caller) => caller.to_string(),
                Who::Hand => "by hand".to_owned(),
            };
            match effect {
                Effect::Created { shown, .. } => format!("  cloud   + {object}: {shown} ({who})"),
                Effect::Changed { shown, .. } => format!("  cloud   ~ {object}: {shown} ({who})"),
                Effect::Deleted => format!("  cloud   - {object} ({who})"),
            }
        }
        Happened::Leased { process, token, until } => {
            format!("process {process} has the lease {} until {} s", token.0, until.as_secs())
        }
        Happened::Unleased { token } => format!("the lease {} ends", token.0),
        Happened::Committed { process, sequence, writes, .. } => {
            let writes: Vec<String> = writes.iter().map(written).collect();
            format!("  store   #{sequence} of process {process}: {}", writes.join("; "))
        }
        Happened::Acknowledged { sequence } => format!("  store   #{sequence} acknowledged"),
        Happened::StateLost => "the state is LOST".to_owned(),
        Happened::Note(text) => text.clone(),
    }
}

fn written(write: &Write) -> String {
    let step = write.entry.step.name();
    let Some(record) = &write.record else { return format!("{step} -> no record") };
    let generation = |it: &trueup_state::Generation| {
        let status = match it.status {
            Status::Ready => "ready",
            Status::Creating(_) => "creating",
            Status::Updating(_) => "updating",
            Status::Deleting => "deleting",
        };
        let object = crate::invariants::object_of(it).unwrap_or_else(|| "?".to_owned());
        format!("{}={object} {status}", it.number)
    };
    let generations: Vec<String> = record.generations().map(generation).collect();
    format!("{step} -> {} [{}]", record.address, generations.join(", "))
}
