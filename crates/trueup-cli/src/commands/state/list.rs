//! `state list` and `state show`.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use trueup_core::AddressRange;
use trueup_state::{Record, Status};

use crate::arguments::{JsonArgs, StageArgs};
use crate::commands::show::{covered, dependents};
use crate::completion;
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::render::{natural, record_json, record_lines};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// List what is recorded
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup state list\n  trueup state list module.net --json")]
pub(super) struct ListArgs {
    /// Only this resource or module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: Option<AddressRange>,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    json: JsonArgs,
}

/// Show a record with all that the store keeps of it, the steps that led to it included
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup state show std_file.index")]
pub(super) struct ShowArgs {
    /// A resource, all instances of one, or a module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: AddressRange,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn list(session: &Session<'_>, args: &ListArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let snapshot = workplace.recorded(Access::Look).await?;
    let covered = |record: &&Record| args.address.as_ref().is_none_or(|range| range.covers(&record.address));
    let mut records: Vec<&Record> =
        snapshot.records.iter().map(|(record, _)| &**record).filter(covered).collect();
    natural::sort_by_address(&mut records, |it| &it.address);
    if args.json.json {
        let listed: Vec<_> = records
            .iter()
            .map(|record| json!({ "address": record.address, "type": record.address.type_name(), "status": status(record) }))
            .collect();
        session.ui.json(&json!({ "version": 1, "kind": "list", "records": listed }));
        return Ok(Exit::Done);
    }
    if records.is_empty() {
        session.ui.note(&format!("Nothing is recorded in stage {}.", workplace.stage.value));
    }
    for record in records {
        let status = status(record);
        let note = if status == "ready" { String::new() } else { format!("  ({status})") };
        session.ui.data(&format!("{}{note}", record.address));
    }
    Ok(Exit::Done)
}

fn status(record: &Record) -> &'static str {
    match record.current.as_ref().map(|current| &current.status) {
        None => "only older generations are left",
        Some(Status::Ready) if !record.deposed.is_empty() => "an older generation waits to be deleted",
        Some(Status::Ready) => "ready",
        Some(Status::Creating(_)) => "create not finished",
        Some(Status::Updating(_)) => "update not finished",
        Some(Status::Deleting) => "delete not finished",
    }
}

pub(super) async fn show(session: &Session<'_>, args: &ShowArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let store = workplace.recorded_store(Access::Look).await?;
    let scope = workplace.scope();
    let snapshot = store.load(&scope).await?;
    let mut listed = Vec::new();
    for record in covered(&snapshot, &args.address, session.name())? {
        let journal = store.journal(&scope, record.id).await?;
        let steps: Vec<String> = journal.iter().map(|entry| step_name(&entry.step)).collect();
        if args.json.json {
            let mut told = record_json(record);
            told["journal"] = json!(steps);
            listed.push(told);
            continue;
        }
        let dependents = dependents(&snapshot, &record.address);
        session.ui.data(&record_lines(record, &dependents, session.ui.out()).join("\n"));
        session.ui.data(&format!("  record {}", record.id));
        session.ui.data(&format!("  journal: {}", steps.join(", ")));
    }
    if args.json.json {
        session.ui.json(&json!({ "version": 2, "kind": "records", "records": listed }));
    }
    Ok(Exit::Done)
}

/// The name of a step, as the journal writes it.
fn step_name(step: &trueup_state::Step) -> String {
    let written = serde_json::to_value(step).unwrap_or_default();
    written["step"].as_str().unwrap_or("?").to_owned()
}
