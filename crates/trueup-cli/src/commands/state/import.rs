//! `state import`: what an export holds becomes what is recorded.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use trueup_core::{Diagnostic, Diagnostics, read_json};
use trueup_engine::LeaseReason;
use trueup_files::Accept;
use trueup_provider::IdempotencyToken;
use trueup_state::sealing::{Keyring, opened};
use trueup_state::{
    Attempt, Batch, Entry, Record, Scope, Snapshot, Status, Step, StoreError, Version, Write, transition,
};

use super::export::{EXPORT_VERSION, Export};
use super::lease::record;
use crate::arguments::StageArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::running::by_hand;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Record what an export holds, in a stage where nothing is recorded yet
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup state import copy.json --stage restored")]
pub(super) struct ImportArgs {
    /// A file that `state export` wrote
    file: PathBuf,
    #[command(flatten)]
    stage: StageArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub(super) async fn run(session: &Session<'_>, args: &ImportArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let mut export = read(&session.folder.join(&args.file))?;
    open(&workplace, &mut export).await?;
    let writes = writes(&export.records)?;
    let store = workplace.store(Access::Write).await?;
    let refuse_recorded = |before: &Snapshot| match before.records.is_empty() {
        true => Ok(()),
        false => {
            let summary = format!("something is recorded in stage {} already", workplace.stage.value);
            let hint = "import into an empty stage: --stage NAME";
            Err(Diagnostics::from(Diagnostic::error(summary).hint(hint)))
        }
    };
    refuse_recorded(&store.load(&workplace.scope()).await?)?;
    let question = format!("Record {} resources in {}?", export.records.len(), workplace.stage.value);
    if !session.approved(&question, args.yes, false)? {
        return Ok(Exit::Done);
    }
    let configurations = Some(export.configurations).filter(|it| !it.is_empty());
    let batch = Batch { writes, outputs: export.outputs, configurations, ..Batch::default() };
    let (reconciler, _handling) = by_hand(&workplace, store);
    record(&workplace, &reconciler, LeaseReason::StateImport, &batch, &refuse_recorded).await?;
    session.ui.note(&format!("{} resources are recorded in {}", export.records.len(), workplace.stage.value));
    Ok(Exit::Done)
}

/// The largest state that is read from a file: some hundred thousand resources.
pub(in crate::commands) const STATE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Opens the secrets of an export by the keyring that came with it.
async fn open(workplace: &Workplace<'_>, export: &mut Export) -> CommandResult<()> {
    let Some(keyring) = &export.keyring else { return Ok(()) };
    let origin = Scope::new(export.stack.as_str(), export.stage.as_str());
    let mut sources = workplace.key_sources();
    workplace.session.ask_for_keyring(Some(keyring), &mut sources)?;
    let unlocked = async { Keyring::parse(keyring)?.unlock(&sources, &origin).await };
    let keys = unlocked.await.map_err(|error| {
        let (stack, stage) = (export.stack.clone(), export.stage.clone());
        StoreError::Key { stack, stage, error }
    })?;
    let Some(keys) = keys else { return Ok(()) };
    let versioned = std::mem::take(&mut export.records).into_iter().map(|it| (it.into(), Version(0)));
    let (outputs, configurations) = (export.outputs.take(), std::mem::take(&mut export.configurations));
    let snapshot = Snapshot { records: versioned.collect(), outputs, configurations };
    let opened = opened(&origin, snapshot, &keys)
        .map_err(|unopened| CommandError::new(unopened.to_string(), "make another export"))?;
    export.records = opened.records.into_iter().map(|(record, _)| Arc::unwrap_or_clone(record)).collect();
    export.outputs = opened.outputs;
    export.configurations = opened.configurations;
    Ok(())
}

fn read(path: &std::path::Path) -> CommandResult<Export> {
    let text = trueup_files::read_text(path, Accept::Stream, STATE_BYTES_MAX)
        .map_err(|error| CommandError::file("read", path, &error.into()))?;
    let foreign = |why: String| {
        CommandError::new(
            format!("{} is not an export: {why}", path.display()),
            "make one with `trueup state export`",
        )
    };
    // The version first: what else a newer form holds is not for us to read.
    let header: serde_json::Value = read_json(&text).map_err(|error| foreign(error.to_string()))?;
    match (header["kind"].as_str(), header["version"].as_u64()) {
        (Some("state"), Some(version)) if (1..=u64::from(EXPORT_VERSION)).contains(&version) => {}
        (Some("state"), Some(version)) => {
            return Err(foreign(format!(
                "it has version {version}, this program knows up to {EXPORT_VERSION}"
            )));
        }
        _ => return Err(foreign("it has neither kind nor version".to_owned())),
    }
    read_json(&text).map_err(|error| foreign(error.to_string()))
}

/// The steps that lead to these records, legal as any others.
fn writes(records: &[Record]) -> CommandResult<Vec<Write>> {
    let mut writes = Vec::new();
    for record in records {
        let refused = |why: &str| {
            CommandError::new(
                format!("{} cannot be imported: {why}", record.address),
                "finish unfinished operations with a deploy, then export again",
            )
        };
        let Some(current) = &record.current else {
            return Err(refused("only older generations are left of it"));
        };
        let (Status::Ready, Some(object)) = (&current.status, &current.object) else {
            return Err(refused("an operation on it is not finished"));
        };
        if !record.deposed.is_empty() {
            return Err(refused("an older generation of it waits to be deleted"));
        }
        let mut steps = vec![Step::Adopted {
            address: record.address.clone(),
            origin: record.origin.clone(),
            meta: record.meta.clone(),
            number: current.number,
            slot: current.slot,
            object: object.clone(),
        }];
        if let (false, Some(inputs)) = (current.bindings.is_empty(), &object.inputs) {
            let token = IdempotencyToken::fresh();
            let attempt = Attempt {
                inputs: inputs.clone(),
                bindings: current.bindings.clone(),
                token,
                pending: None,
                stub: false,
            };
            steps.push(Step::UpdateBegun { meta: record.meta.clone(), attempt });
            steps.push(Step::Settled { number: current.number, object: object.clone() });
        }
        let mut now = None;
        for step in steps {
            let entry = Entry::new(record.id, step).by(current.configuration);
            now = transition(now, &entry).map_err(|illegal| refused(&illegal.to_string()))?;
            writes.push(Write { expected: None, entry, record: now.clone().map(Arc::new) });
        }
    }
    Ok(writes)
}
