//! Calls to providers: bounded in time, repeated by class, and never able to take the run down.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Failure, FailureClass};
use trueup_program::{Evaluated, RetryPolicy, Timeouts};
use trueup_provider::{
    BoxFuture, CallContext, Configured, IdempotencyToken, NameRules, Owner, ProgressSink, ResourceHandler,
};
use trueup_state::Generation;

use super::Run;
use crate::draft::Draft;
use crate::events::{EventKind, Operation};
use crate::panics::caught;
use crate::providers::{Places, configured, unconfigured, written};
use crate::retry::{Attempts, Next};

/// How calls for one resource are repeated and bounded.
#[derive(Clone, Copy)]
pub(crate) struct CallPolicy {
    pub(crate) retry: RetryPolicy,
    timeouts: Timeouts,
    /// How long what has no timeout of its own may take.
    usual: Duration,
}

impl CallPolicy {
    /// How long an operation may take.
    pub(crate) fn timeout(&self, operation: Operation) -> Duration {
        let own = match operation {
            Operation::Create => self.timeouts.create,
            Operation::Update => self.timeouts.update,
            Operation::Delete => self.timeouts.delete,
            Operation::Read => self.timeouts.read,
        };
        own.unwrap_or(self.usual)
    }
}

/// A provider's configuration, ready or on the way.
#[derive(Clone)]
pub(crate) enum Configuration {
    /// It was known when the run was planned.
    Ready(Configured),
    /// It is known now.
    Late { provider: SmolStr, written: Evaluated },
}

impl Configuration {
    /// The configuration of a node's provider, as far as it is known now.
    pub(crate) fn of(run: &Run<'_>, draft: &Draft, at: usize) -> Self {
        let node = &draft.nodes[at];
        match &node.config {
            Some(configured) => Configuration::Ready(configured.clone()),
            None => Configuration::Late {
                provider: node.provider.clone(),
                written: written(run.program, draft, &node.provider),
            },
        }
    }

    /// The provider, ready for use.
    pub(crate) async fn ready(self, run: &Run<'_>) -> Result<Configured, Failure> {
        match self.settled(run).await? {
            Ok(configured) => Ok(configured),
            Err(provider) => Err(unconfigured(&provider, None)),
        }
    }

    /// The provider, ready to delete a generation: while the program's configuration is not known, by the one that the
    /// generation was made with (DELETE-11).
    pub(crate) async fn ready_for(
        self,
        run: &Run<'_>,
        generation: &Generation,
    ) -> Result<Configured, Failure> {
        match (self.settled(run).await?, generation.configuration) {
            (Ok(configured), _) => Ok(configured),
            (Err(provider), Some(number)) => run.recorded.ready(run.registry, &provider, number).await,
            (Err(provider), None) => Err(unconfigured(&provider, None)),
        }
    }

    /// The provider, ready for use, or its name while its configuration is not known.
    async fn settled(self, run: &Run<'_>) -> Result<Result<Configured, SmolStr>, Failure> {
        let (provider, written) = match self {
            Configuration::Ready(configured) => return Ok(Ok(configured)),
            Configuration::Late { provider, written } => (provider, written),
        };
        // Whoever comes first makes it ready for all, unless it was told something that only stood in (BIND-5).
        let mut known = run.late_configs.lock().await;
        if let Some((_, configured)) = known.get(&provider).filter(|(told, _)| *told == written.value) {
            return Ok(Ok(configured.clone()));
        }
        let told = written.value.clone();
        match configured(run.registry, &provider, written).await {
            Ok(Some(configured)) => {
                known.insert(provider, (told, configured.clone()));
                Ok(Ok(configured))
            }
            Ok(None) => Ok(Err(provider)),
            Err(wrong) => Err(unconfigured(&provider, Some(wrong))),
        }
    }
}

