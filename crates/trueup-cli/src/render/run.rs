//! What a run came to: failures with their errors, what was skipped and why, the summary, outputs, what to do next.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value as Json, json};
use trueup_core::{Address, Diagnostic, Diagnostics, JsonForm, Value};
use trueup_engine::{Action, Outcome, RunKind, RunReport};
use trueup_program::Program;
use trueup_state::StoreError;

use super::diagnostics::render_diagnostics;
use super::natural::{compare, sort_by_address};
use super::time::duration;
use super::value::lines;
use crate::failure::{calling, placed, store_trouble};
use crate::ui::{Look, Mark, Meaning, hanging, padded, width};

/// So many skipped resources are named; more are counted.
const SKIPPED_LISTED_MAX: usize = 8;

/// What the view of a run needs beyond the report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunView<'a> {
    /// How it looks.
    pub look: Look,
    /// What was run.
    pub kind: RunKind,
    /// How long it took.
    pub took: Duration,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// The command to run next, if something is left to do.
    pub again: &'a str,
    /// The program, for the places of what failed.
    pub program: &'a Program,
}

/// What is told on the side at the end of a run.
pub(crate) fn render_run(report: &RunReport, view: &RunView<'_>) -> String {
    let mut blocks = Vec::new();
    let name = view.again.split(' ').next().unwrap_or_default();
    let failures = calling(failures(report), name);
    if !failures.is_empty() {
        let mut sources = view.program.sources.clone();
        let failures = placed(failures, view.program, &mut sources);
        blocks.push(render_diagnostics(&failures, &sources, view.look));
    }
    let skipped = skipped(report, view.look);
    if !skipped.is_empty() {
        blocks.push(skipped.join("\n"));
    }
    let unrecorded = unrecorded(report);
    if !unrecorded.is_empty() {
        blocks.push(unrecorded.join("\n"));
    }
    blocks.push(closing(report, view));
    blocks.join("\n\n")
}

/// The version of the form of a run's end.
const RUN_JSON_VERSION: u32 = 1;

/// How a run ended, for machines.
pub(crate) fn run_json(report: &RunReport, took: Duration, interrupted: bool) -> Json {
    let outcome = |(address, outcome): &(Address, Outcome)| match outcome {
        Outcome::Done(action) => json!({ "address": address, "outcome": "done", "action": action.name() }),
        Outcome::Failed(failure) => json!({
            "address": address, "outcome": "failed",
            "error": { "class": failure.class.name(), "message": failure.message, "hints": failure.hints },
        }),
        Outcome::Skipped(cause) => json!({ "address": address, "outcome": "skipped", "cause": cause }),
        Outcome::NotStarted => json!({ "address": address, "outcome": "not-started" }),
        Outcome::InFlight => json!({ "address": address, "outcome": "in-flight" }),
    };
    json!({
        "version": RUN_JSON_VERSION,
        "kind": "run",
        "run": report.run,
        "stack": report.plan.scope.stack,
        "stage": report.plan.scope.stage,
        "succeeded": report.succeeded() && !interrupted,
        "interrupted": interrupted,
        "took_ms": took.as_millis() as u64,
        "outcomes": report.outcomes.iter().map(outcome).collect::<Vec<_>>(),
        "outputs": report.outputs.as_ref().map(|outputs| outputs.to_json_tree(JsonForm::PUBLIC)),
        "store_failure": report.store_failure.as_ref().map(ToString::to_string),
        "warnings": report.warnings,
    })
}

/// The stack's outputs as lines.
pub(crate) fn output_lines(outputs: &Value, look: Look) -> Vec<String> {
    let Some(entries) = outputs.as_entries() else { return Vec::new() };
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by(|left, right| compare(left.0, right.0));
    let column = entries.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let told = entries.into_iter().flat_map(|(name, value)| {
        let room = look.columns.saturating_sub(column + 3);
        let mut told = lines(value, room).into_iter();
        let first = format!("{} = {}", padded(name, column), told.next().unwrap_or_default());
        std::iter::once(first).chain(told).collect::<Vec<_>>()
    });
    told.collect()
}

