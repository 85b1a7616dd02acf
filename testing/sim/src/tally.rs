//! How often what happened, so that a run can say what it has tried, and a test that nothing is never tried.

use std::fmt;

/// Defines the ingredients with their words.
macro_rules! ingredients {
    ($($name:ident: $word:literal,)*) => {
        /// Something that can happen in a simulation.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Ingredient {
            $(#[doc = $word] $name,)*
        }

        impl Ingredient {
            /// All of them.
            pub const ALL: &[Ingredient] = &[$(Ingredient::$name,)*];

            /// What it is, in words.
            pub fn word(self) -> &'static str {
                match self {
                    $(Ingredient::$name => $word,)*
                }
            }
        }
    };
}

ingredients! {
    Deploy: "deploys",
    Adopt: "deploys that adopt",
    DeployBlindly: "deploys that do not look for drift",
    Target: "deploys of a target",
    Exclude: "deploys that leave something out",
    Replace: "replacements by request",
    Refresh: "refreshes",
    Destroy: "destroys",
    Upgrade: "upgrades of schema versions",
    Circular: "steps with a circle of bindings",
    StateLost: "losses of the state",
    Configured: "changes of the provider's configuration",
    Followed: "changes of the provider's configuration that a run learns late",
    Reused: "addresses used again after a move",
    Respelled: "names spelled differently",
    Collided: "names spelled as another resource's",
    Shared: "creates answered with an object that is there",
    ClockStep: "steps of the wall clock between runs",
    Rival: "second runners",
    TakenOver: "leases taken over",
    Unlock: "leases taken away",
    Cancel: "cancels",
    Suspend: "machines suspended",
    Kill: "kills",
    KilledBeforeWrite: "kills in a write that came to nothing",
    KilledAfterWrite: "kills in a write that was made and not acknowledged",
    Created: "objects created",
    Changed: "objects changed",
    Deleted: "objects deleted",
    Adopted: "objects adopted",
    Forgotten: "objects let go",
    Stub: "stubs asked for",
    Throttled: "requests throttled",
    Denied: "requests denied",
    Unavailable: "requests that found the service down",
    Slow: "slow requests",
    LostRequest: "lost requests",
    LostResponse: "lost responses",
    FailedAfter: "failures after the effect",
    Duplicate: "requests that arrived twice",
    Partial: "objects made half",
    Quota: "requests over the quota",
    Hang: "requests never answered",
    CommandAwaited: "waits for commands of killed processes",
    LateArrival: "requests that arrived after their sender was dead",
    InUse: "deletes refused because of a user",
    Taken: "names found taken",
    StaleRead: "stale reads",
    LateSight: "reads of new objects not yet visible",
    Ghost: "reads of deleted objects still visible",
    GhostFound: "deleted objects found by their names",
    WriteFailed: "failed writes of the store",
    FlushFailed: "failed flushes of the store",
    DiskFull: "writes to a full disk",
    WriteSlow: "slow writes of the store",
    DeedBetween: "changes by hand between runs",
    DeedDuring: "changes by hand during runs",
    HandDelete: "objects deleted by hand",
    HandChange: "objects changed by hand",
    HandSquat: "objects put in the way by hand",
    Person: "questions settled by a person",
    Hasty: "questions that a person settles at once",
}

impl Ingredient {
    /// Whether something goes wrong in cloud or store by it.
    pub(crate) fn is_fault(self) -> bool {
        (Ingredient::Throttled..=Ingredient::WriteSlow).contains(&self)
    }
}

/// How often each happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally([u64; Ingredient::ALL.len()]);

impl Default for Tally {
    fn default() -> Self {
        Tally([0; Ingredient::ALL.len()])
    }
}

impl Tally {
    /// How often something happened.
    pub fn of(&self, ingredient: Ingredient) -> u64 {
        self.0[ingredient as usize]
    }

    /// One more.
    pub(crate) fn count(&mut self, ingredient: Ingredient) {
        self.0[ingredient as usize] += 1;
    }

    /// Takes another in.
    pub fn add(&mut self, other: &Tally) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Ingredient::ALL.iter();
        lines.try_for_each(|it| writeln!(f, "{:>12} {}", self.of(*it), it.word()))
    }
}
