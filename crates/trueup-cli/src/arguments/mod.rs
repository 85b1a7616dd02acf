//! The command line as data: what can be typed, and its help.

mod normalise;
mod shared;

use clap::{CommandFactory, Parser, Subcommand};

pub(crate) use normalise::normalise;
pub(crate) use shared::{
    GlobalArgs, JsonArgs, PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs, given_variables,
    is_assignment, stage_name,
};

use crate::commands;

/// Brings real infrastructure to the state a program declares, and keeps it there.
///
/// Begin with `init`, see what would change with `plan`, and apply it with `deploy`.
#[derive(Parser, Debug)]
#[command(name = "trueup", disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Where and how.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    Init(commands::init::InitArgs),
    New(commands::new::NewArgs),
    #[cfg(feature = "terraform")]
    Providers(commands::providers::ProvidersArgs),
    Validate(commands::validate::ValidateArgs),
    Fmt(commands::fmt::FmtArgs),
    Console(commands::console::ConsoleArgs),
    Plan(commands::plan::PlanCommandArgs),
    #[command(visible_alias = "apply")]
    Deploy(commands::deploy::DeployArgs),
    Destroy(commands::destroy::DestroyArgs),
    Dev(commands::dev::DevArgs),
    Drift(commands::drift::DriftArgs),
    Import(commands::import::ImportArgs),
    #[cfg(feature = "terraform")]
    ImportState(commands::import_state::ImportStateArgs),
    #[cfg(feature = "terraform")]
    ExportState(commands::export_state::ExportStateArgs),
    Output(commands::output::OutputArgs),
    Show(commands::show::ShowArgs),
    Why(commands::why::WhyArgs),
    Stage(commands::stage::StageCommandArgs),
    State(commands::state::StateArgs),
    Key(commands::key::KeyArgs),
    History(commands::history::HistoryArgs),
    Graph(commands::graph::GraphArgs),
    Schema(commands::schema::SchemaArgs),
    Unlock(commands::unlock::UnlockArgs),
    Config(commands::config::ConfigArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
    Reference(commands::reference::ReferenceArgs),
    Version(commands::version::VersionArgs),
    Help(commands::help::HelpArgs),
}

/// The command line of a binary of this name and version. Examples in the help call it by that name.
pub(crate) fn command_line(name: &'static str, version: &'static str) -> clap::Command {
    let command = Arguments::command().name(name).bin_name(name).version(version);
    // The name that the examples are written with.
    if name == "trueup" { command } else { named(command, name) }
}

fn named(command: clap::Command, name: &'static str) -> clap::Command {
    let help = command.get_after_help().map(|help| help.to_string().replace("trueup ", &format!("{name} ")));
    let command = match help {
        Some(help) => command.after_help(help),
        None => command,
    };
    command.mut_subcommands(|inner| named(inner, name))
}

#[cfg(test)]
mod tests {
    use trueup_front_end::GivenVariable;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command_line("trueup", "1.0").debug_assert();
    }

    /// Every command has an example in its help, and none speaks of another binary.
    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            for inner in command.get_subcommands() {
                if inner.has_subcommands() {
                    check(inner);
                    continue;
                }
                let help = inner.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains("xample") && help.contains("site "), "{}: {help}", inner.get_name());
                assert!(!help.contains("trueup "), "{}", inner.get_name());
            }
        }
        check(&command_line("site", "1.0"));
    }

    #[test]
    fn variables_keep_their_order() {
        let line = ["t", "plan", "--var", "a=1", "--var-file", "f", "--var", "b=x=y"];
        let matches = command_line("t", "1.0").try_get_matches_from(line).unwrap();
        let value =
            |name: &str, text: &str| GivenVariable::Value { name: name.into(), text: text.to_owned() };
        assert_eq!(
            given_variables(&matches),
            [value("a", "1"), GivenVariable::File("f".into()), value("b", "x=y")]
        );
        let matches = command_line("t", "1.0").try_get_matches_from(["t", "version"]).unwrap();
        assert_eq!(given_variables(&matches), []);
    }
}
