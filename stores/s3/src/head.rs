//! The head of a scope: the one object whose replacement decides everything.
//!
//! It is text. The first line is the [`Head`], as JSON; then comes a line for each commit that is in no piece yet, in
//! order; the last line is a checksum of all before it.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use trueup_core::{JsonError, Value, read_json};
use trueup_state::rows::{from_nanoseconds, to_nanoseconds};
use trueup_state::{
    Batch, Cause, Configurations, Entry, FencingToken, HistoryLine, Holder, Record, RecordId, StoreError,
};

/// The newest format this program knows, which is the one it writes.
pub(crate) const FORMAT: u64 = 3;

/// How many writers a head remembers.
const WRITERS_MAX: usize = 32;

const CHECKSUM: &str = "blake3 ";

/// All about a scope but what is in its pieces.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: u64,
    /// Grows with each write, so that no two heads are alike and an `ETag` names one for good.
    pub(crate) serial: u64,
    /// The version of the last commit.
    pub(crate) version: u64,
    /// The highest fencing token so far.
    pub(crate) token: u64,
    /// Who holds the lease with that token.
    pub(crate) lease: Option<HeadLease>,
    pub(crate) keyring: Option<String>,
    /// The configurations of providers that objects were made with.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub(crate) configurations: Configurations,
    /// What is in the pieces.
    pub(crate) flushed: Flushed,
    /// Changes of records, oldest first: each run says what became of the records that it names.
    pub(crate) records: Vec<Run>,
    /// Entries of the journal, in order.
    pub(crate) journal: Vec<Piece>,
    /// Lines of history, in order.
    pub(crate) history: Vec<Piece>,
    /// The last write of each of the last writers, the newest last. A writer that heard no answer finds out by it what
    /// became of its write.
    pub(crate) writers: Vec<LastWrite>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct LastWrite {
    /// The handle.
    pub(crate) writer: String,
    /// Grows with each write of the handle.
    pub(crate) number: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct HeadLease {
    pub(crate) holder: Holder,
    /// When it was taken, by the holder's clock; for people alone. Nanoseconds since 1970.
    pub(crate) since: i64,
    pub(crate) term_ms: u64,
    /// Grows when the lease is renewed.
    pub(crate) beat: u64,
}

/// How far the pieces go.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Flushed {
    pub(crate) version: u64,
    /// How many records there are in them.
    pub(crate) records: u64,
    pub(crate) outputs: bool,
}

/// Pieces that were written together, in the order of the ids in them.
pub(crate) type Run = Vec<Piece>;

/// An object that is written once and never changed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// The checksum of what is in it.
    pub(crate) sum: String,
}

/// A commit, and the line it is.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(crate) line: String,
    pub(crate) said: CommitLine,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CommitLine {
    pub(crate) version: u64,
    /// The token of the lease under which it was made.
    pub(crate) token: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) records: Vec<Change>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) entries: Vec<Entry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) history: Vec<Told>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) outputs: Option<Outputs>,
}

/// The stack's outputs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Outputs {
    #[serde(with = "trueup_core::recorded")]
    pub(crate) value: Value,
}

/// What became of a record; `None` if nothing is left.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) id: RecordId,
    pub(crate) record: Option<Arc<Record>>,
}

/// A line of history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) run: String,
    pub(crate) sequence: u64,
    /// Nanoseconds since 1970.
    pub(crate) at: i64,
    pub(crate) event: String,
}

/// Why a head cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    Newer(u64),
    Garbled(Cause),
}

impl Head {
    /// That of a scope that nothing is known of.
    pub(crate) fn empty() -> Self {
        Head {
            format: FORMAT,
            serial: 0,
            version: 0,
            token: 0,
            lease: None,
            keyring: None,
            configurations: Configurations::default(),
            flushed: Flushed::default(),
            records: Vec::new(),
            journal: Vec::new(),
            history: Vec::new(),
            writers: Vec::new(),
        }
    }

