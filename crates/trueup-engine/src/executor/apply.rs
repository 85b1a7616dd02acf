//! Bringing one declared resource to where it should be.
//!
//! `prepare` evaluates its inputs, now that all they refer to is known; `run` asks the type once more what to do on
//! real values, stays within what was granted, and makes each step durable before and after the call.

use std::sync::Arc;

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_program::ResourceOptions;
use trueup_provider::{
    ApplyFailure, ApplyRequest, Binding, CallContext, CheckRequest, Configured, DataHandler, DataRequest,
    IdempotencyToken, InputValues, LookupRequest, Observed, Ownership, PlanRequest, PrecreateRequest,
    PrivateBytes, ReadRequest, Recovery, ResourceHandler, State,
};
use trueup_state::{Attempt, Metadata, Record, Status, Step};

use super::Run;
use super::call::CallPolicy;
use super::delete::remove_generation;
use super::schedule::{Finished, Trouble};
use super::step::Held;
use super::tasks::refreshes;
use crate::events::{EventKind, Operation};
use crate::plan::{Action, Grant, ReplaceOrder};
use crate::planner::node::{Attributes, Decision, NodeKind, NodeScope, Sight, Start};
use crate::planner::{Draft, Holders, action_of, chosen, with_ignored};
use crate::retry::Attempts;

/// A resource or data source with its inputs resolved.
pub(crate) struct Prepared {
    address: Address,
    config: Configured,
    desired: InputValues,
    work: Work,
}

enum Work {
    Data(Arc<dyn DataHandler>),
    Resource(Box<Resource>),
}

struct Resource {
    handler: Arc<dyn ResourceHandler>,
    bindings: Vec<Binding>,
    decision: Decision,
    observed: Option<State>,
    meta: Metadata,
    options: ResourceOptions,
    adopt: bool,
    refresh: bool,
    holders: Holders,
}

/// What the program says of a node besides its inputs.
pub(crate) fn metadata(draft: &Draft, at: usize) -> Metadata {
    let node = &draft.nodes[at];
    let mut dependencies: Vec<Address> =
        draft.graph.dependencies(at).map(|other| draft.nodes[other].address.clone()).collect();
    dependencies.retain(|address| address.mode() == trueup_core::Mode::Resource);
    dependencies.sort();
    let options = node.declared().map(|declared| &declared.options);
    Metadata {
        provider: node.provider.clone(),
        dependencies,
        protect: options.is_some_and(|options| options.protect),
        retain: options.is_some_and(|options| options.retain),
    }
}

/// Evaluates the inputs of a node on real values.
pub(crate) fn prepare(run: &Run<'_>, draft: &Draft, at: usize) -> Result<Prepared, Trouble> {
    let node = &draft.nodes[at];
    let scope = NodeScope { index: &draft.index, nodes: &draft.nodes, attributes: &draft.attributes };
    let (inputs, block) = match &node.kind {
        NodeKind::Resource { declared: Some(declared), handler } => {
            (&declared.inputs, &handler.schema().inputs)
        }
        NodeKind::Data { declared, handler } => (&declared.inputs, handler.inputs()),
        NodeKind::Resource { declared: None, .. } => unreachable!("only what is declared is applied"),
    };
    let evaluated = inputs.evaluate(&scope);
    if evaluated.diagnostics.has_errors() {
        return Err(invalid(evaluated.diagnostics).into());
    }
    let checked = block.check(&evaluated.value, &node.address.to_string());
    if checked.diagnostics.has_errors() {
        return Err(invalid(checked.diagnostics).into());
    }
    let desired = InputValues { effective: block.with_defaults(&checked.value), written: checked.value };
    let Some(config) = node.config.clone() else {
        let message =
            format!("the configuration of provider `{}` was not known when this was planned", node.provider);
        return Err(Failure::new(FailureClass::Invalid, message)
            .hint("deploy what it depends on first")
            .into());
    };
    let work = match &node.kind {
        NodeKind::Data { handler, .. } => Work::Data(handler.clone()),
        NodeKind::Resource { declared, handler } => {
            let declared_bindings = declared.iter().flat_map(|declared| &declared.bindings);
            let bindings =
                declared_bindings.map(|it| Binding::new(it.key.clone(), it.payload.evaluate(&scope).value));
            let options = declared.as_ref().map(|declared| declared.options.clone()).unwrap_or_default();
            let adopt = options.adopt.unwrap_or(run.options.plan.adopt);
            Work::Resource(Box::new(Resource {
                handler: handler.clone(),
                bindings: Binding::resolved(bindings),
                decision: node.decision.clone(),
                observed: match &node.sight {
                    Sight::Present(seen) => Some((**seen).clone()),
                    Sight::Unseen | Sight::Gone | Sight::Unreadable => None,
                },
                meta: metadata(draft, at),
                options,
                adopt,
                refresh: refreshes(node),
                holders: draft.holders.clone(),
            }))
        }
    };
    Ok(Prepared { address: node.address.clone(), config, desired, work })
}

