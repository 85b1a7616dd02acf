//! Runs cargo the way a person would: from the repository's root, each command shown before it starts, output passed
//! straight through.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// A cargo command, to be given arguments and then to [`run`], [`capture`] or [`succeeds_quietly`].
pub(crate) fn cargo(root: &Path) -> Command {
    // Cargo tells its subcommands which cargo it is; another one on the path may be of another version.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root);
    // `cargo run` describes this tool's own package to it in these. Build scripts that watch them would run again each
    // time the developer switches between this tool and plain cargo.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
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
    let variables = command.get_envs().filter_map(|(name, value)| {
        value.map(|value| format!("{}={}", name.to_string_lossy(), quoted(value)))
    });
    variables.chain(["cargo".to_owned()]).chain(command.get_args().map(quoted)).collect::<Vec<_>>().join(" ")
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
