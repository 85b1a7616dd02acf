//! From arguments to exit code: what every binary's `main` calls.

use std::borrow::Cow;
use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::FromArgMatches;
use clap::parser::ValueSource;
use clap_complete::CompleteEnv;
use trueup_core::{Diagnostic, KnownSecrets, mask_argument, mask_credentials};
use trueup_files::Accept;
use trueup_front_end::GivenVariable;
use trueup_provider::RuntimeClock;

use crate::advised::quoted;
use crate::arguments::{
    Arguments, Command, GlobalArgs, command_line, given_variables, is_assignment, normalise,
};
use crate::commands;
use crate::composition::Composition;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::interrupt::Interrupts;
use crate::log_file::{LogFile, LoggedSecrets};
use crate::session::Session;
use crate::settings::{Environment, Profile, UserSettings, learn_credentials, parse_env_file};
use crate::ui::{Terminal, Ui};

/// Runs the command line of this process; what `main` returns.
#[expect(clippy::needless_pass_by_value, reason = "a binary has no further use for it")]
pub fn main(composition: Composition) -> ExitCode {
    let logged_secrets = LoggedSecrets::default();
    let environment = Environment::of_process();
    crate::panics::show_only_locations(&environment, logged_secrets.clone());
    let arguments = arguments();
    if let Some(exit) = completed(&composition, &arguments) {
        return exit;
    }
    run(&composition, environment, arguments, logged_secrets).into()
}

/// The arguments of the process.
#[expect(clippy::disallowed_methods, reason = "the command line is what they are for")]
fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// The folder in which the process was started.
#[expect(clippy::disallowed_methods, reason = "paths that a user types are relative to it")]
pub(crate) fn current_folder() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

/// How it ended, if a shell asked for completions.
fn completed(composition: &Composition, arguments: &[OsString]) -> Option<ExitCode> {
    let (name, version) = (composition.name, composition.version);
    let here = current_folder().ok();
    let completing =
        CompleteEnv::with_factory(|| command_line(name, version)).var(crate::completion::VARIABLE);
    match completing.try_complete(arguments, here.as_deref()) {
        Ok(true) => Some(ExitCode::SUCCESS),
        Ok(false) => None,
        // A shell that does not read them wants none.
        Err(told) if told.kind() == clap::error::ErrorKind::Io => Some(Exit::Error.into()),
        Err(told) => {
            let _ = told.print();
            Some(Exit::Error.into())
        }
    }
}

fn run(
    composition: &Composition,
    environment: Environment,
    arguments: Vec<OsString>,
    logged_secrets: LoggedSecrets,
) -> Exit {
    let arguments = normalise(arguments);
    let CommandLine { parsed, given, json } = match parse(composition, &arguments) {
        Ok(parsed) => parsed,
        Err(told) => {
            let ui = Ui::new(Terminal::detect(&environment, false));
            let exit = tell_usage(&told, &arguments, &ui, composition.name);
            return delivered(exit, &ui, composition.name);
        }
    };
    // What is wrong with it is told where it is needed.
    let user = UserSettings::read(environment.config_file().as_deref());
    let no_color = parsed.global.no_color || user.as_ref().is_ok_and(|user| user.color == Some(false));
    let ui = Ui::new(Terminal::detect(&environment, no_color));
    let credentials = KnownSecrets::default();
    learn_credentials(&environment, &credentials);
    logged_secrets.add(&credentials);
    // However this ends, the terminal is left as it was found.
    let _settled = Settled(ui.clone());
    let prepared = prepare(&parsed.global, &environment, &user, &arguments, &logged_secrets);
    let Prepared { folder, profile, log } = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return delivered(fail(error, json, &ui, composition.name), &ui, composition.name),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let error = CommandError::plain(format!("cannot begin: {error}"));
            return delivered(fail(error, json, &ui, composition.name), &ui, composition.name);
        }
    };
    // Parts of the session may need the runtime while they are dropped.
    runtime.block_on(async {
        let session = Session {
            composition,
            ui,
            environment,
            user,
            folder,
            interrupts: Interrupts::default(),
            clock: Arc::new(RuntimeClock::new()),
            random: Arc::new(|bytes: &mut [u8]| {
                getrandom::fill(bytes).expect("the operating system provides randomness");
            }),
            given,
            profile,
            passphrase: Arc::default(),
            registries: std::cell::RefCell::default(),
            log_file: log.as_ref().and_then(LogFile::place),
            logged_secrets,
            typed: typed(composition.name, &arguments),
        };
        run_command(&session, &parsed.command, json, log.as_ref()).await
    })
}

/// What was typed.
struct CommandLine {
    parsed: Arguments,
    given: Vec<GivenVariable>,
    /// Whether the command was asked to tell machines.
    json: bool,
}