/// The inputs and bindings a node would be applied with now; `None` if they cannot be resolved.
pub(crate) fn resolved(draft: &Draft, at: usize) -> Option<(Value, Vec<Binding>)> {
    let node = &draft.nodes[at];
    let (declared, handler) = (node.declared()?, node.handler()?);
    let scope = NodeScope { index: &draft.index, nodes: &draft.nodes, attributes: &draft.attributes };
    let block = &handler.schema().inputs;
    let checked = block.check(&declared.inputs.evaluate(&scope).value, &node.address.to_string());
    let bindings =
        declared.bindings.iter().map(|it| Binding::new(it.key.clone(), it.payload.evaluate(&scope).value));
    let inputs = block.with_defaults(&checked.value);
    (!checked.diagnostics.has_errors()).then(|| (inputs, Binding::resolved(bindings)))
}

/// A resource of which a stub is to be made.
pub(crate) struct PreparedStub {
    address: Address,
    handler: Arc<dyn ResourceHandler>,
    config: Configured,
    desired: InputValues,
    meta: Metadata,
}

/// Gathers what a stub needs: inputs as far as they are known.
pub(crate) fn prepare_stub(draft: &Draft, at: usize) -> Result<PreparedStub, Trouble> {
    let node = &draft.nodes[at];
    match (node.handler(), &node.config, &node.desired) {
        (Some(handler), Some(config), Some(desired)) => Ok(PreparedStub {
            address: node.address.clone(),
            handler: handler.clone(),
            config: config.clone(),
            desired: desired.clone(),
            meta: metadata(draft, at),
        }),
        _ => {
            Err(Failure::new(FailureClass::Invalid, "no stub can be made before its provider is configured")
                .into())
        }
    }
}

impl PreparedStub {
    /// Makes the stub, journalled as the beginning of the create that will finish it.
    pub(crate) async fn precreate(self, run: &Run<'_>, held: &Held) -> Result<Finished, Trouble> {
        let PreparedStub { address, handler, config, desired, meta } = self;
        let number = held.next_number();
        let slot = held.record().map_or(0, |record| record.free_slot());
        let token = run.fresh_token();
        let attempt = Attempt { inputs: desired.clone(), bindings: Vec::new(), token, pending: None };
        let origin = held.origin().clone();
        let begun = Step::CreateBegun { address: address.clone(), origin, meta, number, slot, attempt };
        held.step(run, begun).await?;
        run.emit(Some(&address), EventKind::Started(Operation::Create));
        let context = run.context(&address, held.origin(), number, slot, token);
        let request = PrecreateRequest { config: &config, desired: &desired, context: &context };
        let made = run.bounded(run.policy(None).timeout, handler.precreate(request)).await;
        let stub = match made {
            Ok(Some(stub)) => stub,
            Ok(None) => {
                return Err(
                    Failure::new(FailureClass::Fatal, "the type made no stub though it says it can").into()
                );
            }
            Err(ApplyFailure { failure, .. }) => return Err(failure.into()),
        };
        held.step(run, Step::Answered { number, object: stub.clone() }).await?;
        let attributes = Attributes { inputs: desired.effective, outputs: stub.outputs };
        Ok(Finished { action: Action::Create, attributes: Some(attributes), bindings: Vec::new() })
    }
}

fn invalid(diagnostics: trueup_core::Diagnostics) -> Failure {
    let wrong: Vec<String> = diagnostics.iter().map(|it| it.summary.clone()).collect();
    let mut failure = Failure::new(FailureClass::Invalid, wrong.join("; "));
    failure.diagnostics = diagnostics;
    failure
}

