//! Calls to a type's methods: retries, timeouts, cancellation and panics.
//!
//! Terraform neither retries nor times out. Types expect what trueup's engine does: it retries pending, throttled and
//! retryable failures (RETRY-1) and bounds each call (APPLY-13).

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::FutureExt;
use futures_util::future::{Either, select};
use tokio_util::sync::CancellationToken;
use trueup_core::schema::Block;
use trueup_core::{Address, Diagnostic, Failure, FailureClass, KnownSecrets};
use trueup_provider::{
    ApplyFailure, CallContext, Clock, ProgressSink, ProviderPanic, RuntimeClock, Traits, WarningSink,
};

use crate::diagnostics::{self, Messages};

/// The timeout of an operation, retries included. The engine has the same default.
const TIME_MAX: Duration = Duration::from_secs(20 * 60);

/// Makes calls.
pub(crate) struct Calls {
    clock: Arc<dyn Clock>,
    /// Cancelled by `StopProvider` and `Shutdown`.
    stop: CancellationToken,
    provider: String,
    secrets: KnownSecrets,
}

/// One request: the context of its calls, and their warnings.
pub(crate) struct Session {
    pub(crate) context: CallContext,
    warnings: Arc<Mutex<Vec<Diagnostic>>>,
}

impl Session {
    /// Takes the warnings reported so far.
    pub(crate) fn warnings(&self) -> Vec<Diagnostic> {
        std::mem::take(&mut *self.warnings.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Session {
    /// Makes one call, without retries.
    pub(crate) async fn once<T, F: Future<Output = Result<T, ApplyFailure>>>(
        &self,
        call: impl FnOnce(CallContext) -> F,
    ) -> Result<T, ApplyFailure> {
        caught(call(self.context.clone())).await?
    }
}

impl Calls {
    pub(crate) fn new(provider: &str, secrets: KnownSecrets) -> Self {
        let (clock, stop) = (Arc::new(RuntimeClock::new()), CancellationToken::new());
        Calls { clock, stop, provider: provider.to_owned(), secrets }
    }

    /// Cancels calls in flight and ends all waits.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Starts a session for an object. Terraform sends no address, so the object's own name stands in.
    pub(crate) fn session(&self, type_name: &str, name: &str) -> Result<Session, Failure> {
        let address = Address::resource(type_name, name)
            .map_err(|error| Failure::new(FailureClass::Fatal, error.to_string()))?;
        let mut context = CallContext::new(self.provider.as_str(), "terraform", address);
        let warnings: Arc<Mutex<Vec<Diagnostic>>> = Arc::default();
        let heard = warnings.clone();
        context.warnings = WarningSink::new(move |warning| {
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
        });
        let kind = type_name.to_owned();
        context.progress = ProgressSink::new(move |doing| crate::log::info(&kind, doing));
        context.cancellation = self.stop.child_token();
        context.clock = self.clock.clone();
        context.secrets = self.secrets.clone();
        Ok(Session { context, warnings })
    }

    /// Calls until the call succeeds or its failure is final. After a *pending* failure, the next call gets its context
    /// (RETRY-4).
    pub(crate) async fn repeated<T, F: Future<Output = Result<T, ApplyFailure>>>(
        &self,
        session: &Session,
        traits: &Traits,
        call: impl Fn(CallContext) -> F,
    ) -> Result<T, ApplyFailure> {
        let began = self.clock.now();
        let mut context = session.context.clone();
        let mut made = 0;
        loop {
            made += 1;
            let failed = match self.in_time(began, call(context.clone())).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let policy = traits.retry.policy();
            let (wait, pending) = match &failed.failure.class {
                FailureClass::Pending { delay, context } => {
                    (delay.unwrap_or(policy.backoff), Some(context.clone()))
                }
                FailureClass::Retryable | FailureClass::Throttled { .. } if made >= policy.attempts_max => {
                    return Err(after(failed, made));
                }
                FailureClass::Throttled { delay: Some(delay) } => (*delay, None),
                FailureClass::Retryable | FailureClass::Throttled { .. } => {
                    (policy.backoff.saturating_mul(1 << (made - 1).min(16)).min(policy.backoff_max), None)
                }
                _ => return Err(after(failed, made)),
            };
            if wait > self.left(began) {
                return Err(after(failed, made));
            }
            if !self.waited(wait).await {
                return Err(interrupted(failed));
            }
            if pending.is_some() {
                context.pending = pending;
            }
        }
    }

    /// Waits, unless cancelled. Returns whether the wait completed.
    pub(crate) async fn waited(&self, wait: Duration) -> bool {
        if self.stop.is_cancelled() {
            return false;
        }
        let stopped = std::pin::pin!(self.stop.cancelled());
        matches!(select(stopped, self.clock.sleep(wait)).await, Either::Right(_))
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    pub(crate) fn elapsed(&self, since: SystemTime) -> Duration {
        self.clock.now().duration_since(since).unwrap_or_default()
    }

    fn left(&self, began: SystemTime) -> Duration {
        TIME_MAX.saturating_sub(self.elapsed(began))
    }

    async fn in_time<T>(
        &self,
        began: SystemTime,
        call: impl Future<Output = Result<T, ApplyFailure>>,
    ) -> Result<T, ApplyFailure> {
        let call = std::pin::pin!(caught(call));
        match select(call, self.clock.sleep(self.left(began))).await {
            Either::Left((outcome, _)) => outcome?,
            Either::Right(_) => {
                let message = format!("no answer within {} minutes", TIME_MAX.as_secs() / 60);
                Err(Failure::new(FailureClass::Indeterminate, message).into())
            }
        }
    }
}

/// Answers a request. A panic becomes an error of the request.
pub(crate) async fn guarded<T>(answer: impl Future<Output = Result<T, Messages>>) -> Result<T, Messages> {
    let outcome = caught(answer).await;
    outcome
        .unwrap_or_else(|panic| Err(diagnostics::failure("the provider failed", &panic, &Block::default())))
}

/// Turns a panic into a failure. Its text is dropped: it may hold secrets (SECRET-5).
pub(crate) async fn caught<T>(call: impl Future<Output = T>) -> Result<T, Failure> {
    AssertUnwindSafe(call).catch_unwind().await.map_err(|panic| match panic.downcast::<ProviderPanic>() {
        Ok(panic) => (*panic).into(),
        Err(_) => Failure::new(FailureClass::Indeterminate, "the provider panicked")
            .hint("this is a mistake in the provider; RUST_BACKTRACE=1 shows where and why in its log"),
    })
}

fn after(mut failed: ApplyFailure, made: u32) -> ApplyFailure {
    if made > 1 {
        failed.failure.message = format!("{} ({made} attempts)", failed.failure.message);
    }
    failed
}

fn interrupted(mut failed: ApplyFailure) -> ApplyFailure {
    failed.failure.message = format!("{} (interrupted)", failed.failure.message);
    failed
}
