//! Plugins as processes: started, spoken to, ended.
//!
//! [`Plugin::start`] runs a binary and reads the one line by which it says where it listens ([`handshake`]). From then
//! on all that it prints is drained, because a full pipe would make it hang ([`output`]). Both sides show certificates
//! that were made for this one conversation and accept no others ([`encryption`]).
//!
//! A plugin never outlives its handle: dropping it kills the process, with everything that the process started.

mod encryption;
mod handshake;
mod output;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::net::{TcpStream, UnixStream};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::client::Client;
use crate::grpc::{Channel, Connector, Duplex, with_causes};
use crate::host::{Attached, Host, Unattached, attach};
use encryption::Identity;
pub use encryption::PinnedCertificate;
use handshake::Handshake;
pub(crate) use handshake::Listening;
pub(crate) use output::PluginLog;
use output::{FirstLine, Hear, LastWords};

/// By which a plugin knows that it was started as one.
const MAGIC_COOKIE: (&str, &str) =
    ("TF_PLUGIN_MAGIC_COOKIE", "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2");

/// How long a plugin may take to end by itself before it is killed.
const END_WAIT: Duration = Duration::from_secs(2);

/// How to start a plugin.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The binary.
    pub program: PathBuf,
    /// What to call it with; plugins take nothing, wrappers of them may.
    pub arguments: Vec<OsString>,
    /// What begins in its place, with the binary and its arguments as further arguments, and becomes it: whoever has to
    /// do something to the process itself first, such as binding its life to ours.
    pub guard: Vec<OsString>,
    /// All of its environment: clouds take their credentials from there.
    pub environment: Vec<(OsString, OsString)>,
    /// How long it may take until it listens.
    pub start_timeout: Duration,
    /// How it is hosted; `None`: it is a child of this process, and dies with it.
    pub host: Option<Host>,
}

impl Launch {
    /// Starts this binary with this environment, and a minute for it.
    pub fn new(program: impl Into<PathBuf>, environment: Vec<(OsString, OsString)>) -> Self {
        Launch {
            program: program.into(),
            arguments: Vec::new(),
            guard: Vec::new(),
            environment,
            start_timeout: Duration::from_secs(60),
            host: None,
        }
    }
}

/// Why a plugin could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no such binary.
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    /// The operating system refused.
    #[error("cannot run `{}`: {error}", .program.display())]
    Spawn {
        /// What.
        program: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// It ended before it listened.
    #[error("it ended before it was ready ({status}){}", said(.words))]
    Ended {
        /// How.
        status: String,
        /// What it printed last.
        words: String,
    },
    /// It printed something else than the handshake.
    #[error("it printed something else than the handshake of a plugin: {0}")]
    Garbage(String),
    /// It speaks another version of the protocol.
    #[error("it speaks version {0} of the plugin protocol; versions 5 and 6 are spoken here")]
    Protocol(String),
    /// It offers something that is refused here.
    #[error("{0}")]
    Refused(String),
    /// It took too long.
    #[error("it was not ready after {} s", .0.as_secs())]
    TimedOut(Duration),
    /// It does not answer where it says that it listens.
    #[error("it cannot be reached where it says that it listens: {0}")]
    Connect(String),
    /// Our own side of the encryption failed.
    #[error("cannot make a certificate: {0}")]
    Certificate(String),
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(", saying:\n{words}") }
}

/// A running plugin.
pub struct Plugin {
    client: Client,
    /// Set when the process has ended.
    ended: watch::Receiver<Option<ExitStatus>>,
    words: LastWords,
    /// Ends it; a host ends by itself.
    _killer: Option<DropGuard>,
    /// Where its socket lies; removed with it.
    _sockets: Option<TempDir>,
}

impl Plugin {
    /// Runs a plugin until it listens, and connects to it. `name` is what messages and logs call it.
    pub async fn start(name: &str, launch: &Launch) -> Result<Self, StartError> {
        Self::start_logged(&PluginLog::new(name), launch).await
    }