impl Prepared {
    pub(crate) async fn run(self, run: &Run<'_>, held: &Held) -> Result<Finished, Trouble> {
        let Prepared { address, config, desired, work } = self;
        match work {
            Work::Data(handler) => {
                let context = run.context(&address, &address, 0, 0, IdempotencyToken::from_bytes([0; 16]));
                let request = DataRequest { config: &config, inputs: &desired, context: &context };
                let outputs = run
                    .retrying(&address, Operation::Read, run.policy(None), || handler.read(request))
                    .await?;
                let attributes = Attributes { inputs: desired.effective.clone(), outputs };
                Ok(Finished { action: Action::Read, attributes: Some(attributes), bindings: Vec::new() })
            }
            Work::Resource(resource) => {
                let policy = run.policy(Some(&resource.options));
                Applying { run, held, address, config, desired, resource: *resource, policy }.apply().await
            }
        }
    }
}

/// One resource being applied.
struct Applying<'a> {
    run: &'a Run<'a>,
    held: &'a Held,
    address: Address,
    config: Configured,
    desired: InputValues,
    resource: Resource,
    policy: CallPolicy,
}

impl Applying<'_> {
    async fn apply(mut self) -> Result<Finished, Trouble> {
        let prior = self.start().await?;
        self.keep_ignored(prior.as_ref());
        let (action, private, planned) = self.decide(prior.as_ref()).await?;
        let outputs = match action {
            Action::NoOp => self.keep(prior).await?,
            Action::Create => self.create(&planned, &private).await?,
            Action::Update => self.update(prior, &planned, &private).await?,
            Action::Replace => self.replace(&planned, &private).await?,
            _ => unreachable!("on real values nothing is undecided"),
        };
        let attributes = Attributes { inputs: self.desired.effective.clone(), outputs };
        Ok(Finished { action, attributes: Some(attributes), bindings: self.resource.bindings.clone() })
    }

    fn record(&self) -> Option<Record> {
        self.held.record()
    }

    /// Does what has to come first, and gives the object to start from.
    async fn start(&mut self) -> Result<Option<State>, Trouble> {
        let recorded = || self.record().and_then(|record| record.current).and_then(|current| current.object);
        match self.resource.decision.start.clone() {
            Start::Record => Ok(recorded()),
            Start::Recreate => Ok(None),
            Start::Adopt { state, number, slot } => self.adopt(*state, number, slot).await.map(Some),
            Start::RepeatCreate => self.repeat_create().await.map(Some),
            Start::FinishDelete => {
                if let Some(current) = self.record().and_then(|record| record.current) {
                    let handler = self.resource.handler.clone();
                    remove_generation(
                        self.run,
                        self.held,
                        &self.address,
                        &*handler,
                        &self.config,
                        &current,
                        self.policy,
                    )
                    .await?;
                }
                Ok(None)
            }
            Start::LookFirst => self.look().await,
        }
    }

    /// Takes an object that was found into state (ADOPT-2).
    async fn adopt(&self, object: State, number: u64, slot: u64) -> Result<State, Trouble> {
        let (address, origin) = (self.address.clone(), self.held.origin().clone());
        let meta = self.resource.meta.clone();
        self.held
            .step(self.run, Step::Adopted { address, origin, meta, number, slot, object: object.clone() })
            .await?;
        self.run.emit(Some(&self.address), EventKind::Adopted);
        Ok(object)
    }

    /// Looks for an object that may exist already, now that the inputs are known (ADOPT-6).
    async fn look(&self) -> Result<Option<State>, Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let (config, desired) = (&self.config, &self.desired);
        let request = LookupRequest { config, desired, context: &context };
        let handler = &self.resource.handler;
        let found = self
            .run
            .retrying(&self.address, Operation::Read, self.policy, || handler.lookup(request))
            .await?;
        match chosen(found.unwrap_or_default(), self.resource.adopt, &self.address.to_string())? {
            None => Ok(None),
            Some(sighting) => {
                self.resource.holders.refuse_held(&self.address, &sighting.state)?;
                let number = match sighting.ownership {
                    Ownership::Owned { generation: Some(number) } => number,
                    _ => context.generation,
                };
                self.adopt(sighting.state, number, context.slot).await.map(Some)
            }
        }
    }

    /// Repeats the create whose outcome is unknown, as it was (CRASH-1).
    async fn repeat_create(&self) -> Result<State, Trouble> {
        let current = self.record().and_then(|record| record.current);
        let Some((current, attempt)) =
            current.and_then(|it| it.attempt().cloned().map(|attempt| (it, attempt)))
        else {
            return Err(Failure::new(FailureClass::Fatal, "there is no create to repeat").into());
        };
        let planned = Value::NULL;
        let private = PrivateBytes::default();
        let object = self
            .call(Operation::Create, current.number, &attempt, None, &attempt.inputs, &planned, &private)
            .await?;
        self.held.step(self.run, Step::Answered { number: current.number, object: object.clone() }).await?;
        Ok(object)
    }

    /// PLAN-21
    fn keep_ignored(&mut self, prior: Option<&State>) {
        let ignored = &self.resource.options.ignore_changes;
        if let Some(recorded) = prior.and_then(|prior| prior.inputs.as_ref()).filter(|_| !ignored.is_empty())
        {
            self.desired = InputValues {
                written: with_ignored(&self.desired.written, &recorded.written, ignored),
                effective: with_ignored(&self.desired.effective, &recorded.effective, ignored),
            };
        }
    }

    /// Asks the type again, on real values, and checks that the answer is within what was granted (UNKNOWN-10).
    async fn decide(&self, prior: Option<&State>) -> Result<(Action, PrivateBytes, Value), Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let current = self.record().and_then(|record| record.current);
        let prior_bindings = current.as_ref().map_or(&[][..], |current| &current.bindings);
        let observed = self.resource.observed.as_ref().filter(|_| prior.is_some());
        let private = PrivateBytes(prior.map(|prior| prior.private.clone()).unwrap_or_default());
        let request = PlanRequest {
            config: Some(&self.config),
            desired: &self.desired,
            prior,
            observed,
            bindings: &self.resource.bindings,
            prior_bindings,
            private: &private,
            context: &context,
        };
        let answer = self.run.bounded(self.policy.timeout, self.resource.handler.plan(request)).await?;
        let planned = self.resource.decision.action;
        let mut action = action_of(answer.verdict);
        let unfinished = current.is_some_and(|current| current.attempt().is_some());
        let adopted =
            matches!(self.resource.decision.start, Start::Adopt { .. } | Start::LookFirst) && prior.is_some();
        if planned == Action::Replace && prior.is_some() {
            // A replacement that was decided is not undone by values that turned out the same.
            action = Action::Replace;
        } else if action == Action::NoOp && (planned == Action::Update || unfinished || adopted) {
            action = Action::Update;
        }
        let granted = match planned.grant() {
            Grant::NoOp => action == Action::NoOp,
            Grant::Update => matches!(action, Action::NoOp | Action::Update),
            Grant::Create => matches!(action, Action::NoOp | Action::Update | Action::Create),
            Grant::Replace => true,
            Grant::Delete => false,
        };
        if !granted {
            let message =
                format!("it would take a {action:?}, and the plan allows {:?} at most", planned.grant());
            return Err(Failure::new(FailureClass::Conflict, message.to_lowercase())
                .hint("plan again")
                .into());
        }
        Ok((action, answer.private, answer.outputs))
    }

    /// Nothing to do, but perhaps something to record (APPLY-10).
    async fn keep(&self, prior: Option<State>) -> Result<Value, Trouble> {
        let record = self.record();
        if record.as_ref().is_some_and(|record| record.meta != self.resource.meta) {
            self.held.step(self.run, Step::MetaChanged { meta: self.resource.meta.clone() }).await?;
        }
        let seen = self.resource.observed.as_ref().filter(|_| self.resource.refresh);
        if let (Some(seen), Some(current)) = (seen, record.and_then(|record| record.current)) {
            let step = Step::Refreshed { number: current.number, object: seen.clone() };
            self.held.step(self.run, step).await?;
        }
        let object = seen.cloned().or(prior);
        Ok(object.map(|object| object.outputs).unwrap_or_default())
    }

    async fn create(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, Trouble> {
        // A create that begins again is of the same generation, under the same name.
        let current = self.record().and_then(|record| record.current);
        let (number, slot) = match current {
            Some(current) if current.status != Status::Deleting => (current.number, current.slot),
            _ => (self.held.next_number(), self.free_slot()),
        };
        self.begin_and_create(number, slot, planned, private).await
    }

    async fn replace(&self, planned: &Value, private: &PrivateBytes) -> Result<Value, Trouble> {
        let current = self.record().and_then(|record| record.current);
        if let (Some(current), Some(ReplaceOrder::DeleteFirst)) = (current, self.resource.decision.order) {
            // Only now is it certain that it is replaced (UNKNOWN-8); what was certain before is gone already.
            self.check().await?;
            if self.resource.options.retain {
                self.held.step(self.run, Step::Dropped { number: current.number }).await?;
            } else {
                let handler = self.resource.handler.clone();
                remove_generation(
                    self.run,
                    self.held,
                    &self.address,
                    &*handler,
                    &self.config,
                    &current,
                    self.policy,
                )
                .await?;
            }
        }
        self.begin_and_create(self.held.next_number(), self.free_slot(), planned, private).await
    }

    fn free_slot(&self) -> u64 {
        self.record().map_or(0, |record| record.free_slot())
    }

    async fn begin_and_create(
        &self,
        number: u64,
        slot: u64,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        self.check().await?;
        let attempt = self.attempt();
        let step = Step::CreateBegun {
            address: self.address.clone(),
            origin: self.held.origin().clone(),
            meta: self.resource.meta.clone(),
            number,
            slot,
            attempt: attempt.clone(),
        };
        self.held.step(self.run, step).await?;
        self.run.emit(Some(&self.address), EventKind::Started(Operation::Create));
        let called =
            self.call(Operation::Create, number, &attempt, None, &self.desired, planned, private).await;
        let object = match called {
            Ok(object) => object,
            Err(Trouble::Failed(failure)) if failure.class == FailureClass::AlreadyExists => {
                return self.adopt_existing(number, slot, failure, planned, private).await;
            }
            Err(Trouble::Failed(failure)) => return Err(self.failed_create(number, failure).await),
            Err(trouble) => return Err(trouble),
        };
        let answered = object.clone();
        self.settle(Operation::Create, number, object, answered).await
    }

    /// A create that found its place taken: by an object of ours whose answer was lost, or by someone else's (RETRY-6).
    async fn adopt_existing(
        &self,
        number: u64,
        slot: u64,
        failure: Failure,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let request = LookupRequest { config: &self.config, desired: &self.desired, context: &context };
        let handler = &self.resource.handler;
        let looked = self
            .run
            .retrying(&self.address, Operation::Read, self.policy, || handler.lookup(request))
            .await?;
        let chosen = chosen(looked.unwrap_or_default(), self.resource.adopt, &self.address.to_string());
        let free = chosen.and_then(|found| match found {
            Some(found) => {
                self.resource.holders.refuse_held(&self.address, &found.state).map(|()| Some(found))
            }
            None => Ok(None),
        });
        match free {
            Ok(Some(found)) => {
                let adopted = self.adopt(found.state, number, slot).await?;
                Box::pin(self.update(Some(adopted), planned, private)).await
            }
            Ok(None) => Err(self.failed_create(number, failure).await),
            Err(refused) => Err(self.failed_create(number, refused).await),
        }
    }

    async fn update(
        &self,
        prior: Option<State>,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<Value, Trouble> {
        let (Some(prior), Some(current)) = (prior, self.record().and_then(|record| record.current)) else {
            return Err(Failure::new(FailureClass::Fatal, "there is nothing to update").into());
        };
        self.check().await?;
        let attempt = self.attempt();
        let meta = self.resource.meta.clone();
        self.held.step(self.run, Step::UpdateBegun { meta, attempt: attempt.clone() }).await?;
        self.run.emit(Some(&self.address), EventKind::Started(Operation::Update));
        let object = self
            .call(Operation::Update, current.number, &attempt, Some(&prior), &self.desired, planned, private)
            .await?;
        // Until it is settled, the record keeps the inputs it started from (CRASH-3).
        let answered = State { inputs: prior.inputs, ..object.clone() };
        self.settle(Operation::Update, current.number, object, answered).await
    }

    /// What becomes of the intent of a create that failed: it is kept as long as something may have come of it.
    async fn failed_create(&self, number: u64, failure: Failure) -> Trouble {
        let known =
            self.record().and_then(|record| record.current).is_some_and(|current| current.object.is_some());
        let undecided = match failure.class {
            FailureClass::Indeterminate => true,
            FailureClass::Retryable | FailureClass::Throttled { .. } | FailureClass::Pending { .. } => {
                self.resource.handler.recovery(&self.desired.effective) != Recovery::Blind
            }
            _ => false,
        };
        if known || undecided {
            return failure.into();
        }
        match self.held.step(self.run, Step::Abandoned { number }).await {
            Ok(()) => failure.into(),
            Err(error) => error.into(),
        }
    }

    async fn check(&self) -> Result<(), Trouble> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let (config, desired) = (&self.config, &self.desired);
        let request = CheckRequest { config, desired, context: &context };
        Ok(self.run.bounded(self.policy.timeout, self.resource.handler.check(request)).await?)
    }

    fn attempt(&self) -> Attempt {
        Attempt {
            inputs: self.desired.clone(),
            bindings: self.resource.bindings.clone(),
            token: self.run.fresh_token(),
            pending: None,
        }
    }

    /// Calls the type, again and again if need be; what it answers, partial or not, is durable before anything else.
    #[expect(clippy::too_many_arguments, reason = "one call has that many sides")]
    async fn call(
        &self,
        operation: Operation,
        number: u64,
        attempt: &Attempt,
        prior: Option<&State>,
        desired: &InputValues,
        planned: &Value,
        private: &PrivateBytes,
    ) -> Result<State, Trouble> {
        let mut attempts = Attempts::new(
            self.policy.retry,
            self.policy.timeout,
            &*self.run.clock,
            crate::planner::seed(&self.address),
        );
        let mut context = self.context(attempt.token);
        context.pending.clone_from(&attempt.pending);
        let mut known = prior.cloned();
        loop {
            let request = ApplyRequest {
                config: &self.config,
                desired,
                planned,
                private,
                prior: known.as_ref(),
                observed: self.resource.observed.as_ref().filter(|_| prior.is_some()),
                bindings: &attempt.bindings,
                context: &context,
            };
            let called = self.run.bounded(self.policy.timeout, self.resource.handler.apply(request)).await;
            let ApplyFailure { failure, partial } = match called {
                Ok(object) => return Ok(object),
                Err(failed) => failed,
            };
            if let Some(partial) = partial {
                self.held.step(self.run, Step::Answered { number, object: (*partial).clone() }).await?;
                known = Some(*partial);
            }
            if let Some(pending) = self.run.again(&self.address, operation, &mut attempts, failure).await? {
                self.held.step(self.run, Step::Pending { number, context: pending.clone() }).await?;
                context.pending = Some(pending);
            }
        }
    }

    /// Makes the answer durable, reads the object back, and ends the operation (APPLY-8).
    async fn settle(
        &self,
        operation: Operation,
        number: u64,
        object: State,
        answered: State,
    ) -> Result<Value, Trouble> {
        let mut settled = object.clone();
        if self.resource.handler.traits().read_back {
            self.held.step(self.run, Step::Answered { number, object: answered }).await?;
            if let Some(seen) = self.read_back(&object).await {
                settled = State { inputs: object.inputs.clone(), ..seen };
            }
        }
        let outputs = settled.outputs.clone();
        self.resource.holders.note(&self.address, &settled);
        self.held.step(self.run, Step::Settled { number, object: settled }).await?;
        self.run.emit(Some(&self.address), EventKind::Completed(operation));
        Ok(outputs)
    }

    /// The object as it reads now; `None` if that cannot be had, and then the answer stands.
    async fn read_back(&self, object: &State) -> Option<State> {
        let context = self.context(IdempotencyToken::from_bytes([0; 16]));
        let handler = &self.resource.handler;
        let request = ReadRequest {
            config: &self.config,
            inputs: &self.desired.effective,
            state: object,
            context: &context,
        };
        let absent = || Failure::new(FailureClass::Retryable, "it cannot be read back yet");
        let read = self.run.retrying(&self.address, Operation::Read, self.policy, || {
            let read = handler.read(request);
            Box::pin(async move {
                match read.await? {
                    Observed::Absent => Err(absent()),
                    seen => Ok(seen),
                }
            })
        });
        match read.await {
            Ok(Observed::Present(seen)) => Some(*seen),
            _ => None,
        }
    }

    fn context(&self, token: IdempotencyToken) -> CallContext {
        let current = self.record().and_then(|record| record.current);
        let (number, slot) = current.map_or((0, 0), |current| (current.number, current.slot));
        self.run.context(&self.address, self.held.origin(), number, slot, token)
    }
}