/// A diagnostic for each failure, with all that its provider said.
fn failures(report: &RunReport) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    let mut failed: Vec<_> = report
        .outcomes
        .iter()
        .filter_map(|(address, outcome)| match outcome {
            Outcome::Failed(failure) => Some((address, failure)),
            Outcome::Done(_) | Outcome::Skipped(_) | Outcome::NotStarted | Outcome::InFlight => None,
        })
        .collect();
    sort_by_address(&mut failed, |it| it.0);
    for (address, failure) in failed {
        if !failure.diagnostics.is_empty() {
            diagnostics.extend(failure.diagnostics.iter().cloned().map(|it| match it.subject {
                Some(_) => it,
                None => it.about(address.to_string()),
            }));
            continue;
        }
        let attempted = attempted(report, address);
        let mut diagnostic = Diagnostic::error(format!("{attempted} {address}: {}", failure.class.name()))
            .about(address.to_string())
            .detail(failure.message.clone());
        diagnostic.path = failure.path.clone();
        diagnostic.hints = failure.hints.clone();
        diagnostics.push(diagnostic);
    }
    if let Some(error @ StoreError::TakenAway { .. }) = &report.store_failure {
        diagnostics.push(store_trouble(error));
    } else if let Some(error) = &report.store_failure {
        diagnostics.push(
            Diagnostic::error(error.to_string())
                .hint("what was under way is resolved by the next run, once the state can be written again"),
        );
    }
    diagnostics
}

fn attempted(report: &RunReport, address: &Address) -> &'static str {
    match planned(report, address) {
        Some(Action::Create) => "create",
        Some(Action::Replace | Action::MayReplace) => "replace",
        Some(Action::Delete) => "delete",
        Some(Action::Read) => "read",
        Some(Action::Update | Action::MayUpdate | Action::NoOp | Action::Forget) | None => "update",
    }
}

fn planned(report: &RunReport, address: &Address) -> Option<Action> {
    report.plan.actions.iter().find(|it| it.address == *address).map(|it| it.action)
}

fn skipped(report: &RunReport, look: Look) -> Vec<String> {
    let mut skipped: Vec<(&Address, &Address)> = report
        .outcomes
        .iter()
        .filter_map(|(address, outcome)| match outcome {
            Outcome::Skipped(cause) => Some((address, cause)),
            Outcome::Done(_) | Outcome::Failed(_) | Outcome::NotStarted | Outcome::InFlight => None,
        })
        .collect();
    sort_by_address(&mut skipped, |it| it.0);
    let more = skipped.len().saturating_sub(SKIPPED_LISTED_MAX);
    skipped.truncate(SKIPPED_LISTED_MAX);
    let mark = look.mark(Mark::Skipped);
    let mut told: Vec<String> = skipped
        .into_iter()
        .map(|(address, cause)| format!("{mark} {address} skipped: waits for {cause}"))
        .collect();
    if more > 0 {
        told.push(format!("{mark} {more} more skipped"));
    }
    told
}

/// What this run did, if the state that recorded it was taken away.
fn unrecorded(report: &RunReport) -> Vec<String> {
    let Some(error @ StoreError::TakenAway { location, .. }) = &report.store_failure else {
        return Vec::new();
    };
    let cause = error.to_string();
    let mut done: Vec<(&Address, String)> = report
        .outcomes
        .iter()
        .filter_map(|(address, outcome)| match outcome {
            Outcome::Done(Action::NoOp | Action::Read) => None,
            Outcome::Done(action) => Some((address, done_name(*action).to_owned())),
            Outcome::Failed(failure) if failure.message == cause => {
                let attempted = planned(report, address).unwrap_or(Action::Update);
                Some((address, format!("perhaps {}", done_name(attempted))))
            }
            Outcome::InFlight => {
                let attempted = planned(report, address).unwrap_or(Action::Update);
                Some((address, format!("perhaps {}", done_name(attempted))))
            }
            Outcome::Failed(_) | Outcome::Skipped(_) | Outcome::NotStarted => None,
        })
        .collect();
    sort_by_address(&mut done, |it| it.0);
    if done.is_empty() {
        return Vec::new();
    }
    let head = format!("Done by this run, and no longer recorded at {location}:");
    let lines = done.into_iter().map(|(address, what)| format!("  {address} {what}"));
    std::iter::once(head).chain(lines).collect()
}

