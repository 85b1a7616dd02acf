//! Leases: one writer at a time for each stack and stage (STATE-3).

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// Who holds a lease, for the people who wait for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Holder {
    /// The run that holds it: names the holder to `unlock`.
    pub run: String,
    /// Who started it.
    pub user: String,
    /// Where it runs.
    pub host: String,
    /// What for, such as `deploy`.
    pub reason: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{} ({}, run {})", self.user, self.host, self.reason, self.run)
    }
}

/// A number that only grows: each new lease has a higher one, and a write with a lower one than the store has seen is
/// refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FencingToken(pub u64);

/// A lease that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// What every write carries.
    pub token: FencingToken,
    /// How long it lasts from when it was taken or renewed.
    pub term: Duration,
}

/// A lease that someone holds, as seen by others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeldLease {
    /// Who.
    pub holder: Holder,
    /// Its token.
    pub token: FencingToken,
    /// Since when, by the store's clock.
    pub since: SystemTime,
    /// Until when, by the store's clock, unless it is renewed.
    pub expires: SystemTime,
}

/// What the reason of a lease begins with that keeps everyone out for good, because the state is elsewhere now.
pub(crate) const MOVED_TO: &str = "moved to ";

/// No run lasts that long.
const FOR_GOOD: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

impl HeldLease {
    /// Where the state of the scope is now, if it is no longer in this store.
    pub fn moved_to(&self) -> Option<&str> {
        let lasts = self.expires.duration_since(self.since).unwrap_or_default();
        self.holder.reason.strip_prefix(MOVED_TO).filter(|_| lasts > FOR_GOOD)
    }
}

/// The outcome of asking for a lease.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acquired {
    /// It is ours now.
    Lease(Lease),
    /// Someone else has it.
    Held(HeldLease),
}
