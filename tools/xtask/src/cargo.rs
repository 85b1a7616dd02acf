//! Runs cargo, and what cargo built, the way a person would: from the repository's root, each command shown before it starts, output passed
//! straight through.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use trueup_test_servers::environment;

use crate::failure::Failure;

/// The variables that make clippy the compiler of a build. They are long, and the same everywhere: not shown.
pub(crate) const LINT_VARIABLES: [&str; 2] = ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"];

/// A cargo command, to be given arguments and then to [`run`], [`capture`] or [`succeeds_quietly`].
pub(crate) fn cargo(root: &Path) -> Command {
    // Cargo tells its subcommands which cargo it is; another one on the path may be of another version.
    let program = environment::variable("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    // `cargo run` describes this tool's own package to it in these. Build scripts that watch them would run again each
    // time the developer switches between this tool and plain cargo.
    environment::remove_variables(&mut command, "CARGO_PKG_");
    environment::remove_variables(&mut command, "CARGO_MANIFEST_");
    command
}

/// Shows the command, runs it, and fails unless it exits with 0.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let shown = shown(command);
    println!("$ {shown}");
    let status =
        command.status().map_err(|error| Failure::new(format!("cannot start `{shown}`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{shown}` failed: {status}"))) }
}

/// The extent to which a command ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    Complete,
    /// A deadline ended it.
    CutOff,
    /// A deadline ended the build of what was to run.
    NotBuilt,
}

/// As [`run`], but ends the command at a deadline, which is not a failure.
#[allow(clippy::disallowed_methods, reason = "waits for a real process")]
pub(crate) fn run_until(command: &mut Command, ends: Instant) -> Result<Ending, Failure> {
    let shown = shown(command);
    println!("$ {shown}");
    let failed = |error: std::io::Error| Failure::new(format!("cannot run `{shown}`: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let mut is_cut_off = false;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return match (is_cut_off, status.success()) {
                (true, _) => Ok(Ending::CutOff),
                (false, true) => Ok(Ending::Complete),
                (false, false) => Err(Failure::new(format!("`{shown}` failed: {status}"))),
            };
        }
        if !is_cut_off && Instant::now() > ends {
            println!("time is up: cut off");
            is_cut_off = true;
            // SIGTERM lets the test runner stop its tests.
            succeeds_quietly(Command::new("kill").arg(child.id().to_string()));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// As [`run`], but returns what the command writes to standard output.
pub(crate) fn capture(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let shown = shown(command);
    println!("$ {shown}");
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("cannot start `{shown}`: {error}")))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Failure::new(format!("`{shown}` failed: {}", output.status)))
    }
}

/// Whether the command can be started and exits with 0; for asking what is installed.
pub(crate) fn succeeds_quietly(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// The command as one would type it, with the variables that it sets.
fn shown(command: &Command) -> String {
    let is_told = |name: &OsStr| !LINT_VARIABLES.iter().any(|lint| name == *lint);
    let variables = command.get_envs().filter(|(name, _)| is_told(name)).filter_map(|(name, value)| {
        value.map(|value| format!("{}={}", name.to_string_lossy(), quoted(value)))
    });
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    variables.chain([quoted(program)]).chain(command.get_args().map(quoted)).collect::<Vec<_>>().join(" ")
}

fn quoted(text: &OsStr) -> String {
    let text = text.to_string_lossy();
    if text.contains(' ') { format!("'{text}'") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = cargo(Path::new("."));
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(shown(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }
}
