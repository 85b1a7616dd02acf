//! A process that runs the engine. It passes points: each time it is polled, each request and answer of the cloud, each
//! step of a write. At any of them it can be killed, or something else can happen.
//!
//! A killed process is cut off first: whatever it asks of store or cloud from then on never gets an answer and has no
//! effect. Only then is its future dropped, so that no destructor can pass for something the process did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A process. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Process(Arc<Mutex<Inner>>, u64);

struct Inner {
    points: u64,
    cut: bool,
    /// What happens at which points.
    agenda: BTreeMap<u64, Vec<Incident>>,
    /// How long it sleeps, as soon as no request of it is under way: those would arrive while it sleeps.
    asleep: Duration,
    requests: usize,
    react: Arc<dyn Fn(&Incident) + Send + Sync>,
}

/// What happens to a process, or around it, when it has come to some point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incident {
    /// It is killed.
    Kill,
    /// Someone presses Ctrl-C.
    Cancel,
    /// Someone takes its lease away.
    Unlock,
    /// Its machine sleeps for so many seconds: nobody polls it, and its clock goes on.
    Suspend(u64),
    /// Someone changes the cloud by hand.
    Deed(crate::actor::Deed),
}

/// A run that passes more points than this goes round in circles.
pub(crate) const POINTS_MAX: u64 = 100_000;

impl Process {
    /// A process with this number, to which these things happen.
    pub(crate) fn new(
        number: u64,
        agenda: BTreeMap<u64, Vec<Incident>>,
        react: impl Fn(&Incident) + Send + Sync + 'static,
    ) -> Self {
        let asleep = Duration::ZERO;
        let inner = Inner { points: 0, cut: false, agenda, asleep, requests: 0, react: Arc::new(react) };
        Process(Arc::new(Mutex::new(inner)), number)
    }

    pub(crate) fn number(&self) -> u64 {
        self.1
    }

    /// How many points it has passed.
    pub(crate) fn points(&self) -> u64 {
        self.lock().points
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.lock().cut
    }

    /// Passes a point. Whether the process goes on from here.
    pub(crate) fn pass(&self) -> bool {
        let (due, react) = {
            let mut inner = self.lock();
            if inner.cut {
                return false;
            }
            let at = inner.points;
            inner.points += 1;
            (inner.agenda.remove(&at).unwrap_or_default(), inner.react.clone())
        };
        for incident in due {
            match incident {
                Incident::Kill => self.lock().cut = true,
                Incident::Suspend(seconds) => self.lock().asleep = Duration::from_secs(seconds),
                Incident::Cancel | Incident::Unlock | Incident::Deed(_) => {}
            }
            // Whoever reacts may look at the process again.
            react(&incident);
        }
        !self.is_cut() && self.points() < POINTS_MAX
    }

    /// Passes a point, and never comes back if the process ends here.
    pub(crate) async fn point(&self) {
        if !self.pass() {
            std::future::pending::<()>().await;
        }
    }

    /// How long its machine is to sleep now, if it is.
    pub(crate) fn falls_asleep(&self) -> Option<Duration> {
        let mut inner = self.lock();
        let asleep = (inner.requests == 0).then(|| std::mem::take(&mut inner.asleep));
        asleep.filter(|asleep| !asleep.is_zero())
    }

    /// A request of it is under way.
    pub(crate) fn sends(&self) {
        self.lock().requests += 1;
    }

    /// A request of it has come to its end.
    pub(crate) fn hears(&self) {
        self.lock().requests -= 1;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
