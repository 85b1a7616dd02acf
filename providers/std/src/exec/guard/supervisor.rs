//! The supervisor of one command, from both sides of its socket.
//!
//! The supervisor locks, says that it is ready, and starts the command when it has received all of its input. So a run
//! that dies before has started nothing, and one that dies after is waited for. When the command's own process has ended,
//! the supervisor reports how. Then the run closes the socket, and what the command left running stays.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpgid};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::CommandGuard;

/// What stands for the supervisor among the arguments.
const WORD: &str = "__command-guard";

/// What the supervisor says when it holds its lock.
const READY: u8 = b'r';

/// What the run says to end the command at once.
const KILL: u8 = b'k';

/// How long a command may take to end by itself after its run is gone.
const GRACE: Duration = Duration::from_secs(5);

/// How long the supervisor waits for processes that were killed.
const KILLED_WAIT_MAX: Duration = Duration::from_secs(2);

/// How often it looks whether they are gone.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// How a command's own process ended, as the supervisor reports it: a letter and a number.
const EXITED: u8 = b'e';
const NOT_STARTED: u8 = b'n';

/// A supervised command, as its run sees it. Dropping it ends a command that has not ended.
pub(in super::super) struct Supervised {
    /// The supervisor, for its standard output and error, which are the command's.
    pub(in super::super) process: tokio::process::Child,
    control: tokio::net::UnixStream,
}

/// Starts a supervisor and waits until it holds its lock. The command holds all but its program and arguments.
pub(in super::super) async fn start(
    guard: &CommandGuard,
    program: &OsString,
    arguments: &[String],
    mut command: tokio::process::Command,
) -> io::Result<Supervised> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    command.arg(WORD).arg(guard.commands_lock()?).arg(program).args(arguments);
    command.stdin(Stdio::from(OwnedFd::from(theirs))).stdout(Stdio::piped()).stderr(Stdio::piped());
    let process = command.process_group(0).spawn()?;
    // It holds the supervisor's end of the socket.
    drop(command);
    let mut control = tokio::net::UnixStream::from_std(ours)?;
    match control.read_u8().await? {
        READY => Ok(Supervised { process, control }),
        said => Err(io::Error::other(format!("the supervisor of the command said {said}"))),
    }
}

/// The program that becomes a supervisor: this one.
pub(in super::super) fn own_program() -> io::Result<std::path::PathBuf> {
    // Also if the file was replaced since this process began.
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

impl Supervised {
    /// Hands over the command's input, with which it starts, and waits until its own process has ended.
    pub(in super::super) async fn run(&mut self, input: &[u8]) -> io::Result<Result<ExitStatus, io::Error>> {
        self.control.write_u64(input.len() as u64).await?;
        self.control.write_all(input).await?;
        let how = self.control.read_u8().await?;
        let number = self.control.read_i32().await?;
        match how {
            EXITED => Ok(Ok(ExitStatus::from_raw(number))),
            NOT_STARTED => Ok(Err(io::Error::from_raw_os_error(number))),
            how => Err(io::Error::other(format!("the supervisor of the command said {how}"))),
        }
    }

    /// Ends the command and all that it started, and waits until that is done.
    pub(in super::super) async fn kill(mut self) {
        // Whatever fails here, the supervisor ends by itself.
        let _ = self.control.write_u8(KILL).await;
        let _ = self.control.read_to_end(&mut Vec::new()).await;
    }
}

/// If this process was started to supervise a command: how it ended. What `main` must begin with in a program that has a
/// [`CommandGuard`], with the arguments of the process:
///
/// ```
/// fn main() -> std::process::ExitCode {
///     if let Some(ended) = trueup_provider_std::guard_command(std::env::args_os()) {
///         return ended;
///     }
///     // …
///     std::process::ExitCode::SUCCESS
/// }
/// ```
pub fn guard_command(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let (lock, program) = (arguments.next()?, arguments.next()?);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).process_group(0);
    Some(match supervise(Path::new(&lock), command) {
        Ok(()) => ExitCode::SUCCESS,
        // The run is gone, or takes the silence for what it is.
        Err(_) => ExitCode::FAILURE,
    })
}

