//! What plugins print: drained for as long as they live, handed to the log, and the last of it kept for messages.

use std::collections::VecDeque;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::TryStreamExt;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use prost::Message;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Child;
use tokio::sync::{oneshot, watch};
use tokio_util::io::StreamReader;
use trueup_core::KnownSecrets;

use crate::grpc::Channel;
use crate::host::ENDED;
use crate::protocol::plugin::StdioData;

/// A longer line is cut.
const LINE_LENGTH_MAX: usize = 64 << 10;

/// The largest message with output that is taken.
const STDIO_MESSAGE_SIZE_MAX: usize = 4 << 20;

/// How many lines of what a plugin said last are kept.
const LAST_LINES_MAX: usize = 20;

/// How long to wait for what a plugin says while it ends.
const WORDS_WAIT: std::time::Duration = std::time::Duration::from_millis(500);

/// Where the lines of one plugin are logged: under its name, without the secrets that it was given.
#[derive(Clone)]
pub(crate) struct PluginLog {
    pub(crate) name: String,
    pub(crate) secrets: KnownSecrets,
}

impl PluginLog {
    /// One for a process that is given no secrets, or whose lines nobody keeps.
    pub(crate) fn new(name: &str) -> Self {
        PluginLog { name: name.to_owned(), secrets: KnownSecrets::default() }
    }

    fn debug(&self, line: &str) {
        tracing::debug!(target: "plugin", provider = self.name, "{}", self.secrets.scrubbed(line));
    }

    fn at(&self, level: &str, message: &str) {
        let name = &self.name;
        let message = || self.secrets.scrubbed(message);
        match level {
            "error" => tracing::error!(target: "plugin", provider = name, "{}", message()),
            "warn" => tracing::warn!(target: "plugin", provider = name, "{}", message()),
            "info" => tracing::info!(target: "plugin", provider = name, "{}", message()),
            "debug" => tracing::debug!(target: "plugin", provider = name, "{}", message()),
            _ => tracing::trace!(target: "plugin", provider = name, "{}", message()),
        }
    }
}

/// Hears every line that a plugin prints to standard error.
pub(crate) type Hear = Box<dyn Fn(&str) + Send + Sync>;

/// The first line of a plugin's output.
pub(super) enum FirstLine {
    Line(String),
    TooLong(String),
    /// The output ended before there was one.
    None,
}

/// What a plugin said last on its standard error, apart from its log.
#[derive(Clone)]
pub(super) struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Closed when there is nothing more to come.
    complete: watch::Receiver<()>,
}

impl LastWords {
    /// All of it, once the plugin cannot say more.
    pub(super) async fn text(&self) -> String {
        let mut complete = self.complete.clone();
        let _ = tokio::time::timeout(WORDS_WAIT, async { while complete.changed().await.is_ok() {} }).await;
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Drains both outputs from now on.
pub(super) fn drain(
    log: &PluginLog,
    child: &mut Child,
    hear: Hear,
) -> (LastWords, impl Future<Output = FirstLine> + use<>) {
    let lines = Arc::new(Mutex::new(VecDeque::new()));
    let (open, complete) = watch::channel(());
    if let Some(stderr) = child.stderr.take() {
        let (log, lines) = (log.clone(), lines.clone());
        tokio::spawn(async move {
            each_line(stderr, |line| {
                hear(line);
                log_line(&log, line, &lines);
            })
            .await;
            drop(open);
        });
    }
    let (sender, first_line) = oneshot::channel();
    if let Some(stdout) = child.stdout.take() {
        let log = log.clone();
        tokio::spawn(async move {
            let mut sender = Some(sender);
            each_line(stdout, |line| match sender.take() {
                Some(sender) if line.len() >= LINE_LENGTH_MAX => {
                    let _ = sender.send(FirstLine::TooLong(line.to_owned()));
                }
                Some(sender) => {
                    let _ = sender.send(FirstLine::Line(line.to_owned()));
                }
                None => log.debug(line),
            })
            .await;
        });
    }
    let first_line = async { first_line.await.unwrap_or(FirstLine::None) };
    (LastWords { lines, complete }, first_line)
}

/// Hears from a host what its plugin prints, and at last how it ended.
pub(super) fn listen(log: &PluginLog, words: Incoming) -> (LastWords, watch::Receiver<Option<ExitStatus>>) {
    let lines = Arc::new(Mutex::new(VecDeque::new()));
    let (open, complete) = watch::channel(());
    let (sender, ended) = watch::channel(None);
    let (log, heard) = (log.clone(), lines.clone());
    tokio::spawn(async move {
        let bytes = words.into_data_stream().map_err(std::io::Error::other);
        let mut status = ExitStatus::default();
        each_line(StreamReader::new(bytes), |line| match line.strip_prefix(ENDED) {
            Some(raw) => status = raw.parse().map(ExitStatus::from_raw).unwrap_or_default(),
            None => log_line(&log, line, &heard),
        })
        .await;
        drop(open);
        sender.send_replace(Some(status));
    });
    (LastWords { lines, complete }, ended)
}

/// What a plugin prints through the protocol, once it listens.
pub(super) fn subscribe(log: &PluginLog, channel: Channel) {
    let log = log.clone();
    tokio::spawn(async move {
        let path = "/plugin.GRPCStdio/StreamStdio";
        let call = channel.call(path, HeaderMap::new(), &[], STDIO_MESSAGE_SIZE_MAX);
        let Ok(mut messages) = call.await else { return };
        while let Ok(Some(message)) = messages.next().await {
            let Ok(printed) = StdioData::decode(message) else { continue };
            let text = String::from_utf8_lossy(&printed.data);
            text.lines().for_each(|line| log.debug(line));
        }
    });
}

/// Reads to the end, line by line.
async fn each_line(mut reader: impl AsyncRead + Unpin, mut handle: impl FnMut(&str)) {
    let mut chunk = vec![0; 16 << 10];
    let mut line = Vec::new();
    while let Ok(length @ 1..) = reader.read(&mut chunk).await {
        for &byte in &chunk[..length] {
            if byte == b'\n' {
                handle(&String::from_utf8_lossy(&line));
                line.clear();
            } else if line.len() < LINE_LENGTH_MAX {
                line.push(byte);
                if line.len() == LINE_LENGTH_MAX {
                    // Whoever waits for a line must not wait for the end of one that has none.
                    handle(&String::from_utf8_lossy(&line));
                }
            }
        }
    }
    if !line.is_empty() && line.len() < LINE_LENGTH_MAX {
        handle(&String::from_utf8_lossy(&line));
    }
}

/// A line of a plugin's log.
#[derive(Deserialize)]
struct LogLine {
    #[serde(rename = "@level")]
    level: String,
    #[serde(rename = "@message")]
    message: String,
}

fn log_line(log: &PluginLog, line: &str, last: &Mutex<VecDeque<String>>) {
    if let Ok(LogLine { level, message }) = serde_json::from_str::<LogLine>(line) {
        return log.at(&level, &message);
    }
    log.debug(line);
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if last.len() == LAST_LINES_MAX {
        last.pop_front();
    }
    // They are quoted to whoever calls when the plugin ends, and may be about another call.
    last.push_back(log.secrets.scrubbed(line.trim_end()).into_owned());
}
