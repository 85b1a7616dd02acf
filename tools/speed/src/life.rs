//! The life of a stack with one tool: written, deployed, changed, destroyed, each operation a process of its own. What is
//! claimed of an operation is checked by how it exits.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cloud::Cloud;
use crate::failure::Failure;
use crate::meter::{self, End, Usage};
use crate::operation::{Edition, Operation};
use crate::terminal;
use crate::tool::Tool;
use crate::workload::Workload;

/// What no operation may take.
pub(crate) const SECONDS_MAX: u64 = 600;

/// A stack in a folder, with a tool.
pub(crate) struct Life<'a> {
    tool: &'a Tool,
    workload: Workload,
    cloud: Option<&'a Cloud>,
    /// The folder of this life, which holds all others.
    folder: PathBuf,
    edition: Option<Edition>,
}

/// How an operation is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Under {
    /// Its usage is measured.
    Meter,
    /// It is slowed down, and the calls that make the disk confirm are counted.
    Strace,
    /// It runs in a terminal, and its usage is measured.
    Terminal,
}

/// What was seen of an operation.
pub(crate) enum Seen {
    Usage(Usage),
    /// In a terminal, with what was written there.
    Drawn(Usage, Vec<u8>),
    Fsyncs(u64),
}

impl<'a> Life<'a> {
    /// Begins in an empty folder below this one, with a cloud if the workload needs one.
    pub(crate) fn begin(
        tool: &'a Tool,
        workload: Workload,
        cloud: Option<&'a Cloud>,
        below: &Path,
    ) -> Result<Self, Failure> {
        let folder = below.join(tool.name());
        empty(&folder)?;
        let mut life = Life { tool, workload, cloud, folder, edition: None };
        for folder in [life.stack(), life.home()] {
            fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
        }
        life.write(Edition::First)?;
        match cloud {
            Some(cloud) => cloud.furnish(&life.stack(), &life.home())?,
            None => tool.prepare(&life.stack(), &life.home())?,
        }
        Ok(life)
    }

    /// Where the files of the stack are.
    pub(crate) fn stack(&self) -> PathBuf {
        self.folder.join("stack")
    }

    /// The home of the user who runs it.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Runs one operation. There is nothing to see where the tool has no such operation.
    pub(crate) fn run(&mut self, operation: Operation, under: Under) -> Result<Option<Seen>, Failure> {
        let Some(arguments) = self.tool.arguments(operation) else { return Ok(None) };
        if self.edition != Some(operation.edition()) {
            self.write(operation.edition())?;
        }
        let seen = self.folder.join("seen");
        let words = match under {
            Under::Meter | Under::Terminal => {
                meter::metered(&self.tool.program, &arguments, &seen, SECONDS_MAX)?
            }
            Under::Strace => straced(&self.tool.program, &arguments, &seen),
        };
        // What others left to be written is not to be waited for by this one.
        rustix::fs::sync();
        Ok(Some(match under {
            Under::Meter => {
                self.spoken(&words)?;
                Seen::Usage(self.usage(operation, &seen)?)
            }
            Under::Terminal => {
                let drawn = terminal::run(&words, &self.stack(), self.environment())?;
                Seen::Drawn(self.usage(operation, &seen)?, drawn)
            }
            Under::Strace => {
                let end = self.spoken(&words)?;
                self.check(operation, end)?;
                let text = fs::read_to_string(&seen).map_err(|error| Failure::at(&seen, error))?;
                Seen::Fsyncs(fsyncs(&text))
            }
        }))
    }

    fn usage(&self, operation: Operation, seen: &Path) -> Result<Usage, Failure> {
        let usage = meter::seen(seen).map_err(|failure| self.failed(operation, &failure.to_string()))?;
        self.check(operation, usage.end)?;
        Ok(usage)
    }

    /// Ends, and leaves nothing behind.
    pub(crate) fn end(self) -> Result<(), Failure> {
        empty(&self.folder)
    }

    /// Runs a command in the folder of the stack, which speaks to a file.
    fn spoken(&self, words: &[OsString]) -> Result<End, Failure> {
        let said = self.said();
        let file = fs::File::create(&said).map_err(|error| Failure::at(&said, error))?;
        let copy = file.try_clone().map_err(|error| Failure::at(&said, error))?;
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.stack()).env_clear();
        command.envs(self.environment());
        let status = command.stdin(Stdio::null()).stdout(file).stderr(copy).status();
        let status = status.map_err(|error| Failure::new(format!("cannot start {words:?}: {error}")))?;
        Ok(status.code().map_or(End::Signalled, End::Exited))
    }

    fn environment(&self) -> Vec<(String, OsString)> {
        let mut all = self.tool.environment(&self.home());
        all.extend(self.cloud.into_iter().flat_map(|cloud| cloud.environment(self.workload.shape)));
        all
    }

    fn said(&self) -> PathBuf {
        self.folder.join("said")
    }

    fn write(&mut self, edition: Edition) -> Result<(), Failure> {
        for (name, text) in self.workload.files(edition) {
            let file = self.stack().join(name);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
            }
            fs::write(&file, text).map_err(|error| Failure::at(&file, error))?;
        }
        self.edition = Some(edition);
        Ok(())
    }

    /// A plan says by its exit whether there is something to do; all else succeeds.
    fn check(&self, operation: Operation, end: End) -> Result<(), Failure> {
        let expected = if operation == Operation::PlanOne { 2 } else { 0 };
        match end {
            End::Exited(code) if code == expected => Ok(()),
            End::TooLong => Ok(()),
            End::Exited(code) => Err(self.failed(operation, &format!("exited with {code}, not {expected}"))),
            End::Signalled => Err(self.failed(operation, "was killed")),
        }
    }

    fn failed(&self, operation: Operation, how: &str) -> Failure {
        let said = fs::read_to_string(self.said()).unwrap_or_default();
        let last: Vec<&str> = said.lines().rev().take(15).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        Failure::new(format!(
            "{} on {}, {}: {how}. It said:\n{}",
            self.tool.name(),
            self.workload.name(),
            operation.title(),
            last.join("\n")
        ))
    }
}

/// A folder without anything in it is none.
fn empty(folder: &Path) -> Result<(), Failure> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::at(folder, error)),
        _ => Ok(()),
    }
}

fn straced(program: &Path, arguments: &[String], seen: &Path) -> Vec<OsString> {
    // With a filter in the kernel, all other calls go on at full speed.
    let mut words: Vec<OsString> =
        ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync,fdatasync", "-o"]
            .map(Into::into)
            .to_vec();
    words.extend([seen.into(), program.into()]);
    words.extend(arguments.iter().map(Into::into));
    words
}

/// The calls in what strace wrote. One that is interrupted by another thread's stands there twice, once with its name
/// and a parenthesis.
fn fsyncs(text: &str) -> u64 {
    text.lines().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_another_interrupts_counts_once() {
        let text = "7 fsync(3) = 0\n7 fdatasync(4 <unfinished ...>\n8 fsync(5) = 0\n7 <... fdatasync resumed>) = 0\n";
        assert_eq!(fsyncs(text), 3);
    }
}
