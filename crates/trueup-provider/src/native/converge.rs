//! A convergent type as a handler.

use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::schema::ResourceSchema;
use trueup_core::{Change, Entries, Failure, FailureClass, Value};

use super::shape::{Constructor, HookKind, TypeShape, failure};
use crate::clock::BoxFuture;
use crate::contract::{Converge, Current};
use crate::handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DeleteEnd, DeleteRequest, ImportRequest, Imported,
    LookupRequest, MigrateRequest, Observed, PlanAnswer, PlanRequest, PrecreateRequest, ReadRequest,
    Recovery, ResourceHandler, Sighting, StubInputs, Traits,
};
use crate::planning;
use crate::provider::Configured;
use crate::state::{InputValues, State};

pub(crate) struct ConvergeHandler<T: Converge> {
    type_name: SmolStr,
    shape: TypeShape<T, T::Output, T::Config>,
}

/// This contract has no notion of equivalent inputs: a reconcile settles what differs.
fn never_equivalent(_field: &str, _prior: &Value, _current: &Value) -> bool {
    false
}

impl<T: Converge> ConvergeHandler<T> {
    pub(crate) fn new(type_name: SmolStr, construct: Constructor<T>) -> Self {
        ConvergeHandler { type_name, shape: TypeShape::new(T::SCHEMA_VERSION, T::traits(), construct) }
    }

    async fn reconcile(&self, request: ApplyRequest<'_>) -> Result<State, ApplyFailure> {
        let shape = &self.shape;
        let olds = request.prior.and_then(|prior| prior.inputs.as_ref());
        let current = Current {
            olds: olds.map(|inputs| shape.recorded(&inputs.effective)).transpose()?,
            output: request.prior.map(|prior| shape.outputs(&prior.outputs)).transpose()?,
            bindings: request.bindings.to_vec(),
        };
        let receiver = shape.receiver(&request.desired.effective)?;
        let context = shape.context(request.config, request.context)?;
        let outputs = receiver.reconcile(&context, &current).await;
        // What a failed reconcile left was never brought to these inputs (RECONCILE-2), unless it is new and says so.
        let outputs = outputs.map_err(|error| {
            let whole = request.prior.is_none() && error.is_of_whole_object();
            let olds = request.prior.and_then(|prior| prior.inputs.clone());
            let reached = olds.or_else(|| whole.then(|| request.desired.without_ephemeral()));
            shape.apply_failure(&request, reached, error)
        })?;
        Ok(shape.state(Some(request.desired.clone()), request.prior, &outputs)?)
    }
}

impl<T: Converge> ResourceHandler for ConvergeHandler<T> {
    fn schema(&self) -> &ResourceSchema {
        &self.shape.schema
    }

    fn traits(&self) -> &Traits {
        &self.shape.traits
    }

    fn recovery(&self, inputs: &Value) -> Recovery {
        self.shape.recorded(inputs).map_or(Recovery::Blind, |receiver| receiver.recovery())
    }

    fn consistency_window(&self, inputs: &Value) -> Duration {
        let usual = self.shape.traits.consistency_window;
        self.shape.recorded(inputs).map_or(usual, |receiver| receiver.consistency_window())
    }

    fn delete_end(&self, inputs: &Value) -> DeleteEnd {
        self.shape.recorded(inputs).map_or_else(|_| DeleteEnd::default(), |receiver| receiver.delete_end())
    }

