//! `--refresh-only`: records take over what is observed, and no object changes (DRIFT-9).

use std::sync::Arc;

use serde_json::json;
use trueup_core::{Address, Change, diff};
use trueup_engine::{DeployOptions, HandStep};
use trueup_front_end::Purpose;
use trueup_state::{Record, Snapshot, Status, Step};

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult, note_unreleased};
use crate::render::one_line;
use crate::running::{by_hand, uninterrupted};
use crate::ui::{Look, Mark, Meaning, cut};
use crate::workplace::{Access, Workplace};

/// What is wanted of a refresh.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefreshView {
    /// Only to be told.
    pub dry_run: bool,
    /// Approved beforehand.
    pub yes: bool,
    /// Told as JSON.
    pub json: bool,
}

/// Lets records take over what is observed, if that is approved. Whether there was anything to take over.
pub(crate) async fn refresh(
    workplace: &Workplace<'_>,
    options: &DeployOptions,
    view: RefreshView,
) -> CommandResult<(Exit, bool)> {
    let session = workplace.session;
    let access = if view.dry_run { Access::Read } else { Access::Write };
    let store = workplace.recorded_store(access).await?;
    let (reconciler, _handling) = by_hand(workplace, store.clone());
    let looking = async {
        let program = workplace.program(Purpose::Deploy, &reconciler, &options.plan).await?.program;
        let steps = reconciler.preview_refresh(&program, &options.plan).await;
        let steps = steps.map_err(|error| CommandError::of_engine(error, &program))?;
        Ok::<_, CommandError>((program, steps))
    };
    let (program, steps) = uninterrupted(workplace, looking).await??;
    let snapshot = store.load(&workplace.scope()).await?;
    if view.json {
        let told: Vec<_> =
            steps.iter().map(|it| json!({ "address": it.address, "step": it.step.name() })).collect();
        session.ui.json(&json!({ "version": 1, "kind": "refresh", "steps": told }));
    } else {
        let look = session.ui.out();
        steps.iter().flat_map(|step| told(step, &snapshot, look)).for_each(|line| session.ui.data(&line));
    }
    for line in unfinished(&snapshot, session.name()) {
        session.ui.note(&line);
    }
    if steps.is_empty() {
        session.ui.note("Nothing to record: the state matches what is there.");
        return Ok((Exit::Done, false));
    }
    if view.dry_run {
        return Ok((Exit::Done, true));
    }
    let question = format!("Record this in {}?", workplace.stage.value);
    if !session.approved(&question, view.yes, view.json)? {
        return Ok((Exit::Done, true));
    }
    let done = reconciler.refresh(&program, options).await;
    let done = done.map_err(|error| CommandError::of_engine(error, &program))?;
    note_unreleased(session, done.unreleased.as_ref());
    let records = done.steps.iter().filter(|step| !matches!(step.step, Step::DeleteBegun { .. })).count();
    session.ui.note(&format!("Updated records: {records}. No object was changed."));
    Ok((Exit::Done, true))
}

/// Resources with an operation that never finished: a refresh leaves them as they are.
fn unfinished(snapshot: &Snapshot, name: &str) -> Vec<String> {
    let records = snapshot.records.iter().map(|(record, _)| record);
    let is_unfinished =
        |record: &&Arc<Record>| record.current.as_ref().is_some_and(|it| it.status != Status::Ready);
    let mut addresses: Vec<_> = records.filter(is_unfinished).map(|record| &record.address).collect();
    addresses.sort();
    let line =
        |address: &Address| format!("{address}: an earlier run did not finish it; `{name} deploy` does");
    addresses.into_iter().map(line).collect()
}

/// What a record takes over, field by field.
fn told(step: &HandStep, snapshot: &Snapshot, look: Look) -> Vec<String> {
    let head = |sign: &str, meaning, why: &str| {
        let address = step.address.to_string();
        vec![format!("  {} {address}  {why}", look.paint(meaning, sign))]
    };
    match &step.step {
        Step::Refreshed { object, .. } => {
            let record = snapshot.records.iter().find(|(record, _)| record.address == step.address);
            let recorded = record.and_then(|(record, _)| record.current.as_ref()?.object.as_ref());
            let before = recorded.map(|recorded| recorded.outputs.clone()).unwrap_or_default();
            let mut lines = head("~", Meaning::Update, "recorded as it is now");
            let field = |change: &Change| {
                let side = |value: &Option<_>| value.as_ref().map_or("(not set)".to_owned(), one_line);
                let arrow = look.mark(Mark::Becomes);
                let text = format!(
                    "      {}  {} {arrow} {}",
                    change.path,
                    side(&change.before),
                    side(&change.after)
                );
                cut(&text, look.columns, look)
            };
            lines.extend(diff(&before, &object.outputs).iter().map(field));
            lines
        }
        Step::Deleted { .. } => head("-", Meaning::Delete, "is gone; its record is removed"),
        _ => Vec::new(),
    }
}
