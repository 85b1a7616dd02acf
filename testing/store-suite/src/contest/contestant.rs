//! A contestant: takes a lease, raises the number a few times, gives the lease back, and so on until it is killed.

use std::io::Write as _;
use std::time::Duration;

use futures_util::future::select;
use trueup_provider::{Clock, RuntimeClock};
use trueup_state::{Acquired, Cause, Holder, Lease, Store, StoreError};
use trueup_test_servers::environment::text_variable;

use super::chance::Chance;
use super::count::{Known, scopes};
use super::report::Report;

/// The variables by which the referee tells a process that it is a contestant: where the store is, and its own name.
pub(crate) const PLACE: &str = "TRUEUP_CONTEST_PLACE";
pub(crate) const NAME: &str = "TRUEUP_CONTEST_NAME";

/// How long leases last.
pub(crate) const TERM: Duration = Duration::from_secs(1);

/// How often a contestant asks again for a lease that another has, if it is not told.
const POLL: Duration = Duration::from_millis(20);

/// How many commits are made under one lease at most.
const COMMITS_MAX: usize = 12;

/// Where the store is, if this process is a contestant.
pub fn place() -> Option<String> {
    text_variable(PLACE)
}

/// Contends for a store until the process is killed or nobody listens any more.
pub async fn contend(store: &dyn Store) {
    let name = text_variable(NAME).unwrap_or_default();
    let clock = RuntimeClock::new();
    let seed = name.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    let mut chance = Chance::new(seed);
    loop {
        let at = chance.below(scopes().len());
        let ended = match turn(store, at, &name, &mut chance, &clock).await {
            Ok(()) => Ok(()),
            Err(StoreError::Unavailable { cause, .. }) => {
                clock.sleep(POLL).await;
                tell(&Report::Trouble(cause.to_string()))
            }
            Err(error) => tell(&Report::Broken(error.to_string())),
        };
        if ended.is_err() {
            return;
        }
    }
}

/// Takes a lease, if it is free, and raises the number a few times.
async fn turn(
    store: &dyn Store,
    at: usize,
    name: &str,
    chance: &mut Chance,
    clock: &RuntimeClock,
) -> Result<(), StoreError> {
    let scope = &scopes()[at];
    let text = str::to_owned;
    let holder = Holder { run: text(name), user: text(name), host: text("here"), reason: text("contest") };
    let lease = match store.acquire(scope, &holder, TERM).await? {
        Acquired::Lease(lease) => lease,
        Acquired::Held(_) => {
            match store.lease_freed(scope) {
                Some(freed) => drop(select(freed, clock.sleep(POLL)).await),
                None => clock.sleep(POLL).await,
            }
            return Ok(());
        }
    };
    let token = lease.token.0;
    let told = tell(&Report::Took { scope: at, token });
    let commits = 1 + chance.below(COMMITS_MAX);
    match raise(store, at, &lease, name, commits).await {
        Err(StoreError::Superseded) => drop(tell(&Report::Superseded { scope: at, token })),
        outcome => {
            outcome?;
            store.release(scope, &lease).await?;
        }
    }
    told.map_err(|error| StoreError::Damaged { location: text("the referee"), what: Cause::new(error) })
}

async fn raise(
    store: &dyn Store,
    at: usize,
    lease: &Lease,
    name: &str,
    commits: usize,
) -> Result<(), StoreError> {
    let (scope, token) = (&scopes()[at], lease.token);
    let broken = |what: String| StoreError::Damaged { location: store.location(), what: what.into() };
    let mut known = Known::loaded(&store.load(scope).await?).map_err(broken)?;
    for turn in 0..commits {
        if turn % 3 == 2 {
            store.renew(scope, lease).await?;
        }
        let batch = known.raise(token.0, name);
        let version = store.commit(scope, token, &batch).await?;
        known.committed(batch, version);
        // A referee that is gone is noticed at the end of the turn.
        let _ = tell(&Report::Committed { scope: at, token: token.0, number: known.number() });
    }
    Ok(())
}

/// Tells the referee; fails when it is gone.
fn tell(report: &Report) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{report}")?;
    output.flush()
}
