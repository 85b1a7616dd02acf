//! Leases: part of the head, so that one write decides who holds the lease and what is recorded.
//!
//! A lease has expired when it was not renewed for its whole term. How long that is can be known in two ways, neither of
//! which asks what time it is on the holder's machine: this handle saw the lease and has seen it unchanged since, on a
//! clock of its own that only goes forward; or the server wrote the head so long ago, by the server's own clock, which is
//! read off an object written for that purpose. The second is for runs that look once and do not wait.

use std::time::{Duration, SystemTime};

use trueup_state::rows::to_nanoseconds;
use trueup_state::{Acquired, FencingToken, HeldLease, Holder, Lease, StoreError};

use crate::flush;
use crate::head::{Head, HeadLease, time};
use crate::objects::Objects;
use crate::scope::{RACES_MAX, ScopeState, Seen, Written};

/// Servers tell times in whole seconds.
const SERVER_TIME_STEP: Duration = Duration::from_secs(1);

/// What to do with the head.
pub(crate) enum Decision<T> {
    /// Write this one; then this is the answer.
    Write(Box<Head>, T),
    /// This is the answer, if the head is still the one that is known.
    Answer(T),
}

/// Decides on the head that is known, and writes what comes of it. Decisions not to write count only on a head that was
/// just read.
pub(crate) async fn decide<T>(
    state: &mut ScopeState,
    objects: &Objects,
    decide: impl Fn(&Head) -> Decision<T>,
) -> Result<T, StoreError> {
    let mut fresh = state.known.is_none();
    for _ in 0..RACES_MAX {
        let known = state.known(objects).await?;
        match decide(&known.head) {
            Decision::Answer(answer) if fresh => return Ok(answer),
            Decision::Answer(_) => {
                state.fetch(objects).await?;
            }
            Decision::Write(head, answer) => {
                let commits = known.commits.clone();
                if state.write(objects, *head, commits).await? == Written::Done {
                    return Ok(answer);
                }
            }
        }
        fresh = true;
    }
    Err(objects.unavailable("write", "others write it all the time"))
}

pub(crate) async fn acquire(
    state: &mut ScopeState,
    objects: &Objects,
    holder: &Holder,
    term: Duration,
) -> Result<Acquired, StoreError> {
    for _ in 0..RACES_MAX {
        state.fetch(objects).await?;
        let now = objects.clock().now();
        if let Some(held) = held(state, objects, now).await?
            && now < held.expires
        {
            return Ok(Acquired::Held(held));
        }
        let known = state.known(objects).await?;
        let (mut head, commits) = (known.head.clone(), known.commits.clone());
        head.token += 1;
        let (holder, since, term_ms) = (holder.clone(), to_nanoseconds(now), milliseconds(term));
        head.lease = Some(HeadLease { holder, since, term_ms, beat: 0 });
        let token = FencingToken(head.token);
        if state.write(objects, head, commits).await? == Written::Done {
            return Ok(Acquired::Lease(Lease { token, term }));
        }
    }
    Err(objects.unavailable("write", "others write it all the time"))
}

/// The lease, if [`acquire`] would say that it is held.
pub(crate) async fn look(state: &mut ScopeState, objects: &Objects) -> Result<Option<HeldLease>, StoreError> {
    state.fetch(objects).await?;
    let now = objects.clock().now();
    Ok(held(state, objects, now).await?.filter(|held| now < held.expires))
}

pub(crate) async fn renew(
    state: &mut ScopeState,
    objects: &Objects,
    Lease { token, term }: &Lease,
) -> Result<(), StoreError> {
    let renewed = |head: &Head| match &head.lease {
        Some(lease) if head.token == token.0 => {
            let (term_ms, beat) = (milliseconds(*term), lease.beat + 1);
            let lease = Some(HeadLease { term_ms, beat, ..lease.clone() });
            Decision::Write(Box::new(Head { lease, ..head.clone() }), Ok(()))
        }
        _ => Decision::Answer(Err(StoreError::Superseded)),
    };
    decide(state, objects, renewed).await?
}

pub(crate) async fn release(
    state: &mut ScopeState,
    objects: &Objects,
    token: FencingToken,
) -> Result<(), StoreError> {
    let given_back = |head: &Head| match &head.lease {
        Some(_) if head.token == token.0 => {
            Decision::Write(Box::new(Head { lease: None, ..head.clone() }), true)
        }
        _ => Decision::Answer(false),
    };
    if decide(state, objects, given_back).await? {
        flush::tidy(state, objects).await;
    }
    Ok(())
}

pub(crate) async fn unlock(
    state: &mut ScopeState,
    objects: &Objects,
    run: &str,
) -> Result<Option<HeldLease>, StoreError> {
    state.fetch(objects).await?;
    let held = held(state, objects, objects.clock().now()).await?;
    let Some(held) = held.filter(|held| held.holder.run == run) else { return Ok(None) };
    let taken_away = |head: &Head| match &head.lease {
        Some(_) if head.token == held.token.0 => {
            Decision::Write(Box::new(Head { lease: None, ..head.clone() }), true)
        }
        _ => Decision::Answer(false),
    };
    Ok(decide(state, objects, taken_away).await?.then_some(held))
}

/// The lease of the known head, and when it expires by our clock.
async fn held(
    state: &mut ScopeState,
    objects: &Objects,
    now: SystemTime,
) -> Result<Option<HeldLease>, StoreError> {
    let head = &state.known(objects).await?.head;
    let Some(HeadLease { holder, since, .. }) = head.lease.clone() else { return Ok(None) };
    let (token, term) =
        (FencingToken(head.token), head.lease.as_ref().map_or(Duration::ZERO, HeadLease::term));
    let age = age(state, objects, now).await?;
    let left = term.saturating_sub(age);
    Ok(Some(HeldLease { holder, token, since: time(since), expires: after(now, left) }))
}

/// How long the lease of the known head was not renewed, at least.
async fn age(state: &mut ScopeState, objects: &Objects, now: SystemTime) -> Result<Duration, StoreError> {
    let Some(seen) = state.seen else { return Ok(Duration::ZERO) };
    let unchanged = now.duration_since(seen.at).unwrap_or_default();
    let modified = state.known.as_ref().and_then(|known| known.modified);
    let age = match (seen.age, modified) {
        (Some(age), _) => age,
        (None, Some(modified)) => {
            let server_time = objects.server_time(&state.folder.clone().join("clock")).await?;
            let age = server_time.duration_since(modified).unwrap_or_default();
            let age = age.saturating_sub(SERVER_TIME_STEP).saturating_sub(unchanged);
            state.seen = Some(Seen { age: Some(age), ..seen });
            age
        }
        (None, None) => Duration::ZERO,
    };
    Ok(unchanged + age)
}

/// The end of a term; one that ends later than can be said ends at the last time that can.
fn after(now: SystemTime, term: Duration) -> SystemTime {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    now.checked_add(term.min(CENTURY)).unwrap_or(now)
}

fn milliseconds(term: Duration) -> u64 {
    u64::try_from(term.as_millis()).unwrap_or(u64::MAX)
}
