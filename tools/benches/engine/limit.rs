//! What the machine allows: a bare SQLite program that writes the same rows in the same transactions, and nothing else.

#[path = "../../speed/src/bare.rs"]
mod bare;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use bare::{Bare, Rows};
use trueup_state::RecordId;

use crate::trace::Commit;

/// A bare database, which keeps what earlier traces wrote.
pub(crate) struct Limit {
    bare: Bare,
    /// The ids seen so far, sorted, with their numbers.
    numbers: BTreeMap<RecordId, i64>,
}

impl Limit {
    pub(crate) fn new(folder: &Path) -> Self {
        let bare = Bare::create(&folder.join("limit.db")).expect("the folder can be written");
        Limit { bare, numbers: BTreeMap::new() }
    }

    /// Writes what commits wrote, and says how long that took.
    pub(crate) fn replay(&mut self, commits: &[Commit]) -> Duration {
        let transactions: Vec<Rows> = commits.iter().map(|commit| self.numbered(commit)).collect();
        self.bare.write(&transactions).expect("the database can be written")
    }

    fn numbered(&mut self, commit: &Commit) -> Rows {
        let mut number = |id: &RecordId| {
            let next = self.numbers.len() as i64;
            *self.numbers.entry(*id).or_insert(next)
        };
        Rows {
            records: commit.records.iter().map(|(id, bytes)| (number(id), *bytes)).collect(),
            journal: commit.journal.clone(),
            history: commit.history.clone(),
            outputs: commit.outputs,
        }
    }
}
