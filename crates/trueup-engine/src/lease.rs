//! The lease of a run: taken before it, renewed while it lasts, and watched by all that it does (STATE-3, STATE-4).
//!
//! The store is asked for a little longer than the run itself counts on. By the time a successor may begin, this run has
//! long stopped, also when the two clocks disagree a little.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::watch;
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
    /// under way is dropped, and its intents say so (STATE-3).
    pub(crate) async fn kept_during<T>(
        &self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        match select(pin!(work), pin!(self.keep())).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right((lost, _)) => Err(lost.into()),
        }
    }

    /// Renews the lease for as long as the run lasts. Ends only when it is lost: taken away, or not renewed in time.
    async fn keep(&self) -> StoreError {
        planted!(ForgetLease => std::future::pending::<()>().await);
        loop {
            self.clock.sleep(self.term / 3).await;
            if let Err(lost) = self.renew().await {
                return lost;
            }
        }
    }

    /// Renews it once, trying again while there is time: a store may be out of reach for a moment.
    async fn renew(&self) -> Result<(), StoreError> {
        loop {
            let asked = self.clock.now();
            let renewing = self.store.renew(&self.scope, &self.lease);
            let error = match select(renewing, self.clock.sleep(self.left())).await {
                Either::Left((Ok(()), _)) => {
                    self.renewed.send_replace(asked);
                    return Ok(());
                }
                Either::Left((Err(error), _)) => error,
                Either::Right(_) => StoreError::Unavailable {
                    attempted: "renew the lease of",
                    location: self.store.location(),
                    cause: "it did not answer in time".to_owned(),
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