/// What happens while a command runs.
enum Happened {
    /// Its own process ended.
    Ended(io::Result<ExitStatus>),
    /// The run wants it killed.
    Kill,
    /// The run closed the socket, or is dead.
    Left,
}

fn supervise(lock: &Path, mut command: Command) -> io::Result<()> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Held until the command has ended. The command does not inherit it.
    let held = File::open(lock)?;
    flock(&held, FlockOperation::LockShared)?;
    control.write_all(&[READY])?;
    let input = read_input(&mut control)?;
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            drop(held);
            return report(&mut control, NOT_STARTED, error.raw_os_error().unwrap_or(0));
        }
    };
    let group = Pid::from_child(&child);
    // Only the command writes, so that its output ends with it.
    let nowhere = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    let (happens, happened) = channel();
    feed(&mut child, input);
    watch_run(control.try_clone()?, happens.clone());
    watch_command(child, happens);
    match happened.recv() {
        Ok(Happened::Ended(status)) => {
            // Before the run hears of it: a run that is over removes its locks if nobody holds them.
            drop(held);
            report(&mut control, EXITED, status?.into_raw())?;
            // Until the run has read all output, it may still want the rest killed.
            if let Ok(Happened::Kill) = happened.recv() {
                end(group, &happened, Duration::ZERO);
            }
        }
        Ok(Happened::Kill) => end(group, &happened, Duration::ZERO),
        Ok(Happened::Left) | Err(_) => end(group, &happened, GRACE),
    }
    Ok(())
}

/// The command's input; an error if the run ends before it was handed over.
fn read_input(control: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    control.read_exact(&mut length)?;
    let length = u64::from_be_bytes(length);
    let mut input = Vec::new();
    match control.take(length).read_to_end(&mut input)? as u64 == length {
        true => Ok(input),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn report(control: &mut UnixStream, how: u8, number: i32) -> io::Result<()> {
    let mut report = vec![how];
    report.extend_from_slice(&number.to_be_bytes());
    control.write_all(&report)
}

fn feed(child: &mut Child, input: Vec<u8>) {
    if let Some(mut to) = child.stdin.take() {
        // A program that does not listen is not at fault.
        std::thread::spawn(move || drop(to.write_all(&input)));
    }
}

fn watch_run(mut control: UnixStream, happens: Sender<Happened>) {
    std::thread::spawn(move || {
        let mut said = [0];
        let happened = match control.read(&mut said) {
            Ok(1) if said[0] == KILL => Happened::Kill,
            _ => Happened::Left,
        };
        let _ = happens.send(happened);
    });
}

fn watch_command(mut child: Child, happens: Sender<Happened>) {
    std::thread::spawn(move || {
        let _ = happens.send(Happened::Ended(child.wait()));
    });
}

/// Ends a process group: asks it to, and kills what is left after the grace.
fn end(group: Pid, happened: &Receiver<Happened>, grace: Duration) {
    // What loses its parent becomes a child of this process, which sees at once that it has ended. Elsewhere than on Linux
    // the system's first process does, in its own time.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    if !grace.is_zero() {
        // It may have ended by itself in the meantime.
        let _ = kill_process_group(group, Signal::TERM);
        wait_until_gone(group, happened, grace);
    }
    let _ = kill_process_group(group, Signal::KILL);
    wait_until_gone(group, happened, KILLED_WAIT_MAX);
}

/// Waits until no process of the group is left, for a while at most.
fn wait_until_gone(group: Pid, happened: &Receiver<Happened>, wait_max: Duration) {
    let looks = wait_max.as_millis() / LOOK_INTERVAL.as_millis();
    for _ in 0..looks {
        while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
        if test_kill_process_group(group).is_err() {
            return;
        }
        // Whatever is heard, the group may have members that outlive the command's own process.
        if matches!(happened.recv_timeout(LOOK_INTERVAL), Err(RecvTimeoutError::Disconnected)) {
            pause();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a supervisor has nothing else to do, and no clock to ask")]
fn pause() {
    std::thread::sleep(LOOK_INTERVAL);
}