fn parse(composition: &Composition, arguments: &[OsString]) -> Result<CommandLine, clap::Error> {
    // Never freed: taking the tree of commands apart would be a fifteenth of the work of a short run.
    let mut command = ManuallyDrop::new(command_line(composition.name, composition.version));
    let matches = command.try_get_matches_from_mut(arguments)?;
    Ok(CommandLine {
        parsed: Arguments::from_arg_matches(&matches)?,
        given: given_variables(&matches),
        json: wants_json(&matches),
    })
}

/// Runs a command, and tells how it failed if it did.
async fn run_command(session: &Session<'_>, command: &Command, json: bool, log: Option<&LogFile>) -> Exit {
    let (ui, name) = (&session.ui, session.name());
    tracing::info!(version = session.composition.version, "{}", session.typed);
    let exit = match commands::run(session, command).await {
        Ok(exit) => exit,
        Err(error) => fail(error, json, ui, name),
    };
    session.shut_down().await;
    if let Some(log) = log {
        log.warn(ui);
    }
    let exit = delivered(exit, ui, name);
    tracing::info!(exit = exit.code(), "ended");
    exit
}

/// Tells why a command failed: people always, and machines if they asked.
pub(crate) fn fail(error: CommandError, json: bool, ui: &Ui, name: &str) -> Exit {
    if let Some(told) = error.to_json(name).filter(|_| json) {
        ui.json(&told);
    }
    error.tell(ui, name)
}

/// Whether the command was asked to tell machines.
fn wants_json(matches: &clap::ArgMatches) -> bool {
    match matches.subcommand() {
        Some((_, inner)) if wants_json(inner) => true,
        _ => {
            let typed = || matches.value_source("json") == Some(ValueSource::CommandLine);
            matches.try_contains_id("json").is_ok() && typed()
        }
    }
}

struct Settled(Ui);

impl Drop for Settled {
    fn drop(&mut self) {
        self.0.settle();
    }
}

/// How a command ends whose product is on standard output: what could not be written there was not delivered (OUTPUT-4).
fn delivered(exit: Exit, ui: &Ui, name: &str) -> Exit {
    let Some(why) = ui.undelivered() else { return exit };
    let told = CommandError::plain(format!("cannot write to standard output: {why}")).tell(ui, name);
    if exit == Exit::Interrupted { exit } else { told }
}

/// Help goes to standard output and is what was asked for; mistakes go to standard error, and quote what was typed.
pub(crate) fn tell_usage(told: &clap::Error, arguments: &[OsString], ui: &Ui, name: &str) -> Exit {
    let mut usage = told.render().to_string();
    for argument in arguments.iter().skip(1).map(|it| it.to_string_lossy()) {
        // Of `--flag=value`, only the value may be quoted.
        let value = argument.strip_prefix("--").and_then(|it| it.split_once('=')).map(|it| it.1);
        for text in [Some(&*argument), value].into_iter().flatten() {
            if let Cow::Owned(shown) = without_values(text) {
                usage = usage.replace(text, &shown);
            }
        }
    }
    let usage = mask_credentials(&usage);
    if told.use_stderr() {
        if asks_for_json(arguments)
            && let Some(told) = usage_mistake(&usage).to_json(name)
        {
            ui.json(&told);
        }
        ui.note(usage.trim_end());
        return Exit::Error;
    }
    ui.data(usage.trim_end());
    Exit::Done
}

/// Whether arguments that are no command line ask for JSON.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let options = arguments.iter().filter_map(|it| it.to_str()).take_while(|it| *it != "--");
    options.map(|it| it.split('=').next().unwrap_or(it)).any(|it| it == "--json")
}

/// What is wrong with a command line: the first paragraph of what people are told, and its tips.
fn usage_mistake(usage: &str) -> CommandError {
    let summary: Vec<&str> = usage.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let summary = summary.join(" ");
    let tips = usage.lines().filter_map(|line| line.trim_start().strip_prefix("tip: "));
    let mistake = Diagnostic::error(summary.strip_prefix("error: ").unwrap_or(&summary));
    tips.fold(mistake, Diagnostic::hint).into()
}

/// More than a process could be started with.
const ENV_FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is in place before any command, besides the environment.
struct Prepared {
    folder: PathBuf,
    profile: Option<Profile>,
    log: Option<LogFile>,
}