fn done_name(action: Action) -> &'static str {
    match action {
        Action::Create => "created",
        Action::Update | Action::MayUpdate => "updated",
        Action::Replace | Action::MayReplace => "replaced",
        Action::Delete => "deleted",
        Action::Forget => "forgotten",
        Action::Read => "read",
        Action::NoOp => "unchanged",
    }
}

/// How often each thing was done, in the order it is told.
pub(crate) fn done_counts(report: &RunReport) -> Vec<(usize, &'static str)> {
    let count = |wanted: &[Action]| {
        let done = |outcome: &Outcome| matches!(outcome, Outcome::Done(action) if wanted.contains(action));
        report.outcomes.iter().filter(|(_, outcome)| done(outcome)).count()
    };
    let settled_unchanged = count(&[Action::NoOp, Action::MayUpdate]);
    let ended: BTreeSet<&Address> = report.outcomes.iter().map(|(address, _)| address).collect();
    let untouched =
        |it: &&trueup_engine::PlannedAction| it.action == Action::NoOp && !ended.contains(&it.address);
    let never_touched = report.plan.actions.iter().filter(untouched).count();
    let counts = [
        (count(&[Action::Create]), "created"),
        (count(&[Action::Update]), "updated"),
        (count(&[Action::Replace, Action::MayReplace]), "replaced"),
        (count(&[Action::Delete]), "deleted"),
        (count(&[Action::Forget]), "forgotten"),
        (settled_unchanged + never_touched, "unchanged"),
    ];
    counts.into_iter().filter(|(count, _)| *count > 0).collect()
}

fn counted(counts: &[(usize, &str)]) -> String {
    let told: Vec<String> = counts.iter().map(|(count, what)| format!("{count} {what}")).collect();
    told.join(", ")
}

fn closing(report: &RunReport, view: &RunView<'_>) -> String {
    let (stack, stage) = (&report.plan.scope.stack, &report.plan.scope.stage);
    let took = duration(view.took);
    let count = |wanted: fn(&Outcome) -> bool| report.outcomes.iter().filter(|(_, it)| wanted(it)).count();
    let failed = count(|it| matches!(it, Outcome::Failed(_)));
    let skipped = count(|it| matches!(it, Outcome::Skipped(_)));
    let waiting = count(|it| matches!(it, Outcome::NotStarted));
    let in_flight = count(|it| matches!(it, Outcome::InFlight));
    let done = count(|it| matches!(it, Outcome::Done(_)));
    if report.succeeded() && !view.interrupted {
        let verb = if view.kind.is_destroy() { "Destroyed" } else { "Deployed" };
        let preposition = if view.kind.is_destroy() { "in" } else { "to" };
        let head = format!("{verb} {stack} {preposition} {stage} in {took}");
        let counts = counted(&done_counts(report));
        let line = if counts.is_empty() { head } else { format!("{head}: {counts}") };
        return hanging(&line, Some(Meaning::Strong), view.look);
    }
    let mut counts = Vec::new();
    let stopped =
        [(failed, "failed"), (in_flight, "left in flight"), (skipped, "skipped"), (waiting, "not started")];
    for (count, what) in stopped {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    let taken_away = matches!(report.store_failure, Some(StoreError::TakenAway { .. }));
    counts.push(if taken_away { format!("{done} done") } else { format!("{done} done and recorded") });
    let head = if view.interrupted { "Stopped" } else { "Not finished" };
    let line = format!("{head} after {took}: {} (run {})", counts.join(", "), short(&report.run));
    let next = if taken_away {
        format!("Put the state back first, then run again: {}", view.again)
    } else {
        format!("Running again is safe: {}", view.again)
    };
    format!("{}\n{next}", hanging(&line, Some(Meaning::Strong), view.look))
}

/// As much of a run's id as it takes to name it.
pub(crate) fn short(run: &str) -> &str {
    run.get(..12).unwrap_or(run)
}
