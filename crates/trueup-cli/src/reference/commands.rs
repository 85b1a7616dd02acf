//! The page of commands: the help of each.

use clap::Command;
use trueup_front_end::GeneratedFile;

use super::notice;
use crate::arguments::command_line;

/// The columns of the help, on every machine.
const COLUMNS: usize = 100;

/// The page of all commands.
pub(crate) fn command_page(program: &'static str, version: &'static str) -> GeneratedFile {
    let mut line = command_line(program, version).term_width(COLUMNS);
    line.build();
    let mut text = notice(program);
    text.push_str(&format!("# Commands\n\nWhat `{program} COMMAND --help` says, for each command. "));
    text.push_str(
        "The options under *Everywhere* are shown once, here at the top: every command takes them.\n\n",
    );
    push_help(&line, &mut text);
    push_commands(&line, program, &mut text);
    GeneratedFile { path: "commands.md".into(), text }
}

fn push_commands(command: &Command, path: &str, text: &mut String) {
    for inner in command.get_subcommands() {
        let path = format!("{path} {}", inner.get_name());
        text.push_str(&format!("\n## {path}\n\n"));
        // Arguments that all commands have stand at the top.
        let own = inner.clone().mut_args(|argument| {
            let shared = argument.is_global_set() || argument.get_id() == "help";
            argument.hide(shared)
        });
        push_help(&own.term_width(COLUMNS), text);
        push_commands(inner, &path, text);
    }
}

fn push_help(command: &Command, text: &mut String) {
    let help = command.clone().render_long_help().to_string();
    text.push_str("```text\n");
    help.trim_end().lines().for_each(|line| {
        text.push_str(line.trim_end());
        text.push('\n');
    });
    text.push_str("```\n");
}
