//! Ephemeral resources that are open: renewed while work goes on that may need them, closed at its end.
//!
//! Planning and carrying out open what they need each for itself, so that nothing stays open while someone thinks about a
//! plan, and no value of one ever meets a value of the other. If the work is dropped half-way, so is this, and what was
//! open is left to the end of its provider.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::Notify;
use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{Clock, HeldOpen, Opened};

use crate::call::caught;

/// How long before its time something is renewed at most; at least a tenth of its time.
const MARGIN_MAX: Duration = Duration::from_secs(30);

/// How long renewing or closing one may take at most, if the timeout of a run is longer: until then no other is renewed or
/// closed.
const CALL_MAX: Duration = Duration::from_secs(60);

/// The ephemeral resources that are open.
pub(crate) struct Ephemerals {
    clock: Arc<dyn Clock>,
    /// How long renewing or closing one may take.
    timeout: Duration,
    /// In the order in which they were opened.
    open: Mutex<Vec<Arc<tokio::sync::Mutex<Open>>>>,
    /// One was opened.
    more: Notify,
}

struct Open {
    address: Address,
    held: Box<dyn HeldOpen>,
    /// When to renew it; never, if there is no such time.
    due: Option<SystemTime>,
    /// Why it could not be renewed.
    failure: Option<Failure>,
}

impl Ephemerals {
    /// None yet, in a run with this timeout.
    pub(crate) fn new(clock: Arc<dyn Clock>, timeout: Duration) -> Self {
        Ephemerals { clock, timeout: timeout.min(CALL_MAX), open: Mutex::default(), more: Notify::new() }
    }

    /// Keeps what was opened, and gives what it gives.
    pub(crate) fn hold(&self, address: &Address, opened: Opened) -> Value {
        let Opened { outputs, renew_at, held } = opened;
        let due = renew_at.map(|at| self.due(at));
        let open = Open { address: address.clone(), held, due, failure: None };
        self.all().push(Arc::new(tokio::sync::Mutex::new(open)));
        self.more.notify_one();
        outputs
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Arc<tokio::sync::Mutex<Open>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When to renew what must be renewed by some time.
    fn due(&self, renew_at: SystemTime) -> SystemTime {
        let left = renew_at.duration_since(self.clock.now()).unwrap_or_default();
        renew_at.checked_sub((left / 10).min(MARGIN_MAX)).unwrap_or(renew_at)
    }

    /// The outcome of some work, while all that is open is renewed.
    pub(crate) async fn kept_during<T>(&self, work: impl Future<Output = T>) -> T {
        match select(pin!(work), pin!(self.keep())).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right((never, _)) => match never {},
        }
    }

    async fn keep(&self) -> std::convert::Infallible {
        loop {
            let more = self.more.notified();
            let open: Vec<_> = self.all().clone();
            let mut first: Option<(SystemTime, Arc<tokio::sync::Mutex<Open>>)> = None;
            for entry in open {
                let due = entry.lock().await.due;
                if let Some(due) = due.filter(|due| first.as_ref().is_none_or(|(first, _)| due < first)) {
                    first = Some((due, entry));
                }
            }
            let Some((due, entry)) = first else {
                more.await;
                continue;
            };
            let wait = due.duration_since(self.clock.now()).unwrap_or_default();
            if let Either::Left(_) = select(self.clock.sleep(wait), pin!(more)).await {
                self.renew(&mut *entry.lock().await).await;
            }
        }
    }

    async fn renew(&self, open: &mut Open) {
        open.due = None;
        match self.in_time("renewed", open.held.renew()).await {
            Ok(renew_at) => open.due = renew_at.map(|at| self.due(at)),
            Err(failure) => open.failure = Some(failure),
        }
    }

    /// Closes all, the last opened first; which could not be renewed or closed, and why.
    pub(crate) async fn close_all(&self) -> Vec<(Address, Failure)> {
        let open = std::mem::take(&mut *self.all());
        let mut failed = Vec::new();
        // Nobody renews any more, so each is held here alone.
        for open in open.into_iter().rev().filter_map(Arc::into_inner) {
            let Open { address, held, failure, .. } = open.into_inner();
            failed.extend(failure.map(|failure| (address.clone(), failure)));
            let closed = self.in_time("closed", held.close()).await;
            failed.extend(closed.err().map(|failure| (address, failure)));
        }
        failed
    }

    /// The outcome of a call, unless it takes too long or panics.
    async fn in_time<T>(
        &self,
        done: &str,
        call: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match select(pin!(caught(call)), self.clock.sleep(self.timeout)).await {
            Either::Left((outcome, _)) => outcome?,
            Either::Right(_) => {
                let message = format!("it was not {done} within {} s", self.timeout.as_secs());
                Err(Failure::new(FailureClass::Indeterminate, message))
            }
        }
    }
}
