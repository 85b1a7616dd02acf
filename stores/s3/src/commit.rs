//! Commits: checked against what is known, and written with the head, which refuses them where that has changed.

use std::sync::Arc;

use trueup_state::{Batch, Cause, FencingToken, StoreError, Version};

use crate::flush::{Draft, Merge, flush};
use crate::head::Commit;
use crate::objects::Objects;
use crate::scope::{RACES_MAX, ScopeState, Written};

pub(crate) async fn commit(
    state: &mut ScopeState,
    objects: &Objects,
    token: FencingToken,
    batch: &Batch,
) -> Result<Version, StoreError> {
    let mut fresh = state.known.is_none();
    for _ in 0..RACES_MAX {
        match judge(state, objects, token, batch).await {
            Ok(()) => {}
            // A refusal counts only on a head that was just read.
            Err(StoreError::Superseded | StoreError::Conflict { .. }) if !fresh => {
                state.fetch(objects).await?;
                fresh = true;
                continue;
            }
            Err(refused) => return Err(refused),
        }
        if let Some(version) = try_commit(state, objects, token, batch).await? {
            return Ok(version);
        }
        fresh = true;
    }
    Err(objects.unavailable("write", "others write it all the time"))
}

/// Whether the batch may be committed, by what is known.
async fn judge(
    state: &mut ScopeState,
    objects: &Objects,
    token: FencingToken,
    batch: &Batch,
) -> Result<(), StoreError> {
    loop {
        state.known(objects).await?.head.check_held(token)?;
        if let Some(contents) = &state.contents {
            return contents.check(&batch.writes);
        }
        // The head may be another afterwards.
        state.load(objects).await?;
    }
}

/// `None` if the head has changed.
async fn try_commit(
    state: &mut ScopeState,
    objects: &Objects,
    token: FencingToken,
    batch: &Batch,
) -> Result<Option<Version>, StoreError> {
    let known = state.known.as_ref().expect("it was judged by");
    let (mut head, mut commits) = (known.head.clone(), known.commits.clone());
    head.version += 1;
    let version = head.version;
    if let Some(configurations) = &batch.configurations {
        head.configurations = configurations.clone();
    }
    let commit = Commit::of(batch, version, token.0)
        .map_err(|error| objects.unavailable("write", Cause::new(error)))?;
    let commit = Arc::new(commit);
    commits.push(commit.clone());

    // Whatever happens from here on, also if nobody waits for it any more: contents that may be wrong are not kept.
    let mut contents = state.contents.take().expect("it was judged by");
    contents.apply(&commit.said);
    let limits = objects.limits();
    let bytes: usize = commits.iter().map(|commit| commit.line.len()).sum();
    let written = if bytes > limits.head_bytes_max {
        let merge = Merge::UpTo(limits.merge_bytes_max);
        let draft = Draft { head, commits: &commits, contents: &mut contents, merge };
        flush(state, objects, draft).await?
    } else {
        state.write(objects, head, commits).await?
    };
    if written == Written::Raced {
        return Ok(None);
    }
    state.contents = Some(contents);
    state.catch_up();
    Ok(Some(Version(version)))
}
