//! `unlock`: takes the lease away from a run that is dead.

use clap::Args;
use serde_json::json;

use crate::arguments::{JsonArgs, StageArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Take the lease of a stage away from a run that is dead
///
/// A run that is alive notices, and stops without writing anything more. A lease that is not renewed expires by itself
/// after about a minute.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup unlock 7d1f0c…   (the run that the waiting deploy names)")]
pub(crate) struct UnlockArgs {
    /// The run that holds the lease
    run: String,
    #[command(flatten)]
    stage: StageArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &UnlockArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let question = format!("Take the lease of {} away from run {}?", workplace.stage.value, args.run);
    if !session.approved(&question, args.yes, args.json.json)? {
        return Ok(Exit::Done);
    }
    let store = workplace.store(Access::Look).await?;
    match store.unlock(&workplace.scope(), &args.run).await? {
        Some(held) => {
            match args.json.json {
                true => session.ui.json(&json!({ "version": 1, "kind": "unlocked", "holder": held.holder })),
                false => session.ui.prose(&format!(
                    "The lease of {} is free; {} had it.",
                    workplace.stage.value, held.holder
                )),
            }
            Ok(Exit::Done)
        }
        None => {
            // A run that was killed at once has left a lease and nothing else: a stage is looked for only now.
            workplace.check_stage(&*store).await?;
            Err(CommandError::new(
                format!("run {} does not hold the lease of {}", args.run, workplace.stage.value),
                "use the id that the waiting command shows, and name the stage with --stage",
            ))
        }
    }
}
