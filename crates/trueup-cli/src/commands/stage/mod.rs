//! `stage`: the stages of a stack, listed, and deleted once nothing is recorded in them.

mod delete;
mod list;

use clap::{Args, Subcommand};

use crate::failure::CommandResult;
use crate::session::Session;

/// List the stages of this stack, or delete one that has no resources
#[derive(Args, Debug)]
pub(crate) struct StageCommandArgs {
    #[command(subcommand)]
    command: StageCommand,
}

/// What to do with stages.
#[derive(Subcommand, Debug)]
enum StageCommand {
    List(list::ListArgs),
    Delete(delete::DeleteArgs),
}

pub(super) async fn run(session: &Session<'_>, args: &StageCommandArgs) -> CommandResult {
    match &args.command {
        StageCommand::List(args) => list::run(session, args).await,
        StageCommand::Delete(args) => delete::run(session, args).await,
    }
}