/// Puts it in place.
fn prepare(
    global: &GlobalArgs,
    environment: &Environment,
    user: &Result<UserSettings, String>,
    arguments: &[OsString],
    logged_secrets: &LoggedSecrets,
) -> CommandResult<Prepared> {
    let profile = Profile::named(global.profile.as_deref(), environment, user)?;
    let of_profile = profile.as_ref().map(|it| it.unset_variables(environment)).unwrap_or_default();
    if !global.env_file.is_empty() || !of_profile.is_empty() {
        return Err(begin_again(global, environment, of_profile, arguments));
    }
    let here = current_folder()
        .map_err(|error| CommandError::plain(format!("there is no folder to work in: {error}")))?;
    let folder = match &global.chdir {
        None => here,
        Some(folder) => {
            let folder = here.join(folder);
            std::fs::canonicalize(&folder).map_err(|error| CommandError::file("work in", &folder, &error))?
        }
    };
    let begin = |file| LogFile::begin(file, environment, logged_secrets.clone());
    let log = global.log_file.as_deref().map(begin).transpose()?;
    Ok(Prepared { folder, profile, log })
}

/// Begins again with the variables of the files and of the profile: providers read the environment of the process, which can be set only
/// where a process begins. Returns only if that fails.
fn begin_again(
    global: &GlobalArgs,
    environment: &Environment,
    of_profile: Vec<(String, String)>,
    arguments: &[OsString],
) -> CommandError {
    let mut variables = Vec::new();
    for path in &global.env_file {
        let text = match trueup_files::read_text(path, Accept::Stream, ENV_FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(error) => return CommandError::file("read", path, &error.into()),
        };
        match parse_env_file(&text) {
            Ok(found) => variables.extend(found),
            Err(wrong) => {
                return CommandError::new(format!("{}: {wrong}", path.display()), "write NAME=value lines");
            }
        }
    }
    variables.retain(|(name, _)| !environment.is_set(name));
    variables.extend(of_profile);
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            return CommandError::plain(format!("cannot find this program to begin again: {error}"));
        }
    };
    let mut command = std::process::Command::new(program);
    command.args(without_env_file(&arguments[1..])).envs(variables);
    replace_process(command)
}

/// Runs the program in this file in place of this process, with the same arguments and perhaps one more. Returns only if
/// that fails.
pub(crate) fn start_anew(program: &Path, more: Option<&str>) -> CommandError {
    let mut command = std::process::Command::new(program);
    command.args(arguments().iter().skip(1)).args(more);
    replace_process(command)
}

#[cfg(unix)]
fn replace_process(mut command: std::process::Command) -> CommandError {
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    CommandError::plain(format!("cannot begin again: {error}"))
}

#[cfg(not(unix))]
fn replace_process(mut command: std::process::Command) -> CommandError {
    match command.status() {
        Ok(status) if status.success() => CommandError::Told(Exit::Done),
        Ok(_) => CommandError::Told(Exit::Error),
        Err(error) => CommandError::plain(format!("cannot begin again: {error}")),
    }
}

/// The arguments without `--env-file`.
fn without_env_file(arguments: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--env-file") => {
                rest.next();
            }
            Some(text) if text.starts_with("--env-file=") => {}
            _ => kept.push(argument.clone()),
        }
    }
    kept
}

/// An argument without what may be secret in it: the value of a variable whose `--var` was forgotten, or a password.
fn without_values(argument: &str) -> Cow<'_, str> {
    match argument.split_once('=').filter(|_| is_assignment(argument)) {
        Some((name, _)) => Cow::Owned(format!("{name}=…")),
        None => mask_argument(argument),
    }
}

/// The command as it was typed, fit to be typed again. Values of variables are left out: any of them may be secret. So
/// are passwords in addresses.
fn typed(name: &str, arguments: &[OsString]) -> String {
    let mut words = vec![name.to_owned()];
    let mut variable = false;
    for argument in arguments.iter().skip(1) {
        let text = argument.to_string_lossy();
        let (flag, value) = match text.strip_prefix("--var=") {
            Some(value) => ("--var=", value),
            None if variable || is_assignment(&text) => ("", &*text),
            None => ("", ""),
        };
        words.push(match value.split_once('=') {
            Some((name, _)) => format!("{flag}{name}=…"),
            None => quoted(&text),
        });
        variable = text == "--var";
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_is_told_as_it_can_be_typed() {
        let check = |line: &str, told: &str| assert_eq!(typed("site", &words(line)), told);
        check("/x/y/site deploy --stage $b --yes", "site deploy --stage '$b' --yes");
        check("t plan --var a=s3cret --var=b=c --full", "site plan --var a=… --var=b=… --full");
        check(
            "t state migrate --to postgres://ada:hunter22@db/x --from=postgres://eve:pw@db/y",
            "site state migrate --to 'postgres://ada:…@db/x' '--from=postgres://eve:…@db/y'",
        );
        check("t deploy a=s3cret --target x.y[\"a=b\"]", "site deploy a=… --target 'x.y[\"a=b\"]'");
        check("t show x_y.z[\"it's\"]", "site show 'x_y.z[\"it'\\''s\"]'");
    }

    #[test]
    fn env_files_are_read_once() {
        assert_eq!(without_env_file(&words("--env-file a plan --env-file=b --yes")), words("plan --yes"));
    }
}
