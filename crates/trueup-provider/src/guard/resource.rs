//! The guard around a resource type.

use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;
use trueup_core::schema::ResourceSchema;
use trueup_core::{Change, Diagnostics, Failure, Path, Value};

use super::Guard;
use super::panics::marked;
use super::schema::mismatch;
use crate::clock::BoxFuture;
use crate::handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DeleteEnd, DeleteRequest, ImportRequest, Imported,
    LookupRequest, MigrateRequest, Observed, PlanAnswer, PlanRequest, PrecreateRequest, ReadRequest,
    Recovery, ResourceHandler, Sighting, StubInputs, Traits, ValidateRequest,
};
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// A resource type that shows no secret.
pub(super) struct GuardedResource {
    pub(super) type_name: SmolStr,
    pub(super) handler: Arc<dyn ResourceHandler>,
    pub(super) guard: Guard,
}

impl GuardedResource {
    /// What the type answers at once.
    fn at_once<T>(&self, method: &'static str, call: impl FnOnce(&dyn ResourceHandler) -> T) -> T {
        marked(&self.type_name, method, || call(&*self.handler))
    }

    /// The state as it was answered, if its outputs are what the schema promises.
    fn accept(&self, state: State) -> Result<State, ApplyFailure> {
        if self.guard.is_typed {
            return Ok(state);
        }
        match mismatch(&self.handler.schema().outputs, &state.outputs) {
            None => Ok(state),
            // The object is there all the same: what is known of it is kept.
            Some(failure) => Err(ApplyFailure { failure, partial: Some(Box::new(state)) }),
        }
    }

    fn accept_observed(&self, observed: Observed) -> Result<Observed, Failure> {
        match observed {
            Observed::Present(state) => match self.accept(*state) {
                Ok(state) => Ok(Observed::Present(Box::new(state))),
                Err(refused) => Err(refused.failure),
            },
            seen @ (Observed::Absent | Observed::Unreadable) => Ok(seen),
        }
    }

    async fn migrated(&self, request: MigrateRequest<'_>) -> Result<State, Failure> {
        let (before, same_type) = (request.state.schema_version, request.from_type.is_none());
        let migrated = self.handler.migrate(request).await?;
        // What was recorded as it came, in the hope of better answers, is not held against the record.
        if migrated.schema_version == before && same_type {
            return Ok(migrated);
        }
        self.accept(migrated).map_err(|refused| refused.failure)
    }
}

impl ResourceHandler for GuardedResource {
    fn schema(&self) -> &ResourceSchema {
        self.handler.schema()
    }

    fn traits(&self) -> &Traits {
        self.handler.traits()
    }

    fn recovery(&self, inputs: &Value) -> Recovery {
        self.at_once("recovery", |handler| handler.recovery(inputs))
    }

    fn consistency_window(&self, inputs: &Value) -> Duration {
        self.at_once("consistency_window", |handler| handler.consistency_window(inputs))
    }

    fn delete_end(&self, inputs: &Value) -> DeleteEnd {
        self.at_once("delete_end", |handler| handler.delete_end(inputs))
    }

    fn place(&self, config: &Configured, inputs: &Value) -> Option<Value> {
        self.at_once("place", |handler| handler.place(config, inputs))
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        self.at_once("input_changes", |handler| handler.input_changes(prior, current))
    }

    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change> {
        self.at_once("drift", |handler| handler.drift(recorded, observed))
    }

    fn keep_ignored(
        &self,
        desired: &InputValues,
        prior: &State,
        observed: Option<&State>,
        ignored: &[Path],
    ) -> InputValues {
        self.at_once("keep_ignored", |handler| handler.keep_ignored(desired, prior, observed, ignored))
    }

    fn ignore_drift(&self, recorded: &State, observed: &State, ignored: &[Path]) -> State {
        self.at_once("ignore_drift", |handler| handler.ignore_drift(recorded, observed, ignored))
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            given.cleaned(self.handler.validate(request).await)
        })
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.handler.check(CheckRequest { context: &context, ..request }).await)
        })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.handler.plan(PlanRequest { context: &context, ..request }).await)
        })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            let read = self.handler.read(ReadRequest { context: &context, ..request }).await;
            given.cleaned(read.and_then(|observed| self.accept_observed(observed)))
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.handler.lookup(LookupRequest { context: &context, ..request }).await)
        })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            let applied = self.handler.apply(ApplyRequest { context: &context, ..request }).await;
            given.cleaned(applied.and_then(|state| self.accept(state)))
        })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.handler.delete(DeleteRequest { context: &context, ..request }).await)
        })
    }

    fn moves_from(&self, type_name: &str) -> bool {
        self.at_once("moves_from", |handler| handler.moves_from(type_name))
    }

    fn migrates_current(&self) -> bool {
        self.at_once("migrates_current", |handler| handler.migrates_current())
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.migrated(MigrateRequest { context: &context, ..request }).await)
        })
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            given.cleaned(self.handler.import(ImportRequest { context: &context, ..request }).await)
        })
    }

    fn stub_inputs(&self, desired: &InputValues) -> StubInputs {
        self.at_once("stub_inputs", |handler| handler.stub_inputs(desired))
    }

    fn precreate<'a>(&'a self, request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let given = self.guard.given(&request);
            let context = request.context.scrubbed_by(&given);
            let made = self.handler.precreate(PrecreateRequest { context: &context, ..request }).await;
            given.cleaned(made.and_then(|state| self.accept(state)))
        })
    }
}
