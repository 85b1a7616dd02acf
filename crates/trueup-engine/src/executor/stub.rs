//! Stubs: objects made before their inputs are known, so that others of a cycle can refer to them (BIND-5).
//!
//! A stub is journalled as the beginning of the create that will finish it, with inputs that are wholly known: the type has
//! values of its own for what it can do without. So an interrupted stub is recovered like any other create (CRASH-1), and
//! a failed one is looked for before it is repeated (RETRY-7).

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{InputValues, PrivateBytes, State};
use trueup_state::{Attempt, Step};

use super::Run;
use super::apply::Applying;
use super::call::Configuration;
use super::prepare::{Resource, resolved_inputs};
use super::schedule::{Finished, Trouble};
use super::step::Held;
use crate::events::{EventKind, Operation};
use crate::plan::Action;
use crate::planner::Draft;
use crate::planner::node::{Attributes, Start};

/// A resource of which a stub is to be made.
pub(crate) struct PreparedStub {
    address: Address,
    config: Configuration,
    /// What others see of its inputs: as far as they are known.
    inputs: Value,
    stub: InputValues,
    resource: Resource,
}

/// Gathers what a stub needs: inputs as far as they are known by now.
pub(crate) fn prepare_stub(run: &Run<'_>, draft: &Draft, at: usize) -> Result<PreparedStub, Trouble> {
    let node = &draft.nodes[at];
    let impossible = || Failure::new(FailureClass::Invalid, "no stub can be made of it");
    let desired = resolved_inputs(draft, at).or_else(|| node.desired.clone()).ok_or_else(impossible)?;
    let handler = node.handler().ok_or_else(impossible)?;
    let stub = handler.stub_inputs(&desired).into_result()?;
    Ok(PreparedStub {
        address: node.address.clone(),
        config: Configuration::of(run, draft, at),
        inputs: desired.effective,
        stub,
        resource: Resource::of(run, draft, at, handler.clone(), Vec::new()),
    })
}

impl PreparedStub {
    /// Makes the stub, unless there is an object already.
    pub(crate) async fn precreate(self, run: &Run<'_>, held: &Held) -> Result<Finished, Trouble> {
        let PreparedStub { address, config, inputs, stub: desired, resource } = self;
        let config = config.ready(run).await?;
        let policy = run.policy(Some(&resource.options));
        let applying = Applying { run, held, address, config, desired, resource, policy };
        let stub = match applying.existing().await? {
            Some(found) => found,
            None => applying.precreate().await?,
        };
        let attributes = Attributes::new(inputs, stub.outputs);
        Ok(Finished { action: Action::Create, attributes: Some(attributes), bindings: Vec::new() })
    }
}

impl Applying<'_> {
    /// What there is already: the object, if nothing is recorded of it, or what comes of a create that was interrupted.
    async fn existing(&self) -> Result<Option<State>, Trouble> {
        match self.resource.decision.start {
            Start::RepeatCreate => self.repeat_create().await.map(Some),
            Start::LookFirst => self.look().await,
            Start::Record if self.absence_may_be_over() => self.look().await,
            _ => Ok(None),
        }
    }

    async fn precreate(&self) -> Result<State, Trouble> {
        let (number, slot) = self.place();
        let (inputs, token) = (self.desired.without_ephemeral(), self.run.fresh_token());
        let attempt = Attempt { inputs, bindings: Vec::new(), token, pending: None, stub: true };
        let begun = Step::CreateBegun {
            address: self.address.clone(),
            origin: self.held.origin(),
            meta: self.resource.meta.clone(),
            number,
            slot,
            attempt: attempt.clone(),
        };
        self.held.step(self.run, begun).await?;
        self.run.emit(Some(&self.address), EventKind::Started(Operation::Create));
        let (planned, private) = (Value::NULL, PrivateBytes::default());
        let called =
            self.call(Operation::Create, number, &attempt, None, &self.desired, &planned, &private).await;
        match called {
            Ok(stub) => {
                self.held.step(self.run, Step::Answered { number, object: stub.clone() }).await?;
                Ok(stub)
            }
            // A failed attempt made it, or it is someone else's (RETRY-6, RETRY-7).
            Err(Trouble::Failed(failure)) if failure.class == FailureClass::AlreadyExists => {
                self.adopt_in_place(number, slot, failure).await
            }
            Err(Trouble::Failed(failure)) => Err(self.failed_create(number, failure).await),
            Err(trouble) => Err(trouble),
        }
    }
}
