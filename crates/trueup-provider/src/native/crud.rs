//! A CRUD type as a handler.

use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::schema::ResourceSchema;
use trueup_core::{Change, Failure, FailureClass, Value};

use super::shape::{Constructor, HookKind, TypeShape, failure};
use crate::clock::BoxFuture;
use crate::contract::{Crud, Found, Prior};
use crate::handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DeleteEnd, DeleteRequest, ImportRequest, Imported,
    LookupRequest, MigrateRequest, Observed, PlanAnswer, PlanRequest, ReadRequest, Recovery, ResourceHandler,
    Sighting, Traits,
};
use crate::planning;
use crate::provider::Configured;
use crate::state::{InputValues, State};

pub(crate) struct CrudHandler<T: Crud> {
    type_name: SmolStr,
    shape: TypeShape<T, T::Output, T::Config>,
}

impl<T: Crud> CrudHandler<T> {
    pub(crate) fn new(type_name: SmolStr, construct: Constructor<T>) -> Self {
        CrudHandler { type_name, shape: TypeShape::new(T::SCHEMA_VERSION, T::traits(), construct) }
    }

    /// Whether the type takes two inputs for the same in a field. What does not decode is not equivalent.
    fn equivalent(&self, field: &str, prior: &Value, current: &Value) -> bool {
        match (self.shape.receiver(prior), self.shape.receiver(current)) {
            (Ok(prior), Ok(current)) => T::equivalent_input(field, &prior, &current),
            _ => false,
        }
    }

    async fn update(&self, request: ApplyRequest<'_>, prior: &State) -> Result<State, ApplyFailure> {
        let shape = &self.shape;
        let Some(inputs) = &prior.inputs else {
            let message = "the recorded object has no inputs to update from";
            return Err(Failure::new(FailureClass::Fatal, message).into());
        };
        let known = Prior {
            inputs: shape.recorded(&inputs.effective)?,
            outputs: shape.outputs(&prior.outputs)?,
            observed: request.observed.map(|state| shape.outputs(&state.outputs)).transpose()?,
        };
        let receiver = shape.receiver(&request.desired.effective)?;
        let context = shape.context(request.config, request.context)?;
        let outputs = receiver.update(&context, &known).await;
        let outputs = outputs.map_err(|error| shape.apply_failure(&request, prior.inputs.clone(), error))?;
        Ok(shape.state(Some(request.desired.clone()), Some(prior), &outputs)?)
    }

    async fn create(&self, request: ApplyRequest<'_>) -> Result<State, ApplyFailure> {
        let receiver = self.shape.receiver(&request.desired.effective)?;
        let context = self.shape.context(request.config, request.context)?;
        let outputs = receiver.create(&context).await;
        // A half-made object counts as having the inputs it was made for: an update finishes it (CRASH-2).
        let outputs = outputs
            .map_err(|error| self.shape.apply_failure(&request, Some(request.desired.clone()), error))?;
        Ok(self.shape.state(Some(request.desired.clone()), None, &outputs)?)
    }
}

impl<T: Crud> ResourceHandler for CrudHandler<T> {
    fn schema(&self) -> &ResourceSchema {
        &self.shape.schema
    }

    fn traits(&self) -> &Traits {
        &self.shape.traits
    }

    fn recovery(&self, inputs: &Value) -> Recovery {
        self.shape.receiver(inputs).map_or(Recovery::Blind, |receiver| receiver.recovery())
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
        let equivalent = |field: &str, prior: &Value, current: &Value| self.equivalent(field, prior, current);
        planning::input_changes(&self.shape.schema, prior, current, &equivalent)
    }

    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change> {
        let equivalent = |field: &str, prior: &Value, current: &Value| self.equivalent(field, prior, current);
        planning::drift(&self.shape.schema, recorded, observed, &equivalent)
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            self.shape.check_schema(request.context, request.desired)?;
            let receiver = self.shape.receiver(&request.desired.effective)?;
            let context = self.shape.context(request.config, request.context)?;
            receiver.validate_inputs(&context).await.map_err(failure)
        })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(async move {
            let equivalent =
                |field: &str, prior: &Value, current: &Value| self.equivalent(field, prior, current);
            self.shape.plan(request, &equivalent, HookKind::KeepsOutputs, T::modify_plan)
        })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            let receiver = self.shape.recorded(request.inputs)?;
            let prior = self.shape.outputs(&request.state.outputs)?;
            let context = self.shape.context(request.config, request.context)?;
            match receiver.read(&context, &prior).await {
                Ok(outputs) => {
                    Ok(Observed::Present(Box::new(self.shape.refreshed(request.state, &outputs)?)))
                }
                Err(error) if *error.class() == FailureClass::NotFound => Ok(Observed::Absent),
                Err(error) => Err(failure(error)),
            }
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async move {
            let receiver = self.shape.receiver(&request.desired.effective)?;
            let context = self.shape.context(request.config, request.context)?;
            let sightings = match receiver.lookup(&context).await {
                Err(error) if *error.class() == FailureClass::NotFound => return Ok(Some(Vec::new())),
                sightings => sightings.map_err(failure)?,
            };
            let Some(found) = sightings.0 else { return Ok(None) };
            let sighting = |(found, ownership): (Found<T, T::Output>, _)| {
                let inputs = self.shape.observed_inputs(&found.inputs)?;
                self.shape.sighting(Some(inputs), &found.outputs, ownership)
            };
            found.into_iter().map(sighting).collect::<Result<_, _>>().map(Some)
        })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            match request.prior {
                Some(prior) => self.update(request, prior).await,
                None => self.create(request).await,
            }
        })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(async move {
            let receiver = self.shape.recorded(request.inputs)?;
            let prior = self.shape.outputs(&request.state.outputs)?;
            let context = self.shape.context(request.config, request.context)?;
            let deleted = receiver.delete(&context, &prior).await;
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
            let found = receiver.import(&context, request.by_id()?).await.map_err(failure)?;
            let inputs = self.shape.observed_inputs(&found.inputs)?;
            let state = self.shape.state(Some(inputs), None, &found.outputs)?;
            Ok(vec![Imported { type_name: self.type_name.clone(), state }])
        })
    }
}
