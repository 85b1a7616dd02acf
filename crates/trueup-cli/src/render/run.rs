//! What a run came to: failures with their errors, what was skipped and why, the summary, outputs, what to do next.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value as Json, json};
use trueup_core::{Address, Diagnostic, Diagnostics, JsonForm, SourceMap, Value};
use trueup_engine::{Action, Outcome, PlannedAction, RunKind, RunReport, describe_failure, located};
use trueup_program::Program;
use trueup_state::StoreError;

use super::diagnostics::render_diagnostics;
use super::diagnostics_json::diagnostics_json;
use super::natural::{compare, sort_by_address};
use super::time::duration;
use super::value::lines;
use crate::failure::{calling, placed, store_trouble, unreleased};
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
    /// The name of this binary.
    pub name: &'a str,
    /// What to do next, if something is left to do.
    pub next: &'a Next,
    /// The program, for the places of what failed.
    pub program: &'a Program,
}

/// How a run that was not finished is taken up again.
#[derive(Debug)]
pub(crate) enum Next {
    /// By the same command.
    Run(String),
    /// By another plan, made with this command: the one that was saved is used up.
    Plan(String),
}

/// What is told on the side at the end of a run.
pub(crate) fn render_run(report: &RunReport, view: &RunView<'_>) -> String {
    let mut blocks = Vec::new();
    let name = view.name;
    let (failures, sources) = placed_failures(report, view.program, name);
    if !failures.is_empty() {
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
    if !report.unresolved.is_empty() {
        let told = calling(unresolved(report), name);
        blocks.push(render_diagnostics(&told, &view.program.sources, view.look));
    }
    blocks.push(closing(report, view));
    blocks.join("\n\n")
}

/// The version of the form of a run's end.
const RUN_JSON_VERSION: u32 = 2;

/// How a run ended, for machines.
pub(crate) fn run_json(report: &RunReport, view: &RunView<'_>) -> Json {
    let RunView { took, interrupted, program, .. } = *view;
    let (failures, mut sources) = placed_failures(report, program, view.name);
    let unresolved = placed(calling(unresolved(report), view.name), program, &mut sources);
    let outcome = |(address, outcome): &(Address, Outcome)| match outcome {
        Outcome::Done(action) => json!({ "address": address, "outcome": "done", "action": action.name() }),
        Outcome::Failed(failure) => json!({
            "address": address, "outcome": "failed",
            "error": { "class": failure.class.name(), "message": failure.message, "hints": failure.hints, "path": failure.path },
        }),
        Outcome::Skipped(cause) => json!({ "address": address, "outcome": "skipped", "cause": cause }),
        Outcome::NotStarted => json!({ "address": address, "outcome": "not-started" }),
        Outcome::InFlight => json!({ "address": address, "outcome": "in-flight" }),
    };
    let counts: serde_json::Map<String, Json> =
        done_counts(report).into_iter().map(|(count, what)| (what.replace(' ', "_"), json!(count))).collect();
    json!({
        "version": RUN_JSON_VERSION,
        "kind": "run",
        "run": report.run,
        "stack": report.plan.scope.stack,
        "stage": report.plan.scope.stage,
        "succeeded": report.succeeded() && !interrupted,
        "interrupted": interrupted,
        "took_ms": took.as_millis() as u64,
        "counts": counts,
        "outcomes": report.outcomes.iter().map(outcome).collect::<Vec<_>>(),
        "outputs": report.outputs.as_ref().map(|outputs| outputs.to_json_tree(JsonForm::PUBLIC)),
        "diagnostics": diagnostics_json(&failures, &sources),
        "unresolved": diagnostics_json(&unresolved, &sources),
        "store_failure": report.store_failure.as_ref().map(ToString::to_string),
        "warnings": warnings(report),
    })
}

/// What to tell of a run short of an error.
pub(crate) fn warnings(report: &RunReport) -> Vec<String> {
    report.warnings.iter().cloned().chain(report.unreleased.as_ref().map(unreleased)).collect()
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

/// What failed, with its places in the program. Whatever is to be run is run by the binary of this name.
fn placed_failures(report: &RunReport, program: &Program, name: &str) -> (Diagnostics, SourceMap) {
    let mut sources = program.sources.clone();
    let failures = placed(calling(failures(report), name), program, &mut sources);
    (failures, sources)
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
        let action = action_of(report, address);
        let diagnostic = describe_failure(address, attempted(action), failure);
        let inputs = action.map(|action| action.inputs.clone()).unwrap_or_default();
        diagnostics.push(located(diagnostic, &inputs));
    }
    if let Some(error @ StoreError::TakenAway { .. }) = &report.store_failure {
        diagnostics.push(store_trouble(error));
    } else if let Some(error) = &report.store_failure {
        diagnostics.push(
            Diagnostic::error(error.to_string())
                .hint("the next run resolves what was in flight, once the state can be written again"),
        );
    }
    diagnostics
}

fn attempted(action: Option<&PlannedAction>) -> &'static str {
    match action.map(|it| it.action) {
        Some(Action::Create) => "create",
        Some(Action::Replace | Action::MayReplace) => "replace",
        Some(Action::Delete) => "delete",
        Some(Action::Read) => "read",
        Some(Action::Forget) => "forget",
        Some(Action::Update | Action::MayUpdate | Action::NoOp) | None => "update",
    }
}

