//! The verdict: whether what was recorded is what the contestants were told.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use trueup_state::Store;

use super::count::{Count, Known, ids, raised, scopes};
use super::report::Report;

/// What happened in a contest.
#[derive(Default)]
pub struct Account {
    /// How many contestants were killed.
    pub kills: usize,
    /// How many were stopped until another had taken their lease over.
    pub takeovers: usize,
    /// How many were stopped for longer than their lease, and kept it.
    pub outlasted: usize,
    /// How many commits were refused because another had taken the lease over.
    pub superseded: usize,
    /// How often the store was out of reach.
    pub trouble: usize,
    /// What it said the last time.
    last_trouble: String,
    /// The commits that were acknowledged, by scope.
    committed: [Vec<Count>; 2],
}

impl Account {
    pub(crate) fn note(&mut self, contestant: &str, report: Report) {
        match report {
            Report::Committed { scope, token, number } => {
                let contestant = contestant.to_owned();
                self.committed[scope].push(Count { number, token, contestant });
            }
            Report::Superseded { .. } => self.superseded += 1,
            Report::Trouble(what) => {
                self.trouble += 1;
                self.last_trouble = what;
            }
            Report::Took { .. } | Report::Broken(_) => {}
        }
    }

    /// How many commits were acknowledged.
    pub fn acknowledged(&self) -> usize {
        self.committed.iter().map(Vec::len).sum()
    }

    /// Checks the store that was contended for.
    ///
    /// # Panics
    /// If anything got lost, or was written that should have been refused, or if the contest proved nothing.
    pub async fn check(&self, store: &dyn Store) {
        for (scope, committed) in scopes().iter().zip(&self.committed) {
            let snapshot = store.load(scope).await.expect("the store can be read");
            let number = Known::loaded(&snapshot).expect("commits are whole").number();
            for id in ids() {
                let journal = store.journal(scope, id).await.expect("the store can be read");
                let counts: Vec<Count> = journal.iter().filter_map(raised).collect();
                assert_eq!(counts.len(), journal.len(), "{scope:?}: all entries should be counts");
                assert_eq!(counts.len() as u64, number, "{scope:?}: the journal should lead to the record");
                check_counts(&counts, committed);
            }
        }
        assert!(self.superseded + self.outlasted > 0, "somebody should have come too late: {self}");
        assert!(self.is_shared(), "several should have made progress, and in every scope: {self}");
    }

    /// Whether several contestants made progress, and somebody in every scope.
    pub(super) fn is_shared(&self) -> bool {
        let who: BTreeSet<&str> = self.committed.iter().flatten().map(|it| it.contestant.as_str()).collect();
        who.len() > 2 && self.committed.iter().all(|committed| !committed.is_empty())
    }
}

fn check_counts(counts: &[Count], committed: &[Count]) {
    let mut holders: BTreeMap<u64, &str> = BTreeMap::new();
    for (before, count) in counts.iter().enumerate() {
        assert_eq!(count.number, before as u64 + 1, "no number should be missing or there twice: {count:?}");
        let holder = holders.entry(count.token).or_insert(&count.contestant);
        assert_eq!(*holder, count.contestant, "a token should have one holder: {count:?}");
    }
    for pair in counts.windows(2) {
        assert!(
            pair[0].token <= pair[1].token,
            "a superseded holder wrote: {:?} after {:?}",
            pair[1],
            pair[0]
        );
    }
    for count in committed {
        let written = counts.get(count.number as usize - 1);
        assert_eq!(written, Some(count), "what was acknowledged should be there");
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { kills, takeovers, outlasted, superseded, trouble, last_trouble, .. } = self;
        write!(
            f,
            "{} commits acknowledged, {kills} contestants killed, {takeovers} stopped until another took over, \
             {outlasted} for longer than their leases, {superseded} commits refused, {trouble} times out of reach ({last_trouble})",
            self.acknowledged()
        )
    }
}