    /// The same, with a log of its own.
    pub(crate) async fn start_logged(log: &PluginLog, launch: &Launch) -> Result<Self, StartError> {
        Self::start_heard(log, launch, Box::new(|_| {})).await
    }

    /// The same, for someone who hears every line that it prints to standard error.
    pub(crate) async fn start_heard(
        log: &PluginLog,
        launch: &Launch,
        hear: Hear,
    ) -> Result<Self, StartError> {
        let starting = Self::start_without_limit(log, launch, hear);
        timeout(launch.start_timeout, starting)
            .await
            .unwrap_or_else(|_| Err(StartError::TimedOut(launch.start_timeout)))
    }

    /// One that serves a purpose, and whose process outlives us if there are hosts: it may have been started by someone
    /// else for the same purpose.
    pub(crate) async fn start_for(
        log: &PluginLog,
        launch: &Launch,
        purpose: &[u8],
    ) -> Result<Self, StartError> {
        let Some(host) = &launch.host else { return Self::start_logged(log, launch).await };
        match attach(&log.name, launch, host, purpose).await {
            Ok(attached) => Ok(Self::attached(log, attached)),
            Err(Unattached::Plugin(error)) => Err(error),
            Err(Unattached::Host(why)) => {
                tracing::warn!(provider = log.name, "the plugin gets no host: {why}");
                Self::start_logged(log, launch).await
            }
        }
    }

    fn attached(log: &PluginLog, Attached { version, channel, words }: Attached) -> Self {
        let (words, ended) = output::listen(log, words);
        output::subscribe(log, channel.clone());
        let client = Client::new(version, channel);
        Plugin { client, ended, words, _killer: None, _sockets: None }
    }

    async fn start_without_limit(log: &PluginLog, launch: &Launch, hear: Hear) -> Result<Self, StartError> {
        let identity = Identity::fresh().map_err(|error| StartError::Certificate(error.to_string()))?;
        let sockets = TempDir::with_prefix_in("trueup-plugin-", temporary_folder(launch)).ok();
        let mut child = spawn(launch, &identity, sockets.as_ref())?;
        let (words, first_line) = output::drain(log, &mut child, hear);
        let killer = CancellationToken::new();
        let guard = killer.clone().drop_guard();
        let mut ended = watch_over(child, killer);
        let line = match first_line.await {
            FirstLine::Line(line) => line,
            FirstLine::TooLong(start) => return Err(StartError::Garbage(quoted(&start))),
            FirstLine::None => {
                // Its output ended, so it is about to.
                let status = timeout(END_WAIT, exit_status(&mut ended)).await.ok();
                let status = status.map_or_else(|| "its output ended".to_owned(), |it| it.to_string());
                return Err(StartError::Ended { status, words: words.text().await });
            }
        };
        let handshake = Handshake::parse(&line)?;
        let channel = connect(&handshake.listening, handshake.certificate.map(|it| (&identity, it))).await?;
        output::subscribe(log, channel.clone());
        let client = Client::new(handshake.version, channel);
        Ok(Plugin { client, ended, words, _killer: Some(guard), _sockets: sockets })
    }

    /// Speaks to it.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// How the process ended, when it has.
    pub(crate) async fn ended(&self) -> ExitStatus {
        exit_status(&mut self.ended.clone()).await
    }

    /// Whether the process still runs.
    pub fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// How the process ended and what it said last, if it has ended or does so shortly.
    pub async fn obituary(&self) -> Option<String> {
        let mut ended = self.ended.clone();
        let status = timeout(END_WAIT, exit_status(&mut ended)).await.ok()?;
        Some(format!("it ended ({status}){}", said(&self.words.text().await)))
    }

    /// Asks it to end, and waits for that; what does not is killed.
    pub async fn shut_down(self) {
        let mut ended = self.ended.clone();
        let asked = async {
            self.client.shut_down().await;
            exit_status(&mut ended).await;
        };
        let _ = timeout(END_WAIT, asked).await;
    }
}

