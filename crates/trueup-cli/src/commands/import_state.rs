//! `import-state`: all that a state of Terraform holds becomes what is recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Entries, SourceMap, Value};
use trueup_engine::{EventSink, LeaseReason, Plan, PlanOptions, SystemRandom};
use trueup_files::Accept;
use trueup_front_end::Purpose;
use trueup_state::{Batch, Entry, MemoryStore, Snapshot, Step, Store, Write};
use trueup_terraform::state_file::StateFile;

use super::state::{STATE_BYTES_MAX, holder, take_lease, waiting};
use crate::arguments::{JsonArgs, StageArgs, VariableArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{PlanView, Shown, counted, plan_json, render_plan};
use crate::running::by_hand;
use crate::session::Session;
use crate::terraform::{Adoption, adoption};
use crate::workplace::{Access, Workplace};

/// Come over from Terraform: record all that a state of it holds
///
/// All resources of the state are recorded at once, with what their providers keep, and a plan is made on top, which shows
/// whether anything would change. Nothing is done to the resources themselves, and the state file is left as it is.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup import-state terraform.tfstate\n  terraform state pull > pulled.tfstate && trueup import-state pulled.tfstate"
)]
pub(crate) struct ImportStateArgs {
    /// A state file of Terraform, version 4
    file: PathBuf,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// Record it beside what is recorded already, if no resource is in both
    #[arg(long)]
    merge: bool,
    /// Do not look what a plan would show afterwards
    #[arg(long)]
    no_plan: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ImportStateArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let state = read(&session.folder.join(&args.file))?;
    let store = workplace.store(Access::Write).await?;
    let scope = workplace.scope();
    let before = store.load(&scope).await?;
    let adoption = adoption(&state, &workplace.registry, &SystemRandom).await?;
    refuse_overlap(&workplace, &adoption, &before, args.merge)?;
    let batch =
        Batch { writes: adoption.writes.clone(), outputs: outputs(&adoption, &before), ..Batch::default() };
    let plan = match args.no_plan {
        true => None,
        false => Some(plan_after(&workplace, &before, &batch).await?),
    };
    if !args.json.json {
        tell(&workplace, args, &state, &adoption, plan.as_ref().map(|it| &it.0));
    }
    let what = counted(adoption.resources.len(), "resource");
    let question = format!("Record {what} in {}?", workplace.stage.value);
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let holder = holder(session, LeaseReason::ImportState);
    let (reconciler, _handling) = by_hand(&workplace, store);
    let admit = |before: &Snapshot| refuse_overlap(&workplace, &adoption, before, args.merge);
    let mut wait = waiting(session, &scope);
    let warnings = reconciler.record(&scope, &batch, &holder, &admit, &mut wait).await?;
    warnings.iter().for_each(|warning| session.ui.note(warning));
    workplace.remember_stack()?;
    workplace.remember_stage();
    match args.json.json {
        true => session.ui.json(&told_json(&adoption, plan.as_ref())),
        false => session.ui.note(&format!(
            "Recorded {} in {}. Next: {} plan",
            counted(adoption.resources.len(), "resource"),
            workplace.stage.value,
            session.name()
        )),
    }
    Ok(Exit::Done)
}

fn read(path: &std::path::Path) -> CommandResult<StateFile> {
    let text = trueup_files::read_text(path, Accept::Stream, STATE_BYTES_MAX)
        .map_err(|error| CommandError::file("read", path, &error.into()))?;
    StateFile::read(&text)
        .map_err(|error| CommandError::new(format!("{}: {error}", path.display()), error.hint))
}

fn refuse_overlap(
    workplace: &Workplace<'_>,
    adoption: &Adoption,
    before: &Snapshot,
    merge: bool,
) -> Result<(), Diagnostics> {
    if before.records.is_empty() {
        return Ok(());
    }
    let refused = |summary: String, hint: &str| Err(Diagnostic::error(summary).hint(hint).into());
    if !merge {
        let summary = format!("something is recorded in stage {} already", workplace.stage.value);
        let hint = "import into an empty stage: --stage NAME; or add --merge, if the resources are others";
        return refused(summary, hint);
    }
    let both = before.records.iter().filter(|(record, _)| adoption.resources.contains_key(&record.address));
    let both: Vec<String> = both.map(|(record, _)| record.address.to_string()).collect();
    match both.is_empty() {
        true => Ok(()),
        false => refused(
            format!("these are recorded already: {}", both.join(", ")),
            "import into an empty stage, or forget them first with `trueup state rm`",
        ),
    }
}

