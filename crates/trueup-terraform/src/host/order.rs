//! What a host is told when it starts, and what it answers.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How plugins are hosted.
#[derive(Clone, Debug)]
pub struct Host {
    /// The command that calls [`serve`](super::serve).
    pub command: Vec<OsString>,
    /// Where sockets and answers are: for this user alone.
    pub folder: PathBuf,
    /// How long a host stays after it was last used.
    pub stay: Duration,
    /// How long changes that are under way may go on when nobody waits for them any more.
    pub grace: Duration,
}

impl Host {
    /// Where answers are kept.
    pub(crate) fn answers(&self) -> PathBuf {
        self.folder.join("answers")
    }
}

/// What a host is to do. Its own environment is that of the plugin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// What messages call the plugin.
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub start_timeout_ms: u64,
    /// Where it listens for whoever started it.
    pub socket: PathBuf,
    /// Where it listens once nobody uses it.
    pub idle_socket: PathBuf,
    /// Where answers are kept.
    pub answers: PathBuf,
    pub stay_ms: u64,
    pub grace_ms: u64,
}

/// What a host says when it is ready, or cannot be.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Report {
    /// The plugin runs.
    Ready,
    /// There is no such binary.
    Missing,
    /// It speaks another version.
    Protocol(String),
    /// Something else is wrong with it.
    Refused(String),
}
