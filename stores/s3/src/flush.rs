//! Commits become pieces, small pieces become larger ones, and what nobody needs is deleted.
//!
//! Pieces are written first, under names of their own; then the head that names them takes the place of the one before.
//! A piece's name begins with the serial of the head that it was made on the grounds of. Only the very next head can
//! name it: a piece that an even later head does not name is left over from a race or a crash, and may go. Pieces that
//! were merged are deleted only once the head that no longer names them is written; whoever still reads by an older head
//! finds them missing and begins again with the new one.

use std::sync::Arc;

use futures_util::future::join;
use object_store::path::Path;
use serde::Serialize;
use trueup_provider::BoxFuture;
use trueup_state::{Cause, StoreError};

use crate::contents::Contents;
use crate::head::{Commit, Flushed, Head, Piece, sum};
use crate::merging::{split, taken_in};
use crate::objects::{Objects, many};
use crate::scope::{ScopeState, Written};

/// What becomes of the pieces of a log.
pub(crate) struct Rewrite {
    /// So many of the first pieces stay.
    pub(crate) keep: usize,
    /// What comes after them.
    pub(crate) lines: Vec<String>,
}

/// What all commits of a head, and this one, add to the logs.
pub(crate) struct Added {
    pub(crate) journal: Vec<String>,
    pub(crate) history: Vec<String>,
}

impl Added {
    pub(crate) fn by(objects: &Objects, commits: &[Arc<Commit>]) -> Result<Added, StoreError> {
        let entries = commits.iter().flat_map(|commit| &commit.said.entries);
        let told = commits.iter().flat_map(|commit| &commit.said.history);
        Ok(Added { journal: lines(objects, entries)?, history: lines(objects, told)? })
    }
}

pub(crate) fn lines<T: Serialize>(
    objects: &Objects,
    each: impl Iterator<Item = T>,
) -> Result<Vec<String>, StoreError> {
    let lines = each.map(|line| serde_json::to_string(&line)).collect::<Result<_, _>>();
    lines.map_err(|error| objects.unavailable("write", Cause::new(error)))
}

/// A head that is to be written with all its commits in pieces.
pub(crate) struct Draft<'a> {
    pub(crate) head: Head,
    pub(crate) commits: &'a [Arc<Commit>],
    /// What the head comes to with its commits.
    pub(crate) contents: &'a mut Contents,
    pub(crate) merge: Merge,
}

/// Which runs of records are written anew.
#[derive(Clone, Copy)]
pub(crate) enum Merge {
    /// Those for which it is due, as long as they have no more bytes than this.
    UpTo(u64),
    /// All that are there.
    All,
}

/// Writes a head whose commits are all in pieces.
pub(crate) async fn flush(
    state: &mut ScopeState,
    objects: &Objects,
    draft: Draft<'_>,
) -> Result<Written, StoreError> {
    let Added { journal, history } = Added::by(objects, draft.commits)?;
    let journal = match extended(state, objects, &draft.head.journal, journal).await? {
        Ok(rewrite) => rewrite,
        Err(missing) => return state.fetch_after_missing(objects, &missing).await.map(|()| Written::Raced),
    };
    let history = match extended(state, objects, &draft.head.history, history).await? {
        Ok(rewrite) => rewrite,
        Err(missing) => return state.fetch_after_missing(objects, &missing).await.map(|()| Written::Raced),
    };
    write_pieces(state, objects, draft, [journal, history]).await
}

/// How lines come after a log: with the last pieces written anew, where that is due. Else the name of one that is missing.
async fn extended(
    state: &ScopeState,
    objects: &Objects,
    log: &[Piece],
    new: Vec<String>,
) -> Result<Result<Rewrite, String>, StoreError> {
    if new.is_empty() {
        return Ok(Ok(Rewrite { keep: log.len(), lines: new }));
    }
    let sizes: Vec<u64> = log.iter().map(|piece| piece.bytes).collect();
    let bytes: usize = new.iter().map(|line| line.len() + 1).sum();
    let keep = log.len() - taken_in(&sizes, bytes as u64, objects.limits().merge_bytes_max);
    let read = state.read_pieces(objects, &log[keep..]).await?;
    Ok(read.map(|texts| {
        let mut lines: Vec<String> = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
        lines.extend(new);
        Rewrite { keep, lines }
    }))
}

