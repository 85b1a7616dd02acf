//! Arguments that several commands have in common.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command};
use clap_complete::engine::ArgValueCompleter;
use smol_str::SmolStr;
use trueup_core::AddressRange;
use trueup_front_end::GivenVariable;
use trueup_program::RetrySettings;

use crate::completion;

/// Where and how to work, for every command.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// Work in this folder
    #[arg(long, short = 'C', global = true, value_name = "FOLDER")]
    pub chdir: Option<PathBuf>,
    /// Read environment variables from this file; those that are set already count more
    #[arg(long, global = true, value_name = "FILE")]
    pub env_file: Vec<PathBuf>,
    /// Take environment variables and providers' settings from this profile of the user configuration (also:
    /// TRUEUP_PROFILE)
    #[arg(long, global = true, value_name = "NAME", add = ArgValueCompleter::new(completion::profiles))]
    pub profile: Option<String>,
    /// Use no colours (also: NO_COLOR)
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Write a log to this file; TRUEUP_LOG says how much, such as `debug`
    #[arg(long, global = true, value_name = "FILE")]
    pub log_file: Option<PathBuf>,
}

/// Which stage.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StageArgs {
    /// The stage to work on; else TRUEUP_STAGE, the one last used here, or one of your own
    #[arg(long, value_name = "NAME", value_parser = stage_name, add = ArgValueCompleter::new(completion::stages))]
    pub stage: Option<SmolStr>,
}

/// Values for the variables of the program. Their order is kept apart, by [`given_variables`].
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct VariableArgs {
    /// Set a variable
    #[arg(long, value_name = "NAME=VALUE", value_parser = VariableParser)]
    var: Vec<GivenVariable>,
    /// Read variables from a file
    #[arg(long, value_name = "FILE")]
    var_file: Vec<PathBuf>,
}

/// What a plan is about.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Planning")]
pub(crate) struct PlanArgs {
    /// Only this resource or module, with all it depends on
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(completion::addresses))]
    pub target: Vec<AddressRange>,
    /// Not this resource or module, nor what depends on it
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(completion::addresses))]
    pub exclude: Vec<AddressRange>,
    /// Replace this resource, whatever its plan says
    #[arg(long, value_name = "ADDRESS", add = ArgValueCompleter::new(completion::addresses))]
    pub replace: Vec<AddressRange>,
    /// Update also what is unchanged
    #[arg(long)]
    pub force: bool,
    /// Take over objects that someone else made
    #[arg(long)]
    pub adopt: bool,
    /// Do not look for changes made outside
    #[arg(long)]
    pub no_drift: bool,
    /// How many operations run at a time; what exists in records alone does not count, unless it is 1
    #[arg(long, value_name = "COUNT", value_parser = count)]
    pub parallelism: Option<usize>,
    /// Number of attempts per operation, then the first and longest wait: 3, or 3,2s,30s
    #[arg(long, value_name = "ATTEMPTS[,WAIT,LONGEST]")]
    pub retry: Option<RetrySettings>,
    /// Also check the plan against the policies in this file or folder
    #[arg(long, value_name = "PATH")]
    pub policy: Vec<PathBuf>,
}

/// How a plan is carried out.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunArgs {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Start nothing new after the first failure
    #[arg(long)]
    pub fail_fast: bool,
    /// Fail immediately if another run holds the lease
    #[arg(long)]
    pub no_wait: bool,
}

/// How much is shown, and for whom.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct ViewArgs {
    /// Show long values in full
    #[arg(long)]
    pub full: bool,
    /// Also show unchanged resources, unchanged fields and defaults
    #[arg(long)]
    pub unchanged: bool,
    /// For machines: JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// JSON or not.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct JsonArgs {
    /// For machines: JSON on standard output
    #[arg(long)]
    pub json: bool,
}

/// The values of variables in the order in which they were written, which decides which one counts.
pub(crate) fn given_variables(matches: &ArgMatches) -> Vec<GivenVariable> {
    if let Some((_, inner)) = matches.subcommand() {
        return given_variables(inner);
    }
    let mut found: Vec<(usize, GivenVariable)> = Vec::new();
    // A command that takes no variables does not know their names either.
    if let Ok(Some(values)) = matches.try_get_many::<GivenVariable>("var") {
        found.extend(matches.indices_of("var").into_iter().flatten().zip(values.cloned()));
    }
    if let Ok(Some(files)) = matches.try_get_many::<PathBuf>("var_file") {
        let files = files.cloned().map(GivenVariable::File);
        found.extend(matches.indices_of("var_file").into_iter().flatten().zip(files));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, given)| given).collect()
}

/// Reads `NAME=VALUE`. Its errors do not quote what was given, as those of clap do: it may be a secret.
#[derive(Clone)]
struct VariableParser;

impl TypedValueParser for VariableParser {
    type Value = GivenVariable;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        value: &OsStr,
    ) -> Result<GivenVariable, clap::Error> {
        let wrong = |why: &str| {
            let message = format!("a value of `--var NAME=VALUE` is wrong: {why}\n");
            clap::Error::raw(ErrorKind::ValueValidation, message).with_cmd(command)
        };
        let text = value.to_str().ok_or_else(|| wrong("it is not UTF-8 text"))?;
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("there is no `=` in it"))?;
        match trueup_core::is_identifier(name) {
            true => Ok(GivenVariable::Value { name: name.into(), text: value.to_owned() }),
            false => Err(wrong("the text before `=` is not the name of a variable")),
        }
    }
}

/// `NAME=VALUE` on its own: a variable whose `--var` was forgotten.
pub(crate) fn is_assignment(argument: &str) -> bool {
    argument.split_once('=').is_some_and(|(name, _)| trueup_core::is_identifier(name))
}

/// Stages become part of physical names and paths.
pub(crate) fn stage_name(text: &str) -> Result<SmolStr, String> {
    let sound = !text.is_empty()
        && text.len() <= 64
        && text.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.'));
    if sound { Ok(text.into()) } else { Err("use up to 64 letters, digits, `_`, `-` and `.`".to_owned()) }
}

fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "a number above 0 is needed".to_owned())
}
