//! The server's process, which never outlives the process that started it.
//!
//! A small shell program stands between the two. It waits for the end of its standard input, which comes when this
//! process closes it or ends, however it ends; then it stops the server and removes its folder.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc;

use rustix::process::{Pid, Signal, kill_process};

use super::installation::Installation;

/// Starts the server in the background, tells its process, and sees it out. `$1` is the folder to remove at the end,
/// unless the input was [`LEAVE`]; the rest is the server's command. What ends a whole group of processes is
/// for the process that started it: the guard sees that one end.
const GUARD: &str = r#"
trap '' INT TERM HUP
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
echo "pid $server" >&2
order=$(cat <&3)
kill -QUIT "$server" 2>/dev/null
wait "$server"
if [ "$order" != leave ]; then rm -rf -- "$folder"; fi
"#;

/// Tells the guard that another server will need the folder.
const LEAVE: &[u8] = b"leave";

/// What the server says when it is up.
const READY: &str = "database system is ready to accept connections";

/// A server that runs.
pub(super) struct Guarded {
    guard: Child,
    input: Option<ChildStdin>,
    server: Pid,
}

impl Guarded {
    /// Starts a server and waits until it accepts connections. The answer is what it said last if it does not.
    pub(super) fn start(
        installation: &Installation,
        folder: &Path,
        arguments: &[String],
    ) -> io::Result<Result<Guarded, String>> {
        let mut command = installation.as_server_user("/bin/sh");
        command.args(["-c", GUARD, "sh"]).arg(folder);
        command.arg(installation.programs.join("postgres")).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut guard = command.spawn()?;
        let (input, output) = (guard.stdin.take(), guard.stderr.take());
        let output = output.ok_or_else(|| io::Error::other("the guard has no output"))?;
        let (said, saying) = mpsc::channel();
        // Reads to the end, so that the server never waits for a reader.
        std::thread::Builder::new().name("postgres-log".to_owned()).spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = said.send(line);
            }
        })?;
        let (mut server, mut log) = (None, Vec::new());
        for line in saying {
            if let Some(pid) = line.strip_prefix("pid ").and_then(|pid| pid.parse().ok()) {
                server = Pid::from_raw(pid);
            }
            if let Some(server) = server.filter(|_| line.contains(READY)) {
                return Ok(Ok(Guarded { guard, input, server }));
            }
            // Clients that come too early are told that the database system is not ready, which ends nothing.
            let ends = line.contains("FATAL: ") && !line.contains("the database system is");
            let over = ends || line.contains("database system is shut down");
            log.push(line);
            if over {
                break;
            }
        }
        drop(input);
        guard.wait()?;
        Ok(Err(log.join("\n")))
    }

    /// Kills the server and all its processes, so that none gets to finish anything, and leaves its folder.
    pub(super) fn kill(mut self) -> io::Result<()> {
        // While it is stopped it starts no more, and answers to nothing.
        kill_process(self.server, Signal::STOP)?;
        for process in children(self.server)? {
            // One that has ended by itself in the meantime is what was wanted.
            let _ = kill_and_wait(process);
        }
        kill_and_wait(self.server)?;
        self.input.as_mut().map_or(Ok(()), |input| input.write_all(LEAVE))
    }
}

impl Drop for Guarded {
    /// Waits until the guard is gone, and the server with it.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.guard.wait();
    }
}

/// Kills a process, and waits until it has let go of all it held: what it shares with others would keep the next server
/// from starting.
#[cfg(target_os = "linux")]
fn kill_and_wait(process: Pid) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    let handle = rustix::process::pidfd_open(process, rustix::process::PidfdFlags::empty())?;
    kill_process(process, Signal::KILL)?;
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], None)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn kill_and_wait(process: Pid) -> io::Result<()> {
    Ok(kill_process(process, Signal::KILL)?)
}

/// The processes that a process started.
fn children(parent: Pid) -> io::Result<Vec<Pid>> {
    let listed = std::process::Command::new("ps").args(["-A", "-o", "pid=", "-o", "ppid="]).output()?;
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let child = |line: &str| {
        let mut numbers = line.split_whitespace().map(str::parse::<i32>);
        match (numbers.next()?, numbers.next()?) {
            (Ok(pid), Ok(of)) if of == parent.as_raw_nonzero().get() => Pid::from_raw(pid),
            _ => None,
        }
    };
    Ok(text.lines().filter_map(child).collect())
}
