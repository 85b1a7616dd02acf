//! Leases. The lock file of a scope decides whether a lease is held (`life`), and time only where the lock says nothing.
//! The callers bring the time, so that the thread needs no clock.

use std::time::{Duration, SystemTime};

use rusqlite::{OptionalExtension, Transaction, params};
use trueup_core::read_json;
use trueup_state::{Acquired, FencingToken, HeldLease, Holder, Lease, Scope, StoreError};

use crate::columns::{Count, Time};
use crate::fault::Fault;
use crate::life::{Sign, SignsOfLife};
use crate::scope;

pub(crate) fn acquire(
    transaction: &Transaction<'_>,
    scope: &Scope,
    holder: &Holder,
    term: Duration,
    now: SystemTime,
    signs: &SignsOfLife,
) -> Result<Acquired, Fault> {
    let number = scope::number_or_new(transaction, scope)?;
    let lock = match held(transaction, scope)? {
        None => signs.take(number),
        // A store that was closed stays so, whoever lives.
        Some(held) if held.moved_to().is_some() => return Ok(Acquired::Held(held)),
        Some(held) => match signs.look(number) {
            Sign::Alive => return Ok(Acquired::Held(held)),
            Sign::Free(lock) if lock.proves_gone(&held, Some(holder)) => Some(lock.after(&held)),
            Sign::Free(_) | Sign::Unknown if now < held.expires => return Ok(Acquired::Held(held)),
            Sign::Free(lock) => Some(lock),
            Sign::Unknown => None,
        },
    };
    let holder = serde_json::to_string(holder).map_err(|error| Fault::System(error.into()))?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO leases (scope, token, holder, since, expires) VALUES (?1, 1, ?2, ?3, ?4)
         ON CONFLICT (scope) DO UPDATE SET
             token = token + 1, holder = excluded.holder, since = excluded.since, expires = excluded.expires
         RETURNING token",
    )?;
    let row = params![number, holder, Time(now), Time(after(now, term))];
    let Count(token) = insert.query_row(row, |row| row.get(0))?;
    if let Some(lock) = lock {
        signs.keep(number, lock, FencingToken(token));
    }
    Ok(Acquired::Lease(Lease { token: FencingToken(token), term }))
}

/// The lease, if [`acquire`] would say that it is held. In a transaction that keeps others from taking it.
pub(crate) fn look(
    transaction: &Transaction<'_>,
    scope: &Scope,
    now: SystemTime,
    signs: &SignsOfLife,
) -> Result<Option<HeldLease>, Fault> {
    let (Some(number), Some(held)) = (scope::number(transaction, scope)?, held(transaction, scope)?) else {
        return Ok(None);
    };
    let lasts = held.moved_to().is_some()
        || match signs.glance(number) {
            Sign::Alive => true,
            Sign::Free(lock) => now < held.expires && !lock.proves_gone(&held, None),
            Sign::Unknown => now < held.expires,
        };
    Ok(Some(held).filter(|_| lasts))
}

pub(crate) fn renew(
    transaction: &Transaction<'_>,
    scope: &Scope,
    lease: &Lease,
    now: SystemTime,
    signs: &SignsOfLife,
) -> Result<(), Fault> {
    let scope = check_held(transaction, scope, lease.token)?;
    signs.restore(scope, lease.token);
    let mut update = transaction.prepare_cached("UPDATE leases SET expires = ?2 WHERE scope = ?1")?;
    update.execute(params![scope, Time(after(now, lease.term))])?;
    Ok(())
}

/// The number of the scope, if its lease had a sign of life.
pub(crate) fn release(
    transaction: &Transaction<'_>,
    scope: &Scope,
    token: FencingToken,
    signs: &SignsOfLife,
) -> Result<Option<i64>, Fault> {
    let number = scope::number(transaction, scope)?.filter(|number| signs.give_up(*number, token));
    if held(transaction, scope)?.is_some_and(|held| held.token == token) {
        give_back(transaction, scope)?;
    }
    Ok(number)
}

pub(crate) fn unlock(
    transaction: &Transaction<'_>,
    scope: &Scope,
    run: &str,
) -> Result<Option<HeldLease>, Fault> {
    let held = held(transaction, scope)?.filter(|held| held.holder.run == run);
    if held.is_some() {
        give_back(transaction, scope)?;
    }
    Ok(held)
}

/// The number of a scope whose lease has this token. Whether it has expired does not matter as long as nobody took it.
pub(crate) fn check_held(
    transaction: &Transaction<'_>,
    scope: &Scope,
    token: FencingToken,
) -> Result<i64, Fault> {
    let mut query = transaction.prepare_cached(
        "SELECT scopes.id, token FROM scopes JOIN leases ON leases.scope = scopes.id
         WHERE stack = ?1 AND stage = ?2 AND holder IS NOT NULL",
    )?;
    let names = params![scope.stack.as_str(), scope.stage.as_str()];
    let held = query.query_row(names, |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    match held {
        Some((scope, Count(held))) if held == token.0 => Ok(scope),
        _ => Err(StoreError::Superseded.into()),
    }
}

/// The lease as it is recorded, whoever lives.
pub(crate) fn held(transaction: &Transaction<'_>, scope: &Scope) -> Result<Option<HeldLease>, Fault> {
    let mut query = transaction.prepare_cached(
        "SELECT holder, token, since, expires FROM scopes JOIN leases ON leases.scope = scopes.id
         WHERE stack = ?1 AND stage = ?2 AND holder IS NOT NULL",
    )?;
    let names = params![scope.stack.as_str(), scope.stage.as_str()];
    let row = query.query_row(names, |row| {
        Ok((row.get::<_, String>("holder")?, row.get("token")?, row.get("since")?, row.get("expires")?))
    });
    let Some((holder, Count(token), Time(since), Time(expires))) = row.optional()? else { return Ok(None) };
    let holder = read_json(&holder).map_err(|error| Fault::unreadable("the holder of a lease", error))?;
    Ok(Some(HeldLease { holder, token: FencingToken(token), since, expires }))
}

/// Leaves the row, for its token.
fn give_back(transaction: &Transaction<'_>, scope: &Scope) -> Result<(), Fault> {
    let scope = scope::number_or_new(transaction, scope)?;
    transaction.prepare_cached("UPDATE leases SET holder = NULL WHERE scope = ?1")?.execute([scope])?;
    Ok(())
}

/// The end of a term; one that ends later than can be said ends at the last time that can.
fn after(now: SystemTime, term: Duration) -> SystemTime {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    now.checked_add(term.min(CENTURY)).unwrap_or(now)
}
