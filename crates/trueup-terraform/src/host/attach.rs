//! Finding the host of a plugin, or starting one.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Incoming;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use super::{Host, Order, Report, VERSION_HEADER, WORDS_PATH};
use crate::client::Version;
use crate::grpc::Channel;
use crate::process::{Launch, Listening, StartError, connect};

/// Longer paths are none for sockets.
const SOCKET_PATH_MAX: usize = 100;

/// How long a host that waits for someone takes at most to answer.
const IDLE_WAIT: Duration = Duration::from_secs(2);

/// How long a host takes at most to say what its plugin says.
const REPORT_SLACK: Duration = Duration::from_secs(10);

/// A plugin by way of its host.
pub(crate) struct Attached {
    pub(crate) version: Version,
    pub(crate) channel: Channel,
    /// What the plugin prints, and at last how it ended.
    pub(crate) words: Incoming,
}

/// Why a plugin is not hosted.
pub(crate) enum Unattached {
    /// The plugin could not be started.
    Plugin(StartError),
    /// The host could not: the plugin can be started without one.
    Host(String),
}

impl From<io::Error> for Unattached {
    fn from(error: io::Error) -> Self {
        Unattached::Host(error.to_string())
    }
}

/// The host of a plugin that serves this purpose: one that waits for someone, or a new one.
pub(crate) async fn attach(
    name: &str,
    launch: &Launch,
    host: &Host,
    purpose: &[u8],
) -> Result<Attached, Unattached> {
    private_folder(&host.folder)?;
    let answers = host.answers();
    private_folder(&answers)?;
    let key = key(launch, purpose)?;
    let idle = fitting(host.folder.join(&key))?;
    if idle.exists() {
        // Someone may have been faster, or nobody may be there any more.
        match timeout(IDLE_WAIT, turn_to(&idle)).await {
            Ok(Ok(attached)) => return Ok(attached),
            Ok(Err(_)) | Err(_) => drop(std::fs::remove_file(&idle)),
        }
    }
    let socket = start(name, launch, host, idle, answers).await?;
    turn_to(&socket).await
}

/// Turns to a host that listens there, and hears from it what its plugin says.
async fn turn_to(socket: &Path) -> Result<Attached, Unattached> {
    let listening = Listening::Unix(socket.to_owned());
    let channel = connect(&listening, None).await.map_err(Unattached::Plugin)?;
    let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
    let request = Request::get(WORDS_PATH).body(body).map_err(io::Error::other)?;
    let heard = channel.send(request).await.map_err(io::Error::other)?;
    let version = match heard.headers().get(VERSION_HEADER).and_then(|version| version.to_str().ok()) {
        Some("5") => Version::V5,
        Some("6") => Version::V6,
        _ => return Err(Unattached::Host("it is no host".to_owned())),
    };
    Ok(Attached { version, channel, words: heard.into_body() })
}

/// Starts a host. The answer is where it listens.
async fn start(
    name: &str,
    launch: &Launch,
    host: &Host,
    idle_socket: PathBuf,
    answers: PathBuf,
) -> Result<PathBuf, Unattached> {
    let mut unique = [0; 6];
    getrandom::fill(&mut unique).map_err(io::Error::other)?;
    let unique: String = unique.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = |argument: &std::ffi::OsString| argument.to_str().map(str::to_owned);
    let arguments: Option<Vec<String>> = launch.arguments.iter().map(text).collect();
    let order = Order {
        name: name.to_owned(),
        program: launch.program.clone(),
        arguments: arguments.ok_or_else(|| Unattached::Host("an argument is not UTF-8".to_owned()))?,
        start_timeout_ms: millis(launch.start_timeout),
        socket: fitting(host.folder.join(format!("new-{unique}")))?,
        idle_socket,
        answers,
        stay_ms: millis(host.stay),
        grace_ms: millis(host.grace),
    };
    let order_text = serde_json::to_string(&order).map_err(io::Error::from)? + "\n";
    let [program, arguments @ ..] = host.command.as_slice() else {
        return Err(Unattached::Host("no command starts it".to_owned()));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        // Whoever interrupts us at a terminal does not mean the host.
        .process_group(0)
        .spawn()?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Unattached::Host("it cannot be spoken to".to_owned()));
    };
    stdin.write_all(order_text.as_bytes()).await?;
    drop(stdin);
    let mut line = String::new();
    let mut stdout = BufReader::new(stdout);
    match timeout(launch.start_timeout + REPORT_SLACK, stdout.read_line(&mut line)).await {
        Ok(read) => drop(read?),
        Err(_) => return Err(Unattached::Plugin(StartError::TimedOut(launch.start_timeout))),
    }
    // It is nobody's child from now on; if it ends while we live, it is taken leave of.
    tokio::spawn(async move { child.wait().await });
    match serde_json::from_str(&line).map_err(io::Error::from)? {
        Report::Ready => Ok(order.socket),
        Report::Missing => Err(Unattached::Plugin(StartError::Missing(launch.program.clone()))),
        Report::Protocol(version) => Err(Unattached::Plugin(StartError::Protocol(version))),
        Report::Refused(why) => Err(Unattached::Plugin(StartError::Refused(why))),
    }
}

/// What tells plugins from one another that could stand in for each other: the binary, its environment, its purpose.
fn key(launch: &Launch, purpose: &[u8]) -> io::Result<String> {
    let program = std::fs::canonicalize(&launch.program).unwrap_or_else(|_| launch.program.clone());
    // One that is not there is told of by the host, as any that does not start.
    let file = std::fs::metadata(&program).ok();
    let file = file.map(|file| (file.len(), file.mtime(), file.mtime_nsec(), file.ino()));
    let mut environment = launch.environment.clone();
    environment.sort();
    let told = format!("{program:?} {file:?} {:?} {environment:?}", launch.arguments);
    let mut hasher = blake3::Hasher::new_derive_key("trueup plugin host");
    hasher.update(&(told.len() as u64).to_le_bytes()).update(told.as_bytes()).update(purpose);
    Ok(hasher.finalize().to_hex().get(..24).unwrap_or_default().to_owned())
}

/// A folder that is this user's and nobody else's: who could put a socket there would get their secrets.
fn private_folder(folder: &Path) -> Result<(), Unattached> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = std::fs::symlink_metadata(folder)?;
    let ours = found.is_dir() && found.uid() == rustix::process::getuid().as_raw();
    match ours && found.permissions().mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(Unattached::Host(format!("{} is not this user's alone", folder.display()))),
    }
}

fn fitting(socket: PathBuf) -> Result<PathBuf, Unattached> {
    match socket.as_os_str().len() <= SOCKET_PATH_MAX {
        true => Ok(socket),
        false => Err(Unattached::Host(format!("{} is too long for a socket", socket.display()))),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
