//! `new`: crates for those who extend trueup.

mod provider;

use clap::{Args, Subcommand};

use crate::failure::CommandResult;
use crate::session::Session;

/// Write a new crate that extends trueup
#[derive(Args, Debug)]
pub(crate) struct NewArgs {
    /// What to write.
    #[command(subcommand)]
    kind: NewKind,
}

#[derive(Subcommand, Debug)]
enum NewKind {
    Provider(provider::ProviderArgs),
}

pub(super) fn run(session: &Session<'_>, args: &NewArgs) -> CommandResult {
    match &args.kind {
        NewKind::Provider(args) => provider::run(session, args),
    }
}