impl Run<'_> {
    /// The places of objects of a type, under this configuration of its provider.
    pub(crate) fn places(&self, handler: &Arc<dyn ResourceHandler>, provider: SmolStr) -> Places<'_> {
        Places {
            registry: self.registry,
            recorded: self.recorded.clone(),
            handler: handler.clone(),
            provider,
        }
    }

    /// How calls for a resource with these options go.
    pub(crate) fn policy(&self, options: Option<&trueup_program::ResourceOptions>) -> CallPolicy {
        CallPolicy {
            retry: options.and_then(|it| it.retry).unwrap_or(self.options.plan.retry),
            timeouts: options.and_then(|it| it.timeouts.as_deref()).copied().unwrap_or_default(),
            usual: self.options.plan.timeout,
        }
    }

    /// What a call is told.
    pub(crate) fn context(
        &self,
        address: &Address,
        origin: &Address,
        generation: u64,
        slot: u64,
        token: IdempotencyToken,
    ) -> CallContext {
        let (events, scope, run, clock) =
            (self.events.clone(), self.scope.clone(), self.run.clone(), self.clock.clone());
        let resource = address.clone();
        let progress = move |doing: &str| {
            let kind = EventKind::Progress { doing: doing.to_owned() };
            // Progress is for whoever watches; it is no part of the run's history.
            let event = crate::events::Event {
                sequence: u64::MAX,
                at: clock.now(),
                scope: scope.clone(),
                run: run.clone(),
                resource: Some(resource.clone()),
                kind,
            };
            events.emit(event);
        };
        CallContext {
            owner: Owner {
                stack: self.scope.stack.clone(),
                stage: self.scope.stage.clone(),
                origin: origin.clone(),
            },
            address: address.clone(),
            generation,
            slot,
            token,
            pending: None,
            cancellation: CancellationToken::new(),
            clock: self.clock.clone(),
            progress: ProgressSink::new(progress),
            warnings: self.warned.of(address),
            name_rules: NameRules::default(),
            secrets: self.registry.secrets().clone(),
        }
    }

    /// Calls something until it succeeds or need not be tried again.
    pub(crate) async fn retrying<'f, T>(
        &self,
        address: &Address,
        operation: Operation,
        policy: CallPolicy,
        call: impl Fn() -> BoxFuture<'f, Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let timeout = policy.timeout(operation);
        let mut attempts = Attempts::new(policy.retry, timeout, &*self.clock, address);
        loop {
            let failure = match self.bounded(timeout, call()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            match self.again(address, operation, &mut attempts, failure).await {
                Ok(_) => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Waits for the next attempt, or says that there is none.
    pub(crate) async fn again(
        &self,
        address: &Address,
        operation: Operation,
        attempts: &mut Attempts,
        failure: Failure,
    ) -> Result<Option<trueup_core::Value>, Failure> {
        if matches!(failure.class, FailureClass::Throttled { .. }) {
            self.limits.slow_down(address);
        }
        match attempts.after(failure.clone(), &*self.clock) {
            Next::GiveUp(failure) => Err(failure),
            Next::Again { wait, pending } => {
                let failed = failure.clone();
                let wait_ms = wait.as_millis() as u64;
                let kind = EventKind::Retry { operation, attempts: attempts.made(), wait_ms, failure };
                self.emit(Some(address), kind);
                let stopped = std::pin::pin!(self.cancellation.finish.cancelled());
                match select(stopped, self.clock.sleep(wait)).await {
                    // What is under way is seen through; another attempt is not under way yet.
                    Either::Left(_) if pending.is_none() => return Err(failed),
                    Either::Left(((), rest)) => rest.await,
                    Either::Right(_) => {}
                }
                Ok(pending)
            }
        }
    }

    /// Makes one call: past its time its outcome is unknown (APPLY-13), and a panic is an error of that resource alone
    /// (CRUD-12). None starts on a lease that is about to end (STATE-3).
    pub(crate) async fn bounded<T, E: From<Failure>>(
        &self,
        timeout: Duration,
        call: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        self.lease.ready().await;
        let call = std::pin::pin!(caught(call));
        match select(call, self.clock.sleep(timeout)).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => {
                let message = format!("no answer within {} s", timeout.as_secs());
                Err(Failure::new(FailureClass::Indeterminate, message).into())
            }
        }
    }
}
