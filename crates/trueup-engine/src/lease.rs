//! The lease of a run: taken before it, renewed while it lasts, and watched by all that it does (STATE-3, STATE-4).
//!
//! The store is asked for a little longer than the run itself counts on. By the time a successor may begin, this run has
//! long stopped, also when the two clocks disagree a little.
//!
//! A process that was stopped, or whose machine was suspended, may wake up after the end of its lease. Then nothing of the
//! run goes on, no answer is taken in and no request sent, until the store says whose the lease is (STATE-18).

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::{Notify, watch};
use trueup_provider::Clock;
use trueup_state::{Acquired, HeldLease, Holder, Lease, Scope, Store, StoreError};

use crate::mutations::planted;
use crate::reconciler::EngineError;

/// How much longer than the run counts on the store keeps others away.
const GRACE: Duration = Duration::from_secs(5);

/// How often a waiting run asks again.
const POLL: Duration = Duration::from_secs(1);

/// How often it asks again where the store tells when a lease is given back: only expiry comes unannounced.
const POLL_EXPIRY: Duration = Duration::from_secs(10);

/// A lease that is held for a run.
pub(crate) struct RunLease {
    store: Arc<dyn Store>,
    scope: Scope,
    clock: Arc<dyn Clock>,
    term: Duration,
    pub(crate) lease: Lease,
    /// When it was last taken or renewed, by this run's clock, from before the store was asked.
    renewed: watch::Sender<SystemTime>,
    /// Asks for a renewal ahead of time.
    late: Notify,
    /// Wakes the work that is held back until the lease is renewed.
    held_back: Mutex<Option<Waker>>,
}

impl RunLease {
    /// Takes the lease. While someone else has it, waits, if that was asked for, and tells for whom.
    pub(crate) async fn take(
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        scope: &Scope,
        holder: &Holder,
        term: Duration,
        mut waiting: impl FnMut(&HeldLease) -> bool,
    ) -> Result<Self, EngineError> {
        loop {
            let asked = clock.now();
            match store.acquire(scope, holder, term + GRACE).await? {
                Acquired::Lease(lease) => {
                    let (store, scope, clock) = (store.clone(), scope.clone(), clock.clone());
                    return Ok(RunLease {
                        store,
                        scope,
                        clock,
                        term,
                        lease,
                        renewed: watch::Sender::new(asked),
                        late: Notify::new(),
                        held_back: Mutex::default(),
                    });
                }
                // Nobody gives that one back.
                Acquired::Held(held) if held.moved_to().is_some() || !waiting(&held) => {
                    return Err(EngineError::Held(Box::new(held)));
                }
                Acquired::Held(_) => match store.lease_freed(scope) {
                    None => clock.sleep(POLL).await,
                    Some(freed) => drop(select(clock.sleep(POLL_EXPIRY), freed).await),
                },
            }
        }
    }

