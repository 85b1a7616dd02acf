//! The journal of records and the history of runs: read back, and forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use trueup_core::read_json;
use trueup_state::{Entry, HistoryLine, RecordId, RunSummary, StoreError};

use crate::flush::{Added, Rewrite, sweep, write_pieces};
use crate::head::{Piece, Told, time};
use crate::objects::Objects;
use crate::scope::{Known, RACES_MAX, ScopeState, Written};

/// How often pruning begins anew because a run writes meanwhile.
const PRUNE_TRIES_MAX: u32 = 10;

pub(crate) async fn journal(
    state: &mut ScopeState,
    objects: &Objects,
    id: RecordId,
) -> Result<Vec<Entry>, StoreError> {
    state.fetch(objects).await?;
    let lines = read(state, objects, |known| &known.head.journal, |added| added.journal).await?;
    let mut entries: Vec<Entry> = parsed(objects, &lines)?;
    entries.retain(|entry| entry.id == id);
    Ok(entries)
}

pub(crate) async fn history(
    state: &mut ScopeState,
    objects: &Objects,
    run: &str,
) -> Result<Vec<HistoryLine>, StoreError> {
    let lines = told(state, objects).await?.into_iter().filter(|line| line.run == run);
    let lines: BTreeMap<u64, Told> = lines.map(|line| (line.sequence, line)).collect();
    Ok(lines.into_values().map(Told::line).collect())
}

pub(crate) async fn runs(state: &mut ScopeState, objects: &Objects) -> Result<Vec<RunSummary>, StoreError> {
    let mut runs: Vec<(String, SystemTime, BTreeSet<u64>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for line in told(state, objects).await? {
        let at = *at.entry(line.run.clone()).or_insert_with(|| {
            runs.push((line.run, time(line.at), BTreeSet::new()));
            runs.len() - 1
        });
        runs[at].2.insert(line.sequence);
    }
    let summary =
        |(run, started, lines): (_, _, BTreeSet<u64>)| RunSummary { run, started, lines: lines.len() as u64 };
    Ok(runs.into_iter().rev().map(summary).collect())
}

/// All lines of history, in the order in which they were committed.
async fn told(state: &mut ScopeState, objects: &Objects) -> Result<Vec<Told>, StoreError> {
    state.fetch(objects).await?;
    let lines = read(state, objects, |known| &known.head.history, |added| added.history).await?;
    parsed(objects, &lines)
}

/// All lines of a log: those in pieces, and those that commits add.
async fn read(
    state: &mut ScopeState,
    objects: &Objects,
    log: impl Fn(&Known) -> &Vec<Piece>,
    added: impl Fn(Added) -> Vec<String>,
) -> Result<Vec<String>, StoreError> {
    for _ in 0..RACES_MAX {
        let known = state.known(objects).await?;
        let (pieces, commits) = (log(known).clone(), known.commits.clone());
        match state.read_pieces(objects, &pieces).await? {
            Ok(texts) => {
                let mut lines: Vec<String> =
                    texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
                lines.extend(added(Added::by(objects, &commits)?));
                return Ok(lines);
            }
            Err(missing) => state.fetch_after_missing(objects, &missing).await?,
        }
    }
    Err(objects.unavailable("read", &"others write it all the time"))
}

fn parsed<T: DeserializeOwned>(objects: &Objects, lines: &[String]) -> Result<Vec<T>, StoreError> {
    let line = |(at, line): (usize, &String)| {
        read_json(line).map_err(|error| objects.damaged(format!("line {at} of a log is unreadable: {error}")))
    };
    lines.iter().enumerate().map(line).collect()
}

/// Writes both logs anew, without what is to be forgotten, and deletes all pieces that nobody needs.
pub(crate) async fn prune(
    state: &mut ScopeState,
    objects: &Objects,
    keep_runs: usize,
) -> Result<(), StoreError> {
    for _ in 0..PRUNE_TRIES_MAX {
        state.fetch(objects).await?;
        state.load(objects).await?;
        let journal = read(state, objects, |known| &known.head.journal, |added| added.journal).await?;
        let history = read(state, objects, |known| &known.head.history, |added| added.history).await?;
        // Reading may have led to another head.
        state.load(objects).await?;
        let known = state.known(objects).await?;
        let (head, commits) = (known.head.clone(), known.commits.clone());
        if head.serial == 0 {
            return Ok(());
        }
        let Some(mut contents) = state.contents.take() else { continue };

        let entries: Vec<Entry> = parsed(objects, &journal)?;
        let kept = journal.into_iter().zip(&entries).filter(|(_, entry)| contents.has(entry.id));
        let journal = Rewrite { keep: 0, lines: kept.map(|(line, _)| line).collect() };
        let told: Vec<Told> = parsed(objects, &history)?;
        let runs = newest(&told, keep_runs);
        let kept = history.into_iter().zip(&told).filter(|(_, told)| runs.contains(told.run.as_str()));
        let history = Rewrite { keep: 0, lines: kept.map(|(line, _)| line).collect() };

        let logs = [journal, history];
        let written = write_pieces(state, objects, head, &commits, &mut contents, u64::MAX, logs).await?;
        if written == Written::Done {
            state.contents = Some(contents);
            state.catch_up();
            return sweep(state, objects).await;
        }
    }
    Err(objects.unavailable("prune", &"a run writes it all the time; try again when it is over"))
}

/// The newest runs, in the order of their first lines.
fn newest(told: &[Told], keep: usize) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let order: Vec<&str> =
        told.iter().map(|told| told.run.as_str()).filter(|run| seen.insert(*run)).collect();
    order.into_iter().rev().take(keep).collect()
}