fn planned(report: &RunReport, address: &Address) -> Option<Action> {
    action_of(report, address).map(|it| it.action)
}

/// What was planned for a resource. Plans are in the order of addresses.
fn action_of<'r>(report: &'r RunReport, address: &Address) -> Option<&'r PlannedAction> {
    let actions = &report.plan.actions;
    actions.binary_search_by(|it| it.address.cmp(address)).ok().map(|at| &actions[at])
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
    let is_adopted = |address: &Address| action_of(report, address).is_some_and(|it| it.adopts_only);
    let done: Vec<(Action, bool)> = report
        .outcomes
        .iter()
        .filter_map(|(address, outcome)| match outcome {
            Outcome::Done(action @ (Action::Update | Action::NoOp)) => Some((*action, is_adopted(address))),
            Outcome::Done(action) => Some((*action, false)),
            Outcome::Failed(_) | Outcome::Skipped(_) | Outcome::NotStarted | Outcome::InFlight => None,
        })
        .collect();
    let count = |wanted: &[Action]| {
        done.iter().filter(|(action, adopted)| !adopted && wanted.contains(action)).count()
    };
    let settled_unchanged = count(&[Action::NoOp, Action::MayUpdate]);
    let ended: BTreeSet<&Address> = report.outcomes.iter().map(|(address, _)| address).collect();
    let untouched = |it: &&PlannedAction| it.action == Action::NoOp && !ended.contains(&it.address);
    let never_touched = report.plan.actions.iter().filter(untouched).count();
    let counts = [
        (count(&[Action::Create]), "created"),
        (done.iter().filter(|(_, adopted)| *adopted).count(), "adopted"),
        (count(&[Action::Update]), "updated"),
        (count(&[Action::Replace, Action::MayReplace]), "replaced"),
        (count(&[Action::Delete]), "deleted"),
        (count(&[Action::Forget]), "forgotten"),
        (report.plan.moves.len(), "moved"),
        (report.cleaned_up, "cleaned up"),
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
        let counts = done_counts(report);
        if view.kind.is_destroy() && counts.iter().all(|(_, what)| *what == "unchanged") {
            return nothing_destroyed(report);
        }
        let counts = counted(&counts);
        let line = if counts.is_empty() { head } else { format!("{head}: {counts}") };
        return hanging(&line, Some(Meaning::Strong), view.look);
    }
    let mut counts = Vec::new();
    let stopped =
        [(failed, "failed"), (in_flight, "not finished"), (skipped, "skipped"), (waiting, "not started")];
    for (count, what) in stopped {
        if count > 0 {
            counts.push(format!("{count} {what}"));
        }
    }
    let taken_away = matches!(report.store_failure, Some(StoreError::TakenAway { .. }));
    counts.push(if taken_away { format!("{done} done") } else { format!("{done} done and recorded") });
    let head = if view.interrupted { "Stopped" } else { "Not finished" };
    let line = format!("{head} after {took}: {} (run {})", counts.join(", "), short(&report.run));
    let (again, command) = match view.next {
        Next::Run(command) => ("run again", command),
        Next::Plan(command) => ("plan again, because this plan is used up", command),
    };
    let next = match (&report.unresolved[..], view.next) {
        _ if taken_away => format!("Put the state back first, then {again}: {command}"),
        ([_, ..], _) => format!("First find out what became of {}.\nThen {again}: {command}", named(report)),
        ([], Next::Run(command)) => format!("Running again is safe: {command}"),
        ([], Next::Plan(command)) => {
            format!("This plan is used up. To continue from here, plan again:\n  {command}")
        }
    };
    format!("{}\n{next}", hanging(&line, Some(Meaning::Strong), view.look))
}

/// The resources that a person has to look for: one by name, or how many they are.
fn named(report: &RunReport) -> String {
    match &report.unresolved[..] {
        [(address, _)] => address.to_string(),
        many => format!("these {}", many.len()),
    }
}

/// The creates of which only a person can find out what came of them.
fn unresolved(report: &RunReport) -> Diagnostics {
    let mut told = Diagnostics::new();
    for (address, advice) in &report.unresolved {
        let summary = format!("it is unknown whether {address} was created, and no run can find out");
        told.push(Diagnostic::warning(summary).about(address.to_string()).hint(advice.as_str()));
    }
    told
}

/// A destroy that found nothing to delete is no destruction (DELETE-6).
fn nothing_destroyed(report: &RunReport) -> String {
    let (stack, stage) = (&report.plan.scope.stack, &report.plan.scope.stage);
    match report.plan.actions.is_empty() {
        true => format!("Nothing to destroy: no resources of {stack} are recorded in {stage}."),
        false => format!("Nothing was destroyed: what is recorded of {stack} in {stage} was left out."),
    }
}

/// As much of a run's id as it takes to name it.
pub(crate) fn short(run: &str) -> &str {
    run.get(..12).unwrap_or(run)
}
