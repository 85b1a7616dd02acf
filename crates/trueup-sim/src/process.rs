//! A process that runs the engine. It passes points: each time it is polled, each request and answer of the cloud, each
//! step of a write. At any of them it can be killed, or something else can happen.
//!
//! A killed process is cut off first: whatever it asks of store or cloud from then on never gets an answer and has no
//! effect. Only then is its future dropped, so that no destructor can pass for something the process did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A process. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Process(Arc<Mutex<Inner>>, u64);

struct Inner {
    points: u64,
    cut: bool,
    /// What happens at which points.
    agenda: BTreeMap<u64, Vec<Incident>>,
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
        let inner = Inner { points: 0, cut: false, agenda, react: Arc::new(react) };
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
            if incident == Incident::Kill {
                self.lock().cut = true;
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

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
