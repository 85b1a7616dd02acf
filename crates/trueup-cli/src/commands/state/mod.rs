//! `state`: looking at what is recorded, and changing it by hand. Each change asks first and is journalled (STATE-9).

mod change;
mod export;
mod import;
mod lease;
mod list;
mod migrate;
mod rekey;

#[cfg(feature = "terraform")]
pub(super) use import::STATE_BYTES_MAX;
#[cfg(feature = "terraform")]
pub(super) use lease::record;
pub(super) use lease::under_lease;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use trueup_core::{Address, AddressRange};
use trueup_engine::HandChange;

use crate::arguments::{JsonArgs, RunArgs, StageArgs};
use crate::completion;
use crate::failure::CommandResult;
use crate::session::Session;

/// Look at what is recorded, or change it by hand
#[derive(Args, Debug)]
pub(crate) struct StateArgs {
    #[command(subcommand)]
    command: StateCommand,
}

/// What to do with what is recorded.
#[derive(Subcommand, Debug)]
enum StateCommand {
    List(list::ListArgs),
    Show(list::ShowArgs),
    Mv(MvArgs),
    Rm(RmArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Rekey(rekey::RekeyArgs),
    Migrate(migrate::MigrateArgs),
    Resolve(ResolveArgs),
    Unprotect(UnprotectArgs),
}

/// Give records another address, with all that refers to them
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup state mv std_file.a std_file.b\n  trueup state mv module.old module.new"
)]
struct MvArgs {
    /// The address now: a resource or a module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    from: AddressRange,
    /// The address to be
    to: AddressRange,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Forget records; their objects stay as they are
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup state rm std_file.a")]
struct RmArgs {
    /// A resource, all instances of one, or a module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: AddressRange,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Settle a create whose outcome nobody knows
#[derive(Args, Debug)]
#[command(
    after_help = "Example:\n  trueup state resolve pg_database.main --absent   (if it exists, use import instead)"
)]
struct ResolveArgs {
    /// The resource
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: Address,
    /// The object was not created
    #[arg(long, required = true)]
    absent: bool,
    #[command(flatten)]
    change: ChangeArgs,
}

/// Take the protection off records, so that they can be replaced or deleted
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup state unprotect pg_database.main")]
struct UnprotectArgs {
    /// A resource, all instances of one, or a module
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: AddressRange,
    #[command(flatten)]
    change: ChangeArgs,
}

/// What all changes by hand have in common.
#[derive(Args, Debug)]
struct ChangeArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &StateArgs) -> CommandResult {
    match &args.command {
        StateCommand::List(args) => list::list(session, args).await,
        StateCommand::Show(args) => list::show(session, args).await,
        StateCommand::Export(args) => export::run(session, args).await,
        StateCommand::Import(args) => import::run(session, args).await,
        StateCommand::Rekey(args) => rekey::run(session, args).await,
        StateCommand::Migrate(args) => migrate::run(session, args).await,
        StateCommand::Mv(args) => {
            let change = HandChange::Move { from: args.from.clone(), to: args.to.clone() };
            change::run(session, &change, &args.change).await
        }
        StateCommand::Rm(args) => {
            change::run(session, &HandChange::Forget(args.address.clone()), &args.change).await
        }
        StateCommand::Resolve(args) => {
            change::run(session, &HandChange::ResolveAbsent(args.address.clone()), &args.change).await
        }
        StateCommand::Unprotect(args) => {
            change::run(session, &HandChange::Unprotect(args.address.clone()), &args.change).await
        }
    }
}
