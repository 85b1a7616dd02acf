//! Plugins that never outlive us: a plugin is started by way of this program, which asks the kernel to end it with its
//! parent and then becomes the plugin. So it goes also when we are killed and can do nothing about it.
//!
//! Only Linux has that; elsewhere plugins end when we end them.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// What stands for the plugin's guard among the arguments.
const WORD: &str = "__plugin-guard";

/// The command that becomes a plugin, to be followed by its binary.
pub(crate) fn guard() -> Vec<OsString> {
    // Without a name for this program plugins are started directly.
    let own = std::env::current_exe().ok();
    let own = own.filter(|_| cfg!(target_os = "linux"));
    own.map(|own| vec![own.into(), WORD.into(), std::process::id().to_string().into()]).unwrap_or_default()
}

/// If this process was started as a guard: how it ended, in case it could not become the plugin.
pub(crate) fn guarded(arguments: &[OsString]) -> Option<ExitCode> {
    let mut arguments = arguments.iter().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let (parent, program) = (arguments.next()?, arguments.next()?);
    if !bound_to(parent) {
        return Some(ExitCode::FAILURE);
    }
    let error = become_program(Path::new(program), arguments);
    // Whoever started it hears what a plugin says last, if they still listen.
    let _ = writeln!(std::io::stderr(), "cannot run {}: {error}", program.to_string_lossy());
    Some(ExitCode::FAILURE)
}

/// Binds the life of this process to that of its parent; `false` if that has ended already.
#[cfg(target_os = "linux")]
fn bound_to(parent: &OsString) -> bool {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let bound = set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
    let now = getppid().map(|now| now.as_raw_nonzero().to_string());
    // Whoever ended before that was asked for would not be noticed.
    !bound || now.is_some_and(|now| parent == now.as_str())
}

#[cfg(not(target_os = "linux"))]
fn bound_to(_parent: &OsString) -> bool {
    true
}

#[cfg(unix)]
fn become_program(program: &Path, arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    std::process::Command::new(program).args(arguments).exec()
}

#[cfg(not(unix))]
fn become_program(program: &Path, arguments: impl Iterator<Item = impl AsRef<OsStr>>) -> std::io::Error {
    let status = std::process::Command::new(program).args(arguments).status();
    status.map_or_else(|error| error, |status| std::io::Error::other(format!("it ended: {status}")))
}