/// The folder where the plugin itself would put its socket.
fn temporary_folder(launch: &Launch) -> PathBuf {
    let set = launch.environment.iter().find(|(name, value)| name == "TMPDIR" && !value.is_empty());
    set.map_or_else(|| "/tmp".into(), |(_, folder)| folder.into())
}

fn spawn(launch: &Launch, identity: &Identity, sockets: Option<&TempDir>) -> Result<Child, StartError> {
    if !launch.program.exists() {
        return Err(StartError::Missing(launch.program.clone()));
    }
    let mut command = match launch.guard.split_first() {
        None => Command::new(&launch.program),
        Some((guard, arguments)) => {
            let mut command = Command::new(guard);
            command.args(arguments).arg(&launch.program);
            command
        }
    };
    command
        .args(&launch.arguments)
        .env_clear()
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .env(MAGIC_COOKIE.0, MAGIC_COOKIE.1)
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "25000")
        .env("PLUGIN_CLIENT_CERT", identity.pem())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        // Whoever interrupts us at a terminal does not mean the plugin: we decide what becomes of it.
        .process_group(0);
    if let Some(sockets) = sockets {
        command.env("PLUGIN_UNIX_SOCKET_DIR", sockets.path());
    }
    command.spawn().map_err(|error| StartError::Spawn { program: launch.program.clone(), error })
}

/// Waits for the end of the process, or brings it about when asked to.
fn watch_over(mut child: Child, killer: CancellationToken) -> watch::Receiver<Option<ExitStatus>> {
    let (sender, receiver) = watch::channel(None);
    tokio::spawn(async move {
        let group = child.id().and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
        let status = match killer.run_until_cancelled(child.wait()).await {
            Some(status) => status,
            None => {
                let _ = child.start_kill();
                child.wait().await
            }
        };
        if let Some(group) = group {
            // What it started goes with it.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        sender.send_replace(Some(status.unwrap_or_default()));
    });
    receiver
}

async fn exit_status(ended: &mut watch::Receiver<Option<ExitStatus>>) -> ExitStatus {
    let status = ended.wait_for(Option::is_some).await;
    status.ok().and_then(|status| *status).unwrap_or_default()
}

/// Connects to what listens there, and shows one certificate to what shows another.
pub(crate) async fn connect(
    listening: &Listening,
    certificates: Option<(&Identity, Vec<u8>)>,
) -> Result<Channel, StartError> {
    let encryption = match (certificates, listening) {
        (Some((identity, certificate)), _) => {
            let made = encryption::connector(identity, certificate);
            Some(made.map_err(|error| StartError::Certificate(error.to_string()))?)
        }
        // Nobody but this user can reach a socket in the file system.
        (None, Listening::Unix(_)) => None,
        (None, Listening::Tcp(_)) => {
            let message = "it listens on the network without encryption".to_owned();
            return Err(StartError::Refused(message));
        }
    };
    let listening = listening.clone();
    let connector: Connector = Box::new(move || {
        let (listening, encryption) = (listening.clone(), encryption.clone());
        Box::pin(async move {
            let stream: Box<dyn Duplex> = match &listening {
                Listening::Unix(path) => Box::new(UnixStream::connect(path).await?),
                Listening::Tcp(address) => Box::new(TcpStream::connect(address).await?),
            };
            Ok(match encryption {
                Some(encryption) => Box::new(encryption.connect(encryption::server_name(), stream).await?),
                None => stream,
            })
        })
    });
    Channel::connect(connector).await.map_err(|error| StartError::Connect(with_causes(&error)))
}

/// What came, made fit for a message.
fn quoted(text: &str) -> String {
    const LENGTH_MAX: usize = 120;
    let printable: String =
        text.chars().take(LENGTH_MAX).map(|it| if it.is_control() { '·' } else { it }).collect();
    if text.chars().nth(LENGTH_MAX).is_some() {
        format!("`{printable}…`")
    } else {
        format!("`{printable}`")
    }
}