    fn place(&self, config: &Configured, inputs: &Value) -> Option<Value> {
        if !self.shape.traits.tells_place {
            return None;
        }
        self.shape.recorded(inputs).ok()?.place(config.get::<T::Config>()?)
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        planning::input_changes(&self.shape.schema, prior, current, &never_equivalent)
    }

    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change> {
        planning::drift(&self.shape.schema, recorded, observed, &never_equivalent)
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move { self.shape.check_schema(request.context, request.desired) })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(async move {
            self.shape.plan(request, &never_equivalent, HookKind::SaysNothingOfOutputs, T::diff)
        })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            let receiver = self.shape.recorded(request.inputs)?;
            let prior = self.shape.outputs(&request.state.outputs)?;
            let context = self.shape.context(request.config, request.context)?;
            let sightings = match receiver.read(&context, Some(&prior)).await {
                Err(error) if *error.class() == FailureClass::NotFound => return Ok(Observed::Absent),
                sightings => sightings.map_err(failure)?.0,
            };
            match sightings.as_deref() {
                None => Ok(Observed::Unreadable),
                Some([]) => Ok(Observed::Absent),
                Some([(outputs, _), ..]) => {
                    Ok(Observed::Present(Box::new(self.shape.refreshed(request.state, outputs)?)))
                }
            }
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async move {
            let inputs = &request.desired.effective;
            let receiver = match inputs.is_wholly_known() {
                true => self.shape.receiver(inputs)?,
                // A stub is looked for before all inputs are known: those that tell its identity are enough.
                false => self.shape.recorded(inputs)?,
            };
            let context = self.shape.context(request.config, request.context)?;
            let sightings = match receiver.read(&context, None).await {
                Err(error) if *error.class() == FailureClass::NotFound => return Ok(Some(Vec::new())),
                sightings => sightings.map_err(failure)?.0,
            };
            let Some(found) = sightings else { return Ok(None) };
            let sighting = |(outputs, ownership)| self.shape.sighting(None, &outputs, ownership);
            found.into_iter().map(sighting).collect::<Result<_, _>>().map(Some)
        })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(self.reconcile(request))
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(async move {
            let receiver = self.shape.recorded(request.inputs)?;
            let output = self.shape.outputs(&request.state.outputs)?;
            let context = self.shape.context(request.config, request.context)?;
            let deleted = receiver.delete(&context, &output).await;
            deleted.map_err(|error| self.shape.delete_failure(&request, error))
        })
    }

    fn moves_from(&self, type_name: &str) -> bool {
        T::MOVES_FROM.contains(&type_name)
    }

    fn migrates_current(&self) -> bool {
        false
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(async move {
            match request.from_type {
                None => self.shape.migrate(request.state, T::migrate),
                Some(other) => {
                    let moved = |version, raw| T::move_state(other, version, raw);
                    self.shape.take_over(request.state, other, moved)
                }
            }
        })
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        Box::pin(async move {
            let context = self.shape.context(request.config, request.context)?;
            let receiver = self.shape.recorded(&request.desired.effective)?;
            let outputs = receiver.import(&context, request.by_id()?).await.map_err(failure)?;
            let state = self.shape.state(None, None, &outputs)?;
            Ok(vec![Imported { type_name: self.type_name.clone(), state }])
        })
    }

    fn stub_inputs(&self, desired: &InputValues) -> StubInputs {
        // Inputs of the wrong form are told when they are checked.
        let Ok(view) = T::view(&desired.effective) else { return StubInputs::Impossible };
        let Some(stand_ins) = T::stub(&view) else { return StubInputs::Impossible };
        let entries = desired.effective.as_entries().into_iter().flat_map(Entries::iter);
        let (mut stub, mut lacking) = (desired.clone(), Vec::new());
        for (name, _) in entries.filter(|(_, value)| !value.is_wholly_known()) {
            match stand_ins.as_entries().and_then(|given| given.get(name)) {
                Some(value) => {
                    stub.effective = stub.effective.with_entry(name, value.clone());
                    stub.written = stub.written.with_entry(name, value.clone());
                }
                None => lacking.push(name.clone()),
            }
        }
        if lacking.is_empty() { StubInputs::Sufficient(stub) } else { StubInputs::Lacking(lacking) }
    }

    fn precreate<'a>(&'a self, request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let stub = self.stub_inputs(request.desired).into_result()?;
            let receiver = self.shape.receiver(&stub.effective)?;
            let context = self.shape.context(request.config, request.context)?;
            // A stub was never brought to any inputs of the program (RECONCILE-2).
            match receiver.precreate(&context).await {
                Ok(outputs) => Ok(self.shape.state(None, None, &outputs)?),
                Err(error) => Err(self.shape.stub_failure(error)),
            }
        })
    }
}
