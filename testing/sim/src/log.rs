//! The one log of all that happens in a simulation: in the cloud, in the store, to processes. Invariants are judged by it
//! alone, never by what the engine says of itself; a trace is the log in words.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trueup_engine::Plan;
use trueup_state::{FencingToken, Step, Write};

use crate::clock::SimClock;
use crate::cloud::{Asking, Caller, Effect, ObjectId, Who};
use crate::invariants::{Violation, Watch};
use crate::tally::{Ingredient, Tally};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// A process began.
    Began { process: u64, what: String, orders: Orders },
    /// A plan was approved by whoever started the process; these addresses are protected, those retained.
    Approved { process: u64, plan: Box<Plan>, protected: Vec<String>, retained: Vec<String> },
    /// Someone pressed Ctrl-C.
    Cancelled { process: u64 },
    /// A process was killed.
    Killed { process: u64 },
    /// A process ended by itself.
    Ended { process: u64, how: String },
    /// A change was asked of the cloud.
    Asked { caller: Caller, asking: Asking, what: String, object: Option<ObjectId>, uses: Vec<ObjectId> },
    /// The cloud refused or lost something.
    Refused { caller: Caller, what: String },
    /// The cloud told someone that an object is not, or no longer, there.
    ToldGone { object: ObjectId },
    /// Something changed in the cloud.
    Effect { who: Who, object: ObjectId, effect: Effect },
    /// A lease was given out or renewed, until then.
    Leased { process: u64, token: FencingToken, until: Duration },
    /// A lease was taken away or given back.
    Unleased { token: FencingToken },
    /// Writes became durable. The sequence numbers commits.
    Committed { process: u64, token: FencingToken, sequence: u64, writes: Vec<Write>, lines: Vec<String> },
    /// The writer was told so.
    Acknowledged { sequence: u64 },
    /// All records are lost.
    StateLost,
    /// Anything else, for people.
    Note(String),
}

/// What a process was told when it was started.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Orders {
    /// How many operations run at a time.
    pub(crate) parallelism: u64,
    /// Whether it changes state by hand, and so has no plan.
    pub(crate) by_hand: bool,
    /// Whether it may take over what is someone else's.
    pub(crate) adopts: bool,
}

/// The log. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Log(Arc<Mutex<Inner>>);

struct Inner {
    clock: SimClock,
    watch: Watch,
    violation: Option<Violation>,
    tally: Tally,
    lines: Option<Vec<(Duration, String)>>,
}

impl Log {
    pub(crate) fn new(clock: SimClock, traced: bool) -> Self {
        let lines = traced.then(Vec::new);
        let (watch, violation, tally) = (Watch::default(), None, Tally::default());
        Log(Arc::new(Mutex::new(Inner { clock, watch, violation, tally, lines })))
    }

    /// Notes what happened, and judges it.
    #[expect(clippy::needless_pass_by_value, reason = "whoever tells has no more use for it")]
    pub(crate) fn push(&self, happened: Happened) {
        let mut inner = self.lock();
        let at = inner.clock.elapsed();
        if let Some(lines) = &mut inner.lines {
            lines.push((at, crate::trace::told(&happened)));
        }
        counted(&happened).into_iter().for_each(|it| inner.tally.count(it));
        if let Err(violation) = inner.watch.see(at, &happened) {
            inner.violate(violation);
        }
    }

    /// Notes something for people.
    pub(crate) fn note(&self, text: impl FnOnce() -> String) {
        if self.lock().lines.is_some() {
            self.push(Happened::Note(text()));
        }
    }

    /// Counts something.
    pub(crate) fn count(&self, ingredient: Ingredient) {
        self.lock().tally.count(ingredient);
    }

    /// How often what happened.
    pub(crate) fn tally(&self) -> Tally {
        self.lock().tally.clone()
    }

    /// Judges something that is no single event.
    pub(crate) fn judge(&self, judge: impl FnOnce(&Watch) -> Result<(), Violation>) {
        let mut inner = self.lock();
        if let Err(violation) = judge(&inner.watch) {
            inner.violate(violation);
        }
    }

    /// What the log says about the world.
    pub(crate) fn ask<T>(&self, ask: impl FnOnce(&Watch) -> T) -> T {
        ask(&self.lock().watch)
    }

    /// The first thing that was wrong.
    pub(crate) fn violation(&self) -> Option<Violation> {
        self.lock().violation.clone()
    }

    /// The log in words.
    pub(crate) fn lines(&self) -> Vec<(Duration, String)> {
        self.lock().lines.clone().unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn violate(&mut self, violation: Violation) {
        let at = self.clock.elapsed();
        if let Some(lines) = &mut self.lines {
            lines.push((at, format!("VIOLATED {violation}")));
        }
        self.violation.get_or_insert(violation);
    }
}

/// What an event counts as. What leaves no event is counted where it happens.
fn counted(happened: &Happened) -> Vec<Ingredient> {
    match happened {
        Happened::Cancelled { .. } => vec![Ingredient::Cancel],
        Happened::Killed { .. } => vec![Ingredient::Kill],
        Happened::StateLost => vec![Ingredient::StateLost],
        Happened::Effect { who: Who::Engine(_), effect, .. } => vec![match effect {
            Effect::Created { .. } => Ingredient::Created,
            Effect::Changed { .. } => Ingredient::Changed,
            Effect::Deleted => Ingredient::Deleted,
        }],
        Happened::Effect { who: Who::Hand, effect, .. } => vec![match effect {
            Effect::Created { .. } => Ingredient::HandSquat,
            Effect::Changed { .. } => Ingredient::HandChange,
            Effect::Deleted => Ingredient::HandDelete,
        }],
        Happened::Committed { writes, .. } => {
            let counted = writes.iter().filter_map(|write| match write.entry.step {
                Step::Adopted { .. } => Some(Ingredient::Adopted),
                Step::Dropped { .. } => Some(Ingredient::Forgotten),
                _ => None,
            });
            counted.collect()
        }
        _ => Vec::new(),
    }
}
