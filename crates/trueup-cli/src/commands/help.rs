//! `help`: the help of a command, as its own `--help` says it.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::arguments::command_line;
use crate::completion;
use crate::entry::tell_usage;
use crate::exit::Exit;
use crate::session::Session;

/// Print the help of a command
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup help deploy\n  trueup help state mv")]
pub(crate) struct HelpArgs {
    /// The command, and the one below it
    #[arg(value_name = "COMMAND", value_parser = word, add = ArgValueCompleter::new(completion::commands))]
    command: Vec<String>,
}

fn word(text: &str) -> Result<String, String> {
    if text.starts_with('-') { Err("name a command".to_owned()) } else { Ok(text.to_owned()) }
}

pub(super) fn run(session: &Session<'_>, args: &HelpArgs) -> Exit {
    let (name, version) = (session.name(), session.composition.version);
    let words = [name].into_iter().chain(args.command.iter().map(String::as_str)).chain(["--help"]);
    match command_line(name, version).try_get_matches_from(words) {
        Err(told) => tell_usage(&told, &[], &session.ui, name),
        Ok(_) => unreachable!("`--help` ends parsing wherever it stands"),
    }
}
