//! Running a program: fed, listened to, bounded in time and output, and ended with all that it started.
//!
//! The program leads a process group of its own. When the call is cancelled, runs out of time, says too much or is
//! simply dropped, the whole group is killed, so that nothing goes on behind the back of whoever looks next. With a
//! [`CommandGuard`], that also happens when this process itself is killed.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use futures_util::future::{Either, select, try_join3};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use trueup_provider::CallContext;

use super::guard::{CommandGuard, own_program, start};

/// The most that a program may answer.
pub(super) const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How much of what a program says about itself is kept: the end of it.
const MESSAGES_BYTES_MAX: usize = 64 * 1024;

/// A program to run.
pub(super) struct Process {
    pub(super) program: OsString,
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
    /// All of it: nothing is inherited.
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) input: Vec<u8>,
    pub(super) timeout: Duration,
}

/// A program that ended by itself.
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    /// The end of what it wrote to standard error.
    pub(super) messages: Vec<u8>,
}

/// Why a program did not run to its end.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It never ran.
    NotStarted(io::Error),
    /// It ran longer than it may.
    TimedOut,
    /// Nobody waits for it any more.
    Cancelled,
    /// It wrote more than it may.
    TooMuchOutput,
    /// Talking to it failed.
    Lost(io::Error),
}

impl Process {
    /// Runs it to its end; with a guard, by way of a supervisor that ends it if this process is killed.
    pub(super) async fn run(
        self,
        call: &CallContext,
        guard: Option<&CommandGuard>,
    ) -> Result<Finished, Stopped> {
        match guard {
            Some(guard) => self.run_supervised(call, guard).await,
            None => self.run_directly(call).await,
        }
    }

    async fn run_directly(self, call: &CallContext) -> Result<Finished, Stopped> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder).env_clear().envs(self.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(Stopped::NotStarted)?;
        let mut group = Group::led_by(&child);
        let (input, output, messages) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let work = async {
            let feeding = feed(input, &self.input);
            let (_, output, messages) = try_join3(feeding, all_of(output), end_of(messages)).await?;
            let status = child.wait().await.map_err(Stopped::Lost)?;
            Ok(Finished { status, output, messages })
        };
        let finished = bounded(call, self.timeout, work).await?;
        // What it started and left running on purpose may stay.
        group.release();
        Ok(finished)
    }

    async fn run_supervised(self, call: &CallContext, guard: &CommandGuard) -> Result<Finished, Stopped> {
        let mut command = Command::new(own_program().map_err(Stopped::NotStarted)?);
        command.current_dir(&self.folder).env_clear().envs(self.environment);
        let started = start(guard, &self.program, &self.arguments, command).await;
        let mut supervised = started.map_err(Stopped::NotStarted)?;
        let output = supervised.process.stdout.take();
        let messages = supervised.process.stderr.take();
        let work = async {
            let running = async {
                let ended = supervised.run(&self.input).await.map_err(Stopped::Lost)?;
                ended.map_err(Stopped::NotStarted)
            };
            let (status, output, messages) = try_join3(running, all_of(output), end_of(messages)).await?;
            Ok(Finished { status, output, messages })
        };
        let outcome = bounded(call, self.timeout, work).await;
        if outcome.is_err() {
            supervised.kill().await;
        }
        outcome
    }
}

/// Waits for something until it is over, takes too long or nobody waits any more.
async fn bounded<T>(
    call: &CallContext,
    timeout: Duration,
    work: impl Future<Output = Result<T, Stopped>>,
) -> Result<T, Stopped> {
    let (out_of_time, cancelled) = (call.clock.sleep(timeout), pin!(call.cancellation.cancelled()));
    match select(pin!(work), select(out_of_time, cancelled)).await {
        Either::Left((outcome, _)) => outcome,
        Either::Right((Either::Left(_), _)) => Err(Stopped::TimedOut),
        Either::Right((Either::Right(_), _)) => Err(Stopped::Cancelled),
    }
}

/// Hands over the input. A program that does not listen is not at fault.
async fn feed(to: Option<tokio::process::ChildStdin>, input: &[u8]) -> Result<(), Stopped> {
    if let Some(mut to) = to {
        let fed = to.write_all(input).await;
        if let Err(error) = fed.and(to.shutdown().await)
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            return Err(Stopped::Lost(error));
        }
    }
    Ok(())
}

/// All that is written, up to the bound.
async fn all_of(from: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Stopped> {
    let mut all = Vec::new();
    if let Some(from) = from {
        let mut bounded = from.take(OUTPUT_BYTES_MAX as u64 + 1);
        bounded.read_to_end(&mut all).await.map_err(Stopped::Lost)?;
    }
    if all.len() > OUTPUT_BYTES_MAX { Err(Stopped::TooMuchOutput) } else { Ok(all) }
}

/// The end of what is written.
async fn end_of(from: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, Stopped> {
    let mut end = Vec::new();
    let Some(mut from) = from else { return Ok(end) };
    let mut buffer = vec![0; 8 * 1024];
    loop {
        match from.read(&mut buffer).await.map_err(Stopped::Lost)? {
            0 => return Ok(end),
            count => end.extend_from_slice(&buffer[..count]),
        }
        // Twice the bound before anything is moved, so that a talkative program costs little.
        if end.len() > 2 * MESSAGES_BYTES_MAX {
            end.drain(..end.len() - MESSAGES_BYTES_MAX);
        }
    }
}

/// The process group of a program, killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn led_by(child: &tokio::process::Child) -> Self {
        Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    fn release(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // It may have ended by itself in the meantime.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}
