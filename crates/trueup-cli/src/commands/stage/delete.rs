//! `stage delete`: forgets all that is kept of a stage in which no resources are recorded.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use smol_str::SmolStr;
use trueup_core::Diagnostic;
use trueup_engine::LeaseReason;
use trueup_state::Lease;

use crate::arguments::{JsonArgs, stage_name};
use crate::commands::state::under_lease;
use crate::completion;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::counted;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Delete a stage that has no resources: its history, outputs and the keys that sealed its secrets
///
/// A stage with resources is refused: `destroy` deletes their objects, `state rm` forgets them. Key files and keys in key
/// services are kept, since other stages may use them.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup stage delete preview-17 --yes")]
pub(super) struct DeleteArgs {
    /// The stage
    #[arg(value_name = "STAGE", value_parser = stage_name, add = ArgValueCompleter::new(completion::stages))]
    stage: SmolStr,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &DeleteArgs) -> CommandResult {
    let workplace = Workplace::load(session, Some(&args.stage))?;
    workplace.check_something()?;
    let store = workplace.bare_store(Access::Look).await?;
    let scope = workplace.scope();
    let stages = workplace.stages(&*store).await?;
    if !stages.contains(&scope.stage) {
        return Err(workplace.unknown_stage(&stages).into());
    }
    refuse_records(&workplace, store.versions(&scope).await?.len())?;
    let runs = store.runs(&scope).await?.len();
    let question = format!(
        "Delete stage {} of {} with the history of {}?",
        scope.stage,
        scope.stack,
        counted(runs, "run")
    );
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let forgetting = async |lease: &Lease| Ok(store.forget_scope(&scope, lease.token).await?);
    if !under_lease(&workplace, &store, LeaseReason::StageDelete, forgetting).await? {
        // Another run was faster.
        refuse_records(&workplace, store.versions(&scope).await?.len())?;
        let summary = format!("another run has just used stage {} of {}", scope.stage, scope.stack);
        return Err(CommandError::new(summary, "repeat the command"));
    }
    workplace.forget_stage()?;
    if args.json.json {
        let (stack, stage) = (&scope.stack, &scope.stage);
        let told =
            json!({ "version": 1, "kind": "stage-deleted", "stack": stack, "stage": stage, "runs": runs });
        session.ui.json(&told);
        return Ok(Exit::Done);
    }
    session.ui.prose(&format!(
        "Deleted stage {} of {}: its history, outputs and sealing keys. Key files are kept.",
        scope.stage, scope.stack
    ));
    Ok(Exit::Done)
}

fn refuse_records(workplace: &Workplace<'_>, records: usize) -> CommandResult<()> {
    if records == 0 {
        return Ok(());
    }
    let (stack, stage) = (&workplace.stack.value, &workplace.stage.value);
    let summary = format!("stage {stage} of {stack} still has {}", counted(records, "resource"));
    let error = Diagnostic::error(summary)
        .hint(format!("`trueup destroy --stage {stage}` deletes their objects"))
        .hint(format!("`trueup state rm ADDRESS --stage {stage}` forgets them; their objects stay"));
    Err(CommandError::from(error))
}