/// Writes the pieces of all three kinds, and then the head that names them.
pub(crate) async fn write_pieces(
    state: &mut ScopeState,
    objects: &Objects,
    draft: Draft<'_>,
    [journal, history]: [Rewrite; 2],
) -> Result<Written, StoreError> {
    let Draft { mut head, commits, contents, merge } = draft;
    let unwritable = |error: serde_json::Error| objects.unavailable("write", Cause::new(error));
    let before: Vec<String> = head.pieces().map(|piece| piece.name.clone()).collect();
    let said = || commits.iter().map(|commit| &commit.said);
    let mut named = contents.named(0, said());
    let mut records = contents.lines(&named, head.records.is_empty()).map_err(unwritable)?;
    let sizes = head.run_sizes();
    let bytes: usize = records.iter().map(|line| line.len() + 1).sum();
    let taken = match merge {
        Merge::UpTo(bytes_max) => taken_in(&sizes, bytes as u64, bytes_max),
        Merge::All => sizes.len(),
    };
    let kept = head.records.len() - taken;
    if taken > 0 {
        named = contents.named(taken, said());
        records = contents.lines(&named, kept == 0).map_err(unwritable)?;
    }

    let base = head.serial;
    let mut texts: Vec<(Piece, String)> = Vec::new();
    let mut made = |stream: &str, lines: Vec<String>| -> Vec<Piece> {
        let piece = |text: String| {
            let name = format!("{base:020}-{stream}-{}", objects.unique());
            let piece = Piece { name, bytes: text.len() as u64, sum: sum(&text) };
            texts.push((piece.clone(), text));
            piece
        };
        split(lines, objects.limits().piece_bytes_max).into_iter().map(piece).collect()
    };
    let run = made("records", records);
    head.records.truncate(kept);
    head.records.extend((!run.is_empty()).then(|| run.clone()));
    head.journal.truncate(journal.keep);
    head.journal.extend(made("journal", journal.lines));
    head.history.truncate(history.keep);
    head.history.extend(made("history", history.lines));
    head.flushed =
        Flushed { version: head.version, records: contents.count(), outputs: contents.has_outputs() };

    let garbage = objects.delete(std::mem::take(&mut state.garbage));
    let folder = state.pieces();
    let write = |(piece, text): &'_ (Piece, String)| -> BoxFuture<'_, _> {
        let path = folder.clone().join(piece.name.as_str());
        let text = text.clone();
        Box::pin(async move { objects.create(&path, &text).await })
    };
    join(many(texts.iter().map(write).collect()), garbage).await.0?;

    let after: Vec<String> = head.pieces().map(|piece| piece.name.clone()).collect();
    let written = state.write(objects, head, Vec::new()).await?;
    let unneeded: Vec<String> = match written {
        Written::Done => {
            contents.replace_runs(taken, run, named);
            before.into_iter().filter(|name| !after.contains(name)).collect()
        }
        Written::Raced => texts.into_iter().map(|(piece, _)| piece.name).collect(),
    };
    state.garbage.extend(unneeded.iter().map(|name| folder.clone().join(name.as_str())));
    Ok(written)
}

/// What is put off while somebody waits for commits. If it cannot be done now, another does it.
pub(crate) async fn tidy(state: &mut ScopeState, objects: &Objects) {
    if let Some((known, mut contents)) = state.known.as_ref().zip(state.contents.take()) {
        let (head, commits) = (known.head.clone(), known.commits.clone());
        if taken_in(&head.run_sizes(), 0, u64::MAX) > 0 {
            let contents = &mut contents;
            let draft = Draft { head, commits: &commits, contents, merge: Merge::UpTo(u64::MAX) };
            let flushed = flush(state, objects, draft).await;
            if !matches!(flushed, Ok(Written::Done)) {
                return;
            }
        }
        state.contents = Some(contents);
        state.catch_up();
    }
    let _ = sweep(state, objects).await;
}

/// Deletes the pieces that no head names and none ever will.
pub(crate) async fn sweep(state: &mut ScopeState, objects: &Objects) -> Result<(), StoreError> {
    let mut unneeded = std::mem::take(&mut state.garbage);
    let there = objects.list(&state.pieces()).await?;
    if let Some(known) = &state.known {
        let head = &known.head;
        let named: Vec<Path> = head.pieces().map(|piece| state.piece(&piece.name)).collect();
        let older = |path: &Path| {
            let base = path.filename().and_then(|name| name.split('-').next()?.parse::<u64>().ok());
            base.is_some_and(|base| base < head.serial)
        };
        unneeded.extend(there.into_iter().filter(|path| older(path) && !named.contains(path)));
    }
    objects.delete(unneeded).await;
    Ok(())
}