    /// The text of the object.
    pub(crate) fn text(&self, commits: &[Arc<Commit>]) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        for commit in commits {
            text.push_str(&commit.line);
            text.push('\n');
        }
        let sum = sum(&text);
        Ok(text + CHECKSUM + &sum + "\n")
    }

    /// Reads what [`Head::text`] wrote.
    pub(crate) fn read(text: &str) -> Result<(Head, Vec<Arc<Commit>>), Unreadable> {
        #[derive(Deserialize)]
        struct Format {
            format: u64,
        }
        let garbled = |error: JsonError| Unreadable::Garbled(Cause::new(error));
        let first = text.lines().next().unwrap_or_default();
        // First of all: another format may have its checksum elsewhere.
        let Format { format } = read_json(first).map_err(garbled)?;
        if format > FORMAT {
            return Err(Unreadable::Newer(format));
        }
        let body = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
        let Some((body, last)) = body else { return Err(Unreadable::Garbled("it is cut off".into())) };
        let whole = &text[..=body.len()];
        if last.strip_prefix(CHECKSUM) != Some(&sum(whole)) {
            return Err(Unreadable::Garbled("it is not as it was written".into()));
        }
        let mut lines = whole.lines();
        let mut head: Head = read_json(lines.next().unwrap_or_default()).map_err(garbled)?;
        // What is written next is of this format.
        head.format = FORMAT;
        let commits = lines.map(|line| {
            let said = read_json(line).map_err(garbled)?;
            Ok(Arc::new(Commit { line: line.to_owned(), said }))
        });
        Ok((head, commits.collect::<Result<_, _>>()?))
    }

    /// All pieces that it names.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.records.iter().flatten().chain(&self.journal).chain(&self.history)
    }

    /// Refuses one who does not hold the lease.
    pub(crate) fn check_held(&self, token: FencingToken) -> Result<(), StoreError> {
        if self.lease.is_some() && self.token == token.0 { Ok(()) } else { Err(StoreError::Superseded) }
    }

    /// How large the runs of records are.
    pub(crate) fn run_sizes(&self) -> Vec<u64> {
        self.records.iter().map(|run| run.iter().map(|piece| piece.bytes).sum()).collect()
    }

    /// Notes who writes it.
    pub(crate) fn sign(&mut self, write: &LastWrite) {
        self.writers.retain(|last| last.writer != write.writer);
        self.writers.push(write.clone());
        self.writers.drain(..self.writers.len().saturating_sub(WRITERS_MAX));
    }

    /// Whether a writer's newest write led to this head; `None` if its writer may be forgotten.
    pub(crate) fn follows(&self, write: &LastWrite) -> Option<bool> {
        let last = self.writers.iter().find(|last| last.writer == write.writer);
        match last {
            Some(last) => Some(last.number >= write.number),
            None => (self.writers.len() < WRITERS_MAX).then_some(false),
        }
    }

    /// Whether the scope holds records, outputs, journal or history.
    pub(crate) fn holds_anything(&self, commits: &[Arc<Commit>]) -> bool {
        let says = |commit: &CommitLine| {
            !commit.entries.is_empty() || !commit.history.is_empty() || commit.outputs.is_some()
        };
        self.flushed.records > 0
            || self.flushed.outputs
            || !self.journal.is_empty()
            || !self.history.is_empty()
            || commits.iter().any(|commit| says(&commit.said))
    }
}

impl HeadLease {
    pub(crate) fn term(&self) -> Duration {
        Duration::from_millis(self.term_ms)
    }
}

impl Commit {
    /// A batch as it is kept. What the last write of a record leaves is kept of it.
    pub(crate) fn of(batch: &Batch, version: u64, token: u64) -> Result<Commit, serde_json::Error> {
        let mut records: Vec<Change> = Vec::new();
        let mut at = std::collections::BTreeMap::new();
        for write in &batch.writes {
            let id = write.entry.id;
            let change = Change { id, record: write.record.clone() };
            match at.get(&id) {
                Some(&at) => records[at] = change,
                None => {
                    at.insert(id, records.len());
                    records.push(change);
                }
            }
        }
        let said = CommitLine {
            version,
            token,
            records,
            entries: batch.writes.iter().map(|write| write.entry.clone()).collect(),
            history: batch.history.iter().map(Told::of).collect(),
            outputs: batch.outputs.clone().map(|value| Outputs { value }),
        };
        Ok(Commit { line: serde_json::to_string(&said)?, said })
    }
}

impl Told {
    fn of(line: &HistoryLine) -> Told {
        let HistoryLine { run, sequence, at, event } = line.clone();
        Told { run, sequence, at: to_nanoseconds(at), event }
    }

    pub(crate) fn line(self) -> HistoryLine {
        let Told { run, sequence, at, event } = self;
        HistoryLine { run, sequence, at: time(at), event }
    }
}

/// The time that was kept.
pub(crate) fn time(nanoseconds: i64) -> SystemTime {
    from_nanoseconds(nanoseconds).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The checksum of a text.
pub(crate) fn sum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// STATE-7
    #[test]
    fn an_older_format_is_brought_up_to_date_by_the_next_write() {
        let older = Head { format: 1, ..Head::empty() }.text(&[]).unwrap();
        let Ok((head, _)) = Head::read(&older) else { panic!("it is as it was written") };
        assert!(head.text(&[]).unwrap().starts_with(&format!("{{\"format\":{FORMAT},")));
    }
}
