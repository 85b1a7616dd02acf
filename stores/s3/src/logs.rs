//! The journal of records and the history of runs: read back, and forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use trueup_core::read_json;
use trueup_state::{Cause, Entry, FencingToken, HistoryLine, RecordId, RunSummary, Step, StoreError};

use crate::flush::{Added, Draft, Merge, Rewrite, sweep, write_pieces};
use crate::head::{Flushed, Head, Piece, Told, time};
use crate::objects::Objects;
use crate::scope::{Known, RACES_MAX, ScopeState, Written};

/// How often forgetting begins anew because a run writes meanwhile.
const FORGET_TRIES_MAX: u32 = 10;

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
    Err(objects.unavailable("read", "others write it all the time"))
}

fn parsed<T: DeserializeOwned>(objects: &Objects, lines: &[String]) -> Result<Vec<T>, StoreError> {
    let line = |(at, line): (usize, &String)| {
        read_json(line).map_err(|error| {
            objects.damaged(Cause::about(format!("line {at} of a log is unreadable"), error))
        })
    };
    lines.iter().enumerate().map(line).collect()
}

/// What is forgotten, besides the journal of records that no longer exist.
#[derive(Clone, Copy)]
pub(crate) enum Forgotten {
    /// All but the newest runs.
    Runs { keep: usize },
    /// What the journal says of each record from before it was last resealed. Only a holder of the lease may ask for it.
    BeforeResealing(FencingToken),
}

/// Writes everything anew without what is to be forgotten, and deletes all pieces that nobody needs, so that nothing is
/// left of it.
pub(crate) async fn forget(
    state: &mut ScopeState,
    objects: &Objects,
    forgotten: Forgotten,
) -> Result<(), StoreError> {
    for _ in 0..FORGET_TRIES_MAX {
        state.fetch(objects).await?;
        state.load(objects).await?;
        let journal = read(state, objects, |known| &known.head.journal, |added| added.journal).await?;
        let history = read(state, objects, |known| &known.head.history, |added| added.history).await?;
        // Reading may have led to another head.
        state.load(objects).await?;
        let known = state.known(objects).await?;
        let (head, commits) = (known.head.clone(), known.commits.clone());
        if let Forgotten::BeforeResealing(token) = forgotten {
            head.check_held(token)?;
        }
        if head.serial == 0 {
            return Ok(());
        }
        let Some(mut contents) = state.contents.take() else { continue };

        let entries: Vec<Entry> = parsed(objects, &journal)?;
        let told: Vec<Told> = parsed(objects, &history)?;
        let (begins, runs) = match forgotten {
            Forgotten::Runs { keep } => (BTreeMap::new(), newest(&told, keep)),
            Forgotten::BeforeResealing(_) => (last_resealings(&entries), newest(&told, usize::MAX)),
        };
        let kept = |(at, entry): (usize, &Entry)| {
            contents.has(entry.id) && begins.get(&entry.id).is_none_or(|begins| *begins <= at)
        };
        let journal = left(journal, entries.iter().enumerate().map(kept));
        let history = left(history, told.iter().map(|told| runs.contains(told.run.as_str())));

        let draft = Draft { head, commits: &commits, contents: &mut contents, merge: Merge::All };
        if write_pieces(state, objects, draft, [journal, history]).await? == Written::Done {
            state.contents = Some(contents);
            state.catch_up();
            return sweep(state, objects).await;
        }
    }
    Err(objects.unavailable("prune", "a run writes it all the time; try again when it is over"))
}

/// Writes a head that names nothing any more, if there are no records, and deletes all pieces. The head stays, for its
/// version and token.
pub(crate) async fn forget_all(
    state: &mut ScopeState,
    objects: &Objects,
    token: FencingToken,
) -> Result<bool, StoreError> {
    for _ in 0..RACES_MAX {
        state.fetch(objects).await?;
        state.load(objects).await?;
        let head = &state.known(objects).await?.head;
        head.check_held(token)?;
        let Head { version, token, ref lease, ref writers, .. } = *head;
        let (lease, writers) = (lease.clone(), writers.clone());
        let flushed = Flushed { version, ..Flushed::default() };
        let bare = Head { version, token, lease, writers, flushed, ..Head::empty() };
        match state.contents.take() {
            Some(contents) if contents.count() > 0 => {
                state.contents = Some(contents);
                return Ok(false);
            }
            Some(_) => {}
            // Reading may have led to another head.
            None => continue,
        }
        if state.write(objects, bare, Vec::new()).await? == Written::Done {
            sweep(state, objects).await?;
            return Ok(true);
        }
    }
    Err(objects.unavailable("write", "others write it all the time"))
}

/// A log of the lines that are kept.
fn left(lines: Vec<String>, kept: impl Iterator<Item = bool>) -> Rewrite {
    let lines = lines.into_iter().zip(kept).filter_map(|(line, kept)| kept.then_some(line));
    Rewrite { keep: 0, lines: lines.collect() }
}

/// Where each record was last resealed.
fn last_resealings(entries: &[Entry]) -> BTreeMap<RecordId, usize> {
    let resealed = |(_, entry): &(usize, &Entry)| matches!(entry.step, Step::Resealed { .. });
    entries.iter().enumerate().filter(resealed).map(|(at, entry)| (entry.id, at)).collect()
}

/// The newest runs, in the order of their first lines.
fn newest(told: &[Told], keep: usize) -> BTreeSet<&str> {
    let mut seen = BTreeSet::new();
    let order: Vec<&str> =
        told.iter().map(|told| told.run.as_str()).filter(|run| seen.insert(*run)).collect();
    order.into_iter().rev().take(keep).collect()
}
