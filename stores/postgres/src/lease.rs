//! Leases. Each call is one statement, decided by the server's clock, so that the clocks of clients do not matter.

use std::time::{Duration, SystemTime};

use tokio_postgres::Row;
use trueup_core::read_json;
use trueup_state::rows::from_nanoseconds;
use trueup_state::{Acquired, FencingToken, HeldLease, Holder, Lease, Scope, StoreError};

use crate::fault::Fault;
use crate::link::Try;
use crate::session::Session;

/// The channel on which it is told that a lease was given back; the message is the schema and the scope.
pub(crate) const CHANNEL: &str = "trueup_lease_freed";

const TAKE: &str = "
    UPDATE scopes SET
        token = token + 1, held = true, run = $3, holder = $4, since = now.at, expires = now.at + $5, claim = $6
    FROM (SELECT store_clock() AS at) AS now
    WHERE stack = $1 AND stage = $2 AND (NOT held OR expires <= now.at)
    RETURNING token";

const LOOK: &str = "
    SELECT held, run, holder, token, since, expires, claim FROM scopes WHERE stack = $1 AND stage = $2";

const HELD: &str = "
    SELECT holder, token, since, expires FROM scopes
    WHERE stack = $1 AND stage = $2 AND held AND store_clock() < expires";

const ADD_SCOPE: &str = "INSERT INTO scopes (stack, stage) VALUES ($1, $2) ON CONFLICT DO NOTHING";

const RENEW: &str = "
    UPDATE scopes SET expires = store_clock() + $4 WHERE stack = $1 AND stage = $2 AND held AND token = $3";

const RELEASE: &str = "
    WITH freed AS (
        UPDATE scopes SET held = false WHERE stack = $1 AND stage = $2 AND held AND token = $3 RETURNING id
    ) SELECT pg_notify('trueup_lease_freed', current_schema() || ' ' || id) FROM freed";

const UNLOCK: &str = "
    WITH freed AS (
        UPDATE scopes SET held = false WHERE stack = $1 AND stage = $2 AND held AND run = $3
        RETURNING id, holder, token, since, expires
    ) SELECT holder, token, since, expires,
             pg_notify('trueup_lease_freed', current_schema() || ' ' || id)::text FROM freed";

const IS_HELD: &str = "
    SELECT current_schema() || ' ' || id, held AND store_clock() < expires FROM scopes
    WHERE stack = $1 AND stage = $2";

/// Takes the lease if it is free. The claim tells this call from all others, so that a lease that was taken when the
/// connection was lost is known as ours when the call is made again.
pub(crate) async fn acquire(
    session: &Session,
    scope: &Scope,
    holder: &Holder,
    term: Duration,
    claim: &str,
) -> Result<Acquired, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let text = serde_json::to_string(holder)?;
    let ours = |token: i64| Acquired::Lease(Lease { token: FencingToken(token.cast_unsigned()), term });
    loop {
        let taken =
            session.query(TAKE, &[&stack, &stage, &holder.run, &text, &nanoseconds(term), &claim]).await?;
        if let Some(row) = taken.first() {
            return Ok(ours(row.try_get("token")?));
        }
        let found = session.query(LOOK, &[&stack, &stage]).await?;
        let Some(row) = found.first() else {
            session.execute(ADD_SCOPE, &[&stack, &stage]).await?;
            continue;
        };
        // If it was given back between the two, it is there to be taken.
        if row.try_get("held")? {
            let by_us = row.try_get::<_, &str>("claim")? == claim;
            return Ok(if by_us { ours(row.try_get("token")?) } else { Acquired::Held(held(row)?) });
        }
    }
}

pub(crate) async fn renew(session: &Session, scope: &Scope, lease: &Lease) -> Result<(), Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let token = lease.token.0.cast_signed();
    match session.execute(RENEW, &[&stack, &stage, &token, &nanoseconds(lease.term)]).await? {
        0 => Err(StoreError::Superseded.into()),
        _ => Ok(()),
    }
}

pub(crate) async fn release(session: &Session, scope: &Scope, lease: &Lease) -> Result<(), Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    session.query(RELEASE, &[&stack, &stage, &lease.token.0.cast_signed()]).await?;
    Ok(())
}

/// Takes a lease away. If the call is made again and the lease of that run is no longer held, it was this call that took
/// it, or its holder gave it back at that moment: it is gone in either case.
pub(crate) async fn unlock(
    session: &Session,
    scope: &Scope,
    run: &str,
    attempt: Try,
) -> Result<Option<HeldLease>, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let mut rows = session.query(UNLOCK, &[&stack, &stage, &run]).await?;
    if rows.is_empty() && attempt == Try::Again {
        rows = session.query(LOOK, &[&stack, &stage]).await?;
        rows.retain(|row| {
            row.try_get("run").is_ok_and(|of: &str| of == run)
                && row.try_get("held").is_ok_and(|held: bool| !held)
        });
    }
    rows.first().map(held).transpose()
}

/// The lease, if it is held and has not expired.
pub(crate) async fn look(session: &Session, scope: &Scope) -> Result<Option<HeldLease>, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let found = session.query(HELD, &[&stack, &stage]).await?;
    found.first().map(held).transpose()
}

/// How the channel names the scope, and whether its lease is held and has not expired.
pub(crate) async fn is_held(session: &Session, scope: &Scope) -> Result<Option<(String, bool)>, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let found = session.query(IS_HELD, &[&stack, &stage]).await?;
    found.first().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).transpose()
}

fn held(row: &Row) -> Result<HeldLease, Fault> {
    let holder = read_json(row.try_get("holder")?);
    let holder = holder.map_err(|error| Fault::unreadable("the holder of a lease", error))?;
    let token: i64 = row.try_get("token")?;
    let (since, expires) = (time(row.try_get("since")?)?, time(row.try_get("expires")?)?);
    Ok(HeldLease { holder, token: FencingToken(token.cast_unsigned()), since, expires })
}

fn time(nanoseconds: i64) -> Result<SystemTime, Fault> {
    from_nanoseconds(nanoseconds).ok_or_else(|| Fault::Garbled("a lease has an impossible time".into()))
}

/// A term as a number; one that lasts longer than can be said lasts a century.
fn nanoseconds(term: Duration) -> i64 {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    i64::try_from(term.min(CENTURY).as_nanos()).unwrap_or(i64::MAX)
}
