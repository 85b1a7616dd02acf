//! What one process took: time, processor, memory, bytes written.
//!
//! The kernel tells what the children of a process took all together, and how large the largest ever was. Each process
//! that is measured is therefore the only child of a small one of its own: this program again, called with [`FLAG`],
//! which starts it, waits, and writes what it saw to a file. That also keeps the memory of whoever starts it, which a
//! new process has for a moment, out of the figures.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::watch::Watch;

/// The first argument of a process that measures another. It is followed by a file for what was seen, the most seconds
/// that the other may take, its program and its arguments.
pub(crate) const FLAG: &str = "--meter";

/// What a process took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) wall_s: f64,
    /// In user and kernel mode, of all its threads.
    pub(crate) cpu_s: f64,
    pub(crate) peak_bytes: u64,
    /// To disks, also if the kernel wrote them later.
    pub(crate) written_bytes: u64,
    pub(crate) end: End,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum End {
    Exited(i32),
    Signalled,
    /// It took longer than it may, and was killed.
    TooLong,
}

/// The command that runs a program with arguments, measured. What it saw is then to be had by [`seen`].
pub(crate) fn metered(
    program: &Path,
    arguments: &[String],
    seen: &Path,
    seconds_max: u64,
) -> Result<Vec<std::ffi::OsString>, Failure> {
    let this = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    let mut words =
        vec![this.into(), FLAG.into(), seen.into(), seconds_max.to_string().into(), program.into()];
    words.extend(arguments.iter().map(Into::into));
    Ok(words)
}

/// What a metered command saw.
pub(crate) fn seen(file: &Path) -> Result<Usage, Failure> {
    let text = std::fs::read(file).map_err(|error| Failure::at(file, error))?;
    serde_json::from_slice(&text).map_err(|error| Failure::at(file, error))
}

/// Measures another program: what this one does when its first argument is [`FLAG`]. It takes the arguments after it.
pub(crate) fn run(arguments: &[std::ffi::OsString]) -> ExitCode {
    match run_one(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run_one(arguments: &[std::ffi::OsString]) -> Result<(), Failure> {
    let [file, seconds_max, program, arguments @ ..] = arguments else {
        return Err(Failure::new(format!("{FLAG} takes a file, a number of seconds and a command")));
    };
    let seconds_max = seconds_max.to_str().and_then(|text| text.parse().ok());
    let patience =
        seconds_max.map(Duration::from_secs).ok_or_else(|| Failure::new("that is no number of seconds"))?;
    let usage = measure(Command::new(program).args(arguments), patience)?;
    let text = serde_json::to_vec(&usage).map_err(|error| Failure::new(error.to_string()))?;
    let file = Path::new(file);
    std::fs::write(file, text).map_err(|error| Failure::at(file, error))
}

fn measure(command: &mut Command, patience: Duration) -> Result<Usage, Failure> {
    let watch = Watch::start();
    let mut child = command.spawn().map_err(|error| Failure::at(Path::new(command.get_program()), error))?;
    let id = child.id();
    let (sender, ended) = mpsc::channel();
    std::thread::spawn(move || sender.send((child.wait(), watch.elapsed().as_secs_f64())));
    let (ended, in_time) = match ended.recv_timeout(patience) {
        Ok(ended) => (Ok(ended), true),
        Err(_) => {
            kill(id)?;
            (ended.recv(), false)
        }
    };
    let (status, wall_s) = ended.map_err(|_| Failure::new("the thread that waits is gone"))?;
    let status = status.map_err(|error| Failure::new(format!("cannot wait: {error}")))?;
    let end = match status.code() {
        _ if !in_time => End::TooLong,
        Some(code) => End::Exited(code),
        None => End::Signalled,
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)
        .map_err(|error| Failure::new(format!("the kernel does not tell what it took: {error}")))?;
    let microseconds = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Usage {
        wall_s,
        cpu_s: microseconds as f64 / 1e6,
        peak_bytes: kernel_count(usage.max_rss()) * PEAK_UNIT_BYTES,
        written_bytes: kernel_count(usage.block_writes()) * 512,
        end,
    })
}

/// What the kernel counts peak memory in.
const PEAK_UNIT_BYTES: u64 = if cfg!(target_os = "macos") { 1 } else { 1024 };

fn kernel_count(count: impl TryInto<u64>) -> u64 {
    count.try_into().unwrap_or(0)
}

fn kill(id: u32) -> Result<(), Failure> {
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(id).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| Failure::new("a process has a strange number"))?;
    // It may just have ended by itself.
    let _ = kill_process(process, Signal::KILL);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_end_of_a_process_is_told() {
        let usage = measure(&mut shell("exit 3"), Duration::from_secs(60)).expect("sh is there");
        assert_eq!(usage.end, End::Exited(3));
        assert!(usage.peak_bytes > 0 && usage.wall_s > 0.0, "{usage:?}");
    }

    #[test]
    fn what_takes_too_long_is_killed() {
        let usage =
            measure(&mut shell("while :; do :; done"), Duration::from_millis(1)).expect("sh is there");
        assert_eq!(usage.end, End::TooLong);
    }
}
