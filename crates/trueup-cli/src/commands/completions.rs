//! `completions`: what teaches a shell the command line.

use clap::Args;
use clap_complete::env::Shells;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;

/// Generate shell completions of commands, flags, addresses and stages
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  source <(trueup completions bash)\n  trueup completions fish > ~/.config/fish/completions/trueup.fish"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_parser = ["bash", "zsh", "fish", "elvish", "powershell"])]
    shell: String,
}

pub(super) fn run(session: &Session<'_>, args: &CompletionsArgs) -> CommandResult {
    let shells = Shells::builtins();
    let Some(shell) = shells.completer(&args.shell) else {
        return Err(CommandError::plain(format!("there is nothing for the shell `{}`", args.shell)));
    };
    // The shell calls the program by its name, wherever that is found then.
    let (variable, name) = (crate::completion::VARIABLE, session.name());
    let mut script = Vec::new();
    let written = shell.write_registration(variable, name, name, name, &mut script);
    written.map_err(|error| CommandError::plain(format!("cannot write the script: {error}")))?;
    session.ui.raw(&script);
    Ok(Exit::Done)
}