    /// The outcome of some work, while the lease is renewed. If it is lost, another run may be at it already: what is
    /// under way is dropped, and its intents say so (STATE-3). Work that finds the lease past its end waits for a renewal.
    pub(crate) async fn kept_during<T>(
        &self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let mut work = pin!(work);
        let guarded = poll_fn(|task| {
            if self.left().is_zero() && !planted!(ForgetLease) {
                *self.held_back.lock().unwrap_or_else(PoisonError::into_inner) = Some(task.waker().clone());
                self.late.notify_one();
                return Poll::Pending;
            }
            work.as_mut().poll(task)
        });
        match select(pin!(guarded), pin!(self.keep())).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right((lost, _)) => Err(lost.into()),
        }
    }

    /// Renews the lease for as long as the run lasts. Ends only when it is lost: taken away, or not renewed in time.
    async fn keep(&self) -> StoreError {
        planted!(ForgetLease => std::future::pending::<()>().await);
        loop {
            drop(select(self.clock.sleep(self.term / 3), pin!(self.late.notified())).await);
            if let Err(lost) = self.renew().await {
                return lost;
            }
        }
    }

    /// Renews it once, trying again while there is time: a store may be out of reach for a moment.
    async fn renew(&self) -> Result<(), StoreError> {
        // Past the end of the lease nothing goes on meanwhile, so that the store has time for one answer.
        let mut patience = if self.left().is_zero() { self.term / 3 } else { Duration::ZERO };
        loop {
            let asked = self.clock.now();
            let renewing = self.store.renew(&self.scope, &self.lease);
            let patience = self.left().max(std::mem::take(&mut patience));
            let error = match select(renewing, self.clock.sleep(patience)).await {
                Either::Left((Ok(()), _)) => {
                    self.renewed.send_replace(asked);
                    let held_back = self.held_back.lock().unwrap_or_else(PoisonError::into_inner).take();
                    held_back.into_iter().for_each(Waker::wake);
                    return Ok(());
                }
                Either::Left((Err(error), _)) => error,
                Either::Right(_) => StoreError::Unavailable {
                    attempted: "renew the lease of",
                    location: self.store.location(),
                    cause: "it did not answer in time".into(),
                },
            };
            let out_of_reach = matches!(error, StoreError::Unavailable { .. });
            if !out_of_reach || self.left().is_zero() {
                return Err(error);
            }
            self.clock.sleep(self.left().min(self.term / 10)).await;
        }
    }

    /// Waits until a call may start: never with less than a third of the lease left.
    pub(crate) async fn ready(&self) {
        let mut renewed = self.renewed.subscribe();
        planted!(ForgetLease => return);
        while self.left() < self.term / 3 {
            if renewed.changed().await.is_err() {
                return;
            }
        }
    }

    /// Gives it back.
    pub(crate) async fn release(&self) -> Result<(), StoreError> {
        self.store.release(&self.scope, &self.lease).await
    }

    fn left(&self) -> Duration {
        let ends = *self.renewed.borrow() + self.term;
        ends.duration_since(self.clock.now()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::Notify;
    use trueup_provider::{BoxFuture, RuntimeClock};
    use trueup_state::MemoryStore;

    use super::*;

    const TERM: Duration = Duration::from_secs(60);

    /// A machine that can be suspended: time passes, and nothing that sleeps wakes up.
    struct SuspendableClock {
        awake: RuntimeClock,
        suspended: Mutex<Duration>,
    }

    impl SuspendableClock {
        fn suspend(&self, duration: Duration) {
            *self.suspended.lock().unwrap() += duration;
        }
    }

    impl Clock for SuspendableClock {
        fn now(&self) -> SystemTime {
            self.awake.now() + *self.suspended.lock().unwrap()
        }

        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
            self.awake.sleep(duration)
        }
    }

    fn holder(run: &str) -> Holder {
        let text = str::to_owned;
        Holder { run: text(run), user: text("ada"), host: text("here"), reason: text("deploy") }
    }

    /// A run whose machine is suspended for an hour while it waits for an answer. Meanwhile another takes the lease, or
    /// not. What the run comes to, and whether it went on with a lease that had ended.
    async fn suspended(taken_over: bool) -> (Result<(), EngineError>, bool) {
        let machine = Arc::new(SuspendableClock { awake: RuntimeClock::new(), suspended: Mutex::default() });
        let clock: Arc<dyn Clock> = machine.clone();
        let store: Arc<dyn Store> = Arc::new(MemoryStore::on_clock(clock.clone()));
        let scope = Scope::new("shop", "prod");
        let run = holder("run-1");
        let lease = RunLease::take(&store, &clock, &scope, &run, TERM, |_| false).await.unwrap();
        let (answer, too_late) = (Notify::new(), Mutex::new(false));
        let work = lease.kept_during(async {
            answer.notified().await;
            *too_late.lock().unwrap() = lease.left().is_zero();
            Ok(())
        });
        let outside = async {
            tokio::task::yield_now().await;
            machine.suspend(Duration::from_secs(3600));
            if taken_over {
                let taken = store.acquire(&scope, &holder("run-2"), TERM).await.unwrap();
                assert!(matches!(taken, Acquired::Lease(_)), "it has expired: {taken:?}");
            }
            answer.notify_one();
        };
        let (outcome, ()) = futures_util::future::join(work, outside).await;
        let too_late = *too_late.lock().unwrap();
        (outcome, too_late)
    }

    /// STATE-18
    #[tokio::test]
    async fn a_run_that_slept_through_its_lease_goes_on_after_a_renewal() {
        let (outcome, too_late) = suspended(false).await;
        assert!(outcome.is_ok(), "{outcome:?}");
        assert!(!too_late, "nothing goes on between the end of a lease and its renewal");
    }

    /// STATE-18
    #[tokio::test]
    async fn a_run_that_slept_through_its_lease_stops_if_another_has_it() {
        let (outcome, too_late) = suspended(true).await;
        assert!(matches!(outcome, Err(EngineError::Store(StoreError::Superseded))), "{outcome:?}");
        assert!(!too_late, "nothing goes on after the end of a lease");
    }
}
