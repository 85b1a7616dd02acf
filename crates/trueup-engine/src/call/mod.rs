//! Calls to providers, for planning and execution alike: bounded in time (APPLY-13), repeated by class (RETRY-1), and
//! never able to take the run down (CRUD-12).
//!
//! [`Caller`] makes all of them. `policy` says how long a call may take and how often it is tried, `attempts` what follows
//! from a failure, `throttle` how many calls of one provider run at a time, `context` what a call is told, `functions`
//! how the functions are answered that expressions call. `window` is about objects that may exist and not be visible yet.

mod attempts;
mod context;
mod functions;
mod panics;
mod policy;
mod reading;
mod throttle;
mod types;
mod window;

pub(crate) use attempts::Attempts;
pub(crate) use functions::evaluated;
pub(crate) use panics::{caught, contained, contained_now};
pub(crate) use policy::CallPolicy;
pub(crate) use reading::read_or_warned;
pub(crate) use throttle::Throttle;
pub(crate) use window::{unseen_for, window_left, within};

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{Either, select};
use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Failure, FailureClass, ModulePath, Value};
use trueup_program::{Program, ResourceOptions, RetrySettings};
use trueup_provider::{CallContext, Clock, ModuleMetas, Registry, Traits};
use trueup_state::Scope;

use self::attempts::NextAttempt;
use crate::draft::node::Node;
use crate::events::{EventKind, Operation, RunEvents};
use crate::lease::RunLease;
use crate::options::PlanOptions;
use crate::warning_log::WarningLog;

/// Makes calls to providers. There is one of these per plan and per run.
pub(crate) struct Caller<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) clock: Arc<dyn Clock>,
    /// What providers warn of.
    pub(crate) warnings: WarningLog,
    scope: Scope,
    options: &'a PlanOptions,
    /// How failed calls for types are repeated, as the program says.
    type_retries: Option<&'a BTreeMap<SmolStr, RetrySettings>>,
    /// What modules tell providers of themselves.
    provider_metas: Option<&'a BTreeMap<ModulePath, ModuleMetas>>,
    run: Option<RunCalls<'a>>,
    /// Whether a call took too long.
    timed_out: AtomicBool,
    /// Providers that did not tell their types in time: nobody waits for them again.
    silent: Mutex<BTreeMap<SmolStr, Failure>>,
}

/// What calls of a run have beyond those of a plan.
pub(crate) struct RunCalls<'a> {
    pub(crate) lease: &'a RunLease,
    pub(crate) throttle: Arc<Throttle>,
    /// Raised when no further attempt may start.
    pub(crate) stop: CancellationToken,
    pub(crate) events: Arc<RunEvents>,
}

/// One call, however often it is tried.
#[derive(Clone, Copy)]
pub(crate) struct Call<'c> {
    subject: CallSubject<'c>,
    operation: Operation,
    policy: CallPolicy,
}

/// What a call is about.
#[derive(Clone, Copy)]
enum CallSubject<'c> {
    Resource {
        address: &'c Address,
        /// The name of its provider's configuration.
        provider: &'c str,
    },
    Provider(&'c str),
}

impl<'c> Call<'c> {
    /// A call for a resource or data source, to the provider whose configuration has this name.
    pub(crate) fn new(
        address: &'c Address,
        provider: &'c str,
        operation: Operation,
        policy: CallPolicy,
    ) -> Self {
        Call { subject: CallSubject::Resource { address, provider }, operation, policy }
    }

    fn timeout(&self) -> Duration {
        self.policy.timeout(self.operation)
    }

    /// The failure of a call that took too long: what came of it is unknown (APPLY-13).
    fn unanswered(&self) -> Failure {
        let message = format!("no answer within {} s", self.timeout().as_secs());
        let failure = Failure::new(FailureClass::Indeterminate, message);
        match self.subject {
            CallSubject::Resource { .. } => {
                failure.hint("if it needs longer, raise `timeout` in its `lifecycle` block")
            }
            CallSubject::Provider(_) => {
                failure.hint("if it needs longer, raise `timeout` in the `stack` block")
            }
        }
    }
}

impl<'a> Caller<'a> {
    /// Makes the calls of a plan.
    pub(crate) fn new(
        registry: &'a Registry,
        clock: Arc<dyn Clock>,
        scope: Scope,
        options: &'a PlanOptions,
    ) -> Self {
        Caller {
            registry,
            clock,
            warnings: WarningLog::default(),
            scope,
            options,
            type_retries: None,
            provider_metas: None,
            run: None,
            timed_out: AtomicBool::new(false),
            silent: Mutex::default(),
        }
    }

    /// The same for a program, which may say how calls for types are repeated.
    pub(crate) fn of_program(self, program: &'a Program) -> Self {
        Caller {
            type_retries: Some(&program.type_retries),
            provider_metas: Some(&program.provider_metas),
            ..self
        }
    }

    /// The same for a run.
    pub(crate) fn during(self, run: RunCalls<'a>) -> Self {
        Caller { run: Some(run), ..self }
    }

    /// How calls for a resource of this type with these options go.
    pub(crate) fn policy(
        &self,
        type_name: &str,
        traits: Option<&Traits>,
        options: Option<&ResourceOptions>,
    ) -> CallPolicy {
        let of_type = self.type_retries.and_then(|all| all.get(type_name));
        CallPolicy::new(self.options, options, of_type, traits)
    }

