//! A change by hand: shown, asked for, made under the lease.

use std::collections::BTreeSet;

use serde_json::json;
use trueup_engine::{DeployOptions, HandChange, HandStep};
use trueup_provider::GenerationNumber;
use trueup_state::Step;

use super::ChangeArgs;
use crate::exit::Exit;
use crate::failure::{CommandResult, note_unreleased};
use crate::running::by_hand;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

pub(super) async fn run(session: &Session<'_>, change: &HandChange, args: &ChangeArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let store = workplace.recorded_store(Access::Write).await?;
    let (reconciler, _handling) = by_hand(&workplace, store);
    let scope = workplace.scope();
    let steps = reconciler.preview_by_hand(&scope, change).await?;
    if steps.is_empty() {
        if args.json.json {
            session.ui.json(&as_json(change, &steps));
        }
        session.ui.note("Nothing to change.");
        return Ok(Exit::Done);
    }
    if !args.json.json {
        steps.iter().for_each(|step| session.ui.data(&format!("  {}", told(step))));
    }
    let question = format!("Change the state of {}?", workplace.stage.value);
    if !session.approved(&question, args.run.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let options = DeployOptions {
        holder: session.holder(),
        wait: !args.run.no_wait,
        ..DeployOptions::new(workplace.stage.value.clone())
    };
    let done = reconciler.change_by_hand(&scope, change, &options).await?;
    note_unreleased(session, done.unreleased.as_ref());
    if args.json.json {
        session.ui.json(&as_json(change, &done.steps));
    } else {
        session.ui.note(&summary(&done.steps));
    }
    Ok(Exit::Done)
}

fn as_json(change: &HandChange, steps: &[HandStep]) -> serde_json::Value {
    let steps: Vec<_> = steps.iter().map(|it| json!({ "address": it.address, "step": told(it) })).collect();
    json!({ "version": 1, "kind": "change", "change": change.name(), "steps": steps })
}

/// What was done, in a line.
fn summary(steps: &[HandStep]) -> String {
    let forgotten: BTreeSet<_> = steps
        .iter()
        .filter(|step| matches!(step.step, Step::Dropped { .. }))
        .map(|step| &step.address)
        .collect();
    let changes = steps.len();
    match (forgotten.len(), forgotten.first()) {
        (0, _) => format!("Done: {changes} change{}", if changes == 1 { "" } else { "s" }),
        (1, Some(address)) => format!("Forgotten: {address}. Its object stays."),
        (many, _) => format!("Forgotten: {many} resources. Their objects stay."),
    }
}

fn told(step: &HandStep) -> String {
    let address = &step.address;
    match &step.step {
        Step::Moved { to } => format!("{address} becomes {to}"),
        Step::MetaChanged { .. } => format!("{address}: its record is updated"),
        Step::Dropped { number: GenerationNumber::FIRST } => {
            format!("{address} is forgotten; its object stays")
        }
        Step::Dropped { number } => format!("{address} generation {number} is forgotten; its object stays"),
        Step::Abandoned { .. } => format!("{address} counts as not created"),
        _ => format!("{address} is changed"),
    }
}