/// The outputs afterwards: those of the state, and what others are there.
fn outputs(adoption: &Adoption, before: &Snapshot) -> Option<Value> {
    let there = before.outputs.iter().filter_map(Value::as_entries).flat_map(Entries::iter);
    let mut outputs: BTreeMap<SmolStr, Value> =
        there.map(|(name, value)| (name.clone(), value.clone())).collect();
    outputs.extend(adoption.outputs.iter().cloned());
    Some(Value::object(outputs))
}

/// What a plan shows once it is recorded: made in memory, before anything is.
async fn plan_after(
    workplace: &Workplace<'_>,
    before: &Snapshot,
    batch: &Batch,
) -> CommandResult<(Plan, SourceMap)> {
    let session = workplace.session;
    let store: Arc<dyn Store> = Arc::new(MemoryStore::on_clock(session.clock.clone()));
    let scope = workplace.scope();
    let lease = take_lease(session, &*store, &scope, LeaseReason::ImportState).await?;
    let there = before.records.iter().map(|(record, _)| Write {
        expected: None,
        entry: Entry::new(record.id, Step::Resealed { record: Box::new((**record).clone()) }),
        record: Some(record.clone()),
    });
    let batch = Batch { writes: there.chain(batch.writes.iter().cloned()).collect(), ..batch.clone() };
    store.commit(&scope, lease.token, &batch).await?;
    store.release(&scope, &lease).await?;
    let reconciler = workplace.reconciler(store, EventSink::new());
    let options = PlanOptions::new(workplace.stage.value.clone());
    let built = workplace.program(Purpose::Deploy, &reconciler, &options).await.map_err(unplanned)?;
    match reconciler.plan(&built.program, &options).await {
        Ok(plan) => Ok((plan, built.program.sources)),
        Err(error) => Err(unplanned(CommandError::of_engine(error, &built.program))),
    }
}

/// A plan that cannot be made is no reason to stay, if someone says so.
fn unplanned(error: CommandError) -> CommandError {
    match error {
        CommandError::Wrong { diagnostics, sources } => {
            let mut told = Diagnostics::new();
            told.extend(diagnostics.into_iter().map(|diagnostic| {
                diagnostic.hint("add --no-plan to record the state without looking what a plan shows")
            }));
            CommandError::Wrong { diagnostics: told, sources }
        }
        other => other,
    }
}

fn tell(
    workplace: &Workplace<'_>,
    args: &ImportStateArgs,
    state: &StateFile,
    adoption: &Adoption,
    plan: Option<&Plan>,
) {
    let ui = &workplace.session.ui;
    let standing = adoption.resources.values();
    let count =
        |keep: &dyn Fn(&crate::terraform::Standing) -> bool| standing.clone().filter(|it| keep(it)).count();
    let mut facts =
        vec![counted(adoption.resources.len(), "resource"), counted(adoption.outputs.len(), "output")];
    let (tainted, deposed) = (count(&|it| it.tainted), standing.clone().map(|it| it.deposed).sum::<usize>());
    if tainted > 0 {
        facts.push(format!("{tainted} tainted"));
    }
    if deposed > 0 {
        facts.push(format!("{deposed} deposed"));
    }
    let written =
        format!("{} of Terraform {}, serial {}", args.file.display(), state.terraform_version, state.serial);
    ui.note(&format!("{written}: {}", facts.join(", ")));
    if adoption.data_sources > 0 {
        let what = counted(adoption.data_sources, "data source");
        ui.note(&format!("{what} need not be recorded: each plan reads them"));
    }
    match plan {
        Some(plan) if plan.is_empty() => ui.note("A plan on top of it: no changes\n"),
        Some(plan) => {
            ui.note("A plan on top of it:\n");
            ui.note(&format!("{}\n", render_plan(plan, PlanView::new(ui.err(), Shown::CHANGES))));
        }
        None => {}
    }
}

fn told_json(adoption: &Adoption, plan: Option<&(Plan, SourceMap)>) -> serde_json::Value {
    let resources = adoption.resources.iter().map(|(address, standing)| {
        json!({
            "address": address.to_string(),
            "present": standing.present,
            "tainted": standing.tainted,
            "deposed": standing.deposed,
        })
    });
    let mut told = json!({
        "version": 2,
        "kind": "import-state",
        "resources": resources.collect::<Vec<_>>(),
        "outputs": adoption.outputs.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>(),
        "data_sources": adoption.data_sources,
    });
    if let Some((plan, sources)) = plan {
        told["plan"] = plan_json(plan, sources);
    }
    told
}