    /// How calls for a node go.
    pub(crate) fn policy_of(&self, node: &Node<'_>) -> CallPolicy {
        let traits = node.handler().map(|handler| handler.traits());
        self.policy(node.address.type_name(), traits, node.declared().map(|declared| &declared.options))
    }

    /// Whether any call took too long.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }
}

impl Caller<'_> {
    /// One attempt at a call. Past its time its outcome is unknown (APPLY-13), and a panic is an error of that resource
    /// alone (CRUD-12). None starts on a lease that is about to end (STATE-3).
    pub(crate) async fn attempt<T, E: From<Failure>>(
        &self,
        call: Call<'_>,
        attempt: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.in_time(call, attempt).await?
    }

    /// Attempts until one succeeds or none may follow. One after a *pending* failure gets its context back (RETRY-4).
    pub(crate) async fn retried<T>(
        &self,
        call: Call<'_>,
        context: &CallContext,
        attempt: impl AsyncFn(&CallContext) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut attempts = Attempts::new(call, &*self.clock);
        let mut resumed: Option<CallContext> = None;
        loop {
            let outcome = self.attempt(call, attempt(resumed.as_ref().unwrap_or(context))).await;
            let failure = match outcome {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if let Some(pending) = self.wait_for_next(call, &mut attempts, failure).await? {
                resumed.get_or_insert_with(|| context.clone()).pending = Some(pending);
            }
        }
    }

    /// The same of a call that is about a provider as a whole, such as its configuration.
    pub(crate) async fn of_provider<T>(
        &self,
        name: &str,
        attempt: impl AsyncFn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let call = self.provider_call(name);
        let mut attempts = Attempts::new(call, &*self.clock);
        loop {
            match self.attempt(call, attempt()).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => drop(self.wait_for_next(call, &mut attempts, failure).await?),
            }
        }
    }

    fn provider_call<'c>(&self, name: &'c str) -> Call<'c> {
        let policy = CallPolicy::new(self.options, None, None, None);
        let subject = CallSubject::Provider(name);
        Call { subject, operation: Operation::Read, policy }
    }

    /// Waits for the next attempt and gives it what a pending one left, or says that there is none.
    pub(crate) async fn wait_for_next(
        &self,
        call: Call<'_>,
        attempts: &mut Attempts<'_>,
        failure: Failure,
    ) -> Result<Option<Value>, Failure> {
        let Some(run) = &self.run else {
            return match attempts.after(failure, &*self.clock) {
                NextAttempt::GiveUp(failure) => Err(failure),
                NextAttempt::Again { wait, pending } => {
                    self.clock.sleep(wait).await;
                    Ok(pending)
                }
            };
        };
        run.heed(call, &failure);
        let (wait, pending) = match attempts.after(failure.clone(), &*self.clock) {
            NextAttempt::GiveUp(failure) => return Err(failure),
            NextAttempt::Again { wait, pending } => (wait, pending),
        };
        // What is under way is seen through; another attempt is not under way yet.
        if pending.is_none() && run.stop.is_cancelled() {
            return Err(attempts.stopped(failure, &*self.clock));
        }
        if let CallSubject::Resource { address, .. } = call.subject {
            let (operation, wait_ms, failure) = (call.operation, wait.as_millis() as u64, failure.clone());
            let kind = EventKind::Retry { operation, attempts: attempts.made(), wait_ms, failure };
            run.events.emit(Some(address), kind);
        }
        let stopped = pin!(run.stop.cancelled());
        match select(stopped, self.clock.sleep(wait)).await {
            Either::Left(_) if pending.is_none() => return Err(attempts.stopped(failure, &*self.clock)),
            Either::Left(((), rest)) => rest.await,
            Either::Right(_) => {}
        }
        Ok(pending)
    }

    /// Raised when no further attempt may start: the run was stopped. Never, for a plan.
    pub(crate) async fn stopped(&self) {
        match &self.run {
            Some(run) => run.stop.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// The outcome of a call, unless it takes too long or panics.
    pub(crate) async fn in_time<T>(
        &self,
        call: Call<'_>,
        attempt: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        if let Some(run) = &self.run {
            run.lease.ready().await;
        }
        let mut attempt = pin!(caught(attempt));
        // Most calls of native types answer at once, and none of those needs a timer.
        let mut timer = None;
        poll_fn(|task| {
            if let Poll::Ready(outcome) = attempt.as_mut().poll(task) {
                return Poll::Ready(outcome);
            }
            let timer = timer.get_or_insert_with(|| self.clock.sleep(call.timeout()));
            timer.as_mut().poll(task).map(|()| {
                self.timed_out.store(true, Ordering::Relaxed);
                Err(call.unanswered())
            })
        })
        .await
    }
}

impl RunCalls<'_> {
    /// Slows a provider down that says it is called too often (RETRY-5).
    fn heed(&self, call: Call<'_>, failure: &Failure) {
        if matches!(failure.class, FailureClass::Throttled { .. }) {
            let (CallSubject::Resource { provider, .. } | CallSubject::Provider(provider)) = call.subject;
            self.throttle.slow_down(provider);
        }
    }
}
