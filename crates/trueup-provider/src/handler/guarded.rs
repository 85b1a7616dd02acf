//! A guard around handlers that are not typed Rust: what they answer is checked against their own schema, and their
//! words are shown without the secrets they were given.
//!
//! Typed contracts need none of this: their answers are Rust structs, and their errors pass the same filter already.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::schema::{Block, ResourceSchema};
use trueup_core::{Change, Diagnostics, Failure, FailureClass, Kind, Path, SecretTexts, Value, convert};

use super::{
    ApplyFailure, ApplyRequest, CheckRequest, DataHandler, DataRequest, DeleteRequest, EphemeralHandler,
    ImportRequest, Imported, LookupRequest, MigrateRequest, Observed, Opened, PlanAnswer, PlanRequest,
    PrecreateRequest, ReadRequest, Recovery, ResourceHandler, Sighting, StubInputs, Traits, ValidateRequest,
};
use crate::clock::BoxFuture;
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// A resource type that is not trusted to keep to its schema.
pub(crate) struct Guarded(pub(crate) Arc<dyn ResourceHandler>);

/// A data source that is not trusted to keep to its schema.
pub(crate) struct GuardedData(pub(crate) Arc<dyn DataHandler>);

/// An ephemeral resource that is not trusted to keep to its schema.
pub(crate) struct GuardedEphemeral(pub(crate) Arc<dyn EphemeralHandler>);

impl Guarded {
    /// The state as it was answered, if its outputs are what the schema promises.
    fn accept(&self, state: State) -> Result<State, ApplyFailure> {
        match mismatch(&self.0.schema().outputs, &state.outputs) {
            None => Ok(state),
            // The object is there all the same: what is known of it is kept.
            Some(failure) => Err(ApplyFailure { failure, partial: Some(Box::new(state)) }),
        }
    }
}

impl ResourceHandler for Guarded {
    fn schema(&self) -> &ResourceSchema {
        self.0.schema()
    }

    fn traits(&self) -> &Traits {
        self.0.traits()
    }

    fn recovery(&self, inputs: &Value) -> Recovery {
        self.0.recovery(inputs)
    }

    fn consistency_window(&self, inputs: &Value) -> Duration {
        self.0.consistency_window(inputs)
    }

    fn place(&self, config: &Configured, inputs: &Value) -> Option<Value> {
        self.0.place(config, inputs)
    }

    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change> {
        self.0.input_changes(prior, current)
    }

    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change> {
        self.0.drift(recorded, observed)
    }

    fn keep_ignored(
        &self,
        desired: &InputValues,
        prior: &State,
        observed: Option<&State>,
        ignored: &[Path],
    ) -> InputValues {
        self.0.keep_ignored(desired, prior, observed, ignored)
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let secrets = SecretTexts::of([&request.inputs.effective]);
            secrets.concealed(self.0.validate(request).await)
        })
    }

    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            let checked = self.0.check(request).await;
            checked.map_err(|failure| failure.without_secrets_of([&request.desired.effective]))
        })
    }

    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>> {
        Box::pin(async move {
            let prior = request.prior.map(|prior| &prior.outputs);
            let given = || prior.into_iter().chain([&request.desired.effective]);
            let context = request.context.concealing(given());
            let planned = self.0.plan(PlanRequest { context: &context, ..request }).await;
            let mut planned = planned.map_err(|failure| failure.without_secrets_of(given()))?;
            planned.diagnostics = SecretTexts::of(given()).concealed(planned.diagnostics);
            Ok(planned)
        })
    }

    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>> {
        Box::pin(async move {
            let given = [request.inputs, &request.state.outputs];
            let context = request.context.concealing(given);
            let read = self.0.read(ReadRequest { context: &context, ..request }).await;
            let observed = read.map_err(|failure| failure.without_secrets_of(given))?;
            match observed {
                Observed::Present(state) => match self.accept(*state) {
                    Ok(state) => Ok(Observed::Present(Box::new(state))),
                    Err(refused) => Err(refused.failure),
                },
                seen @ (Observed::Absent | Observed::Unreadable) => Ok(seen),
            }
        })
    }

    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>> {
        Box::pin(async move {
            let found = self.0.lookup(request).await;
            found.map_err(|failure| failure.without_secrets_of([&request.desired.effective]))
        })
    }

    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let prior = request.prior.map(|prior| &prior.outputs);
            let bound = || request.bindings.iter().map(|binding| &binding.payload);
            let given = || prior.into_iter().chain([&request.desired.effective]).chain(bound());
            let context = request.context.concealing(given());
            match self.0.apply(ApplyRequest { context: &context, ..request }).await {
                Ok(state) => self.accept(state),
                Err(ApplyFailure { failure, partial }) => {
                    Err(ApplyFailure { failure: failure.without_secrets_of(given()), partial })
                }
            }
        })
    }

    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>> {
        Box::pin(async move {
            let given = [request.inputs, &request.state.outputs];
            let context = request.context.concealing(given);
            let deleted = self.0.delete(DeleteRequest { context: &context, ..request }).await;
            deleted.map_err(|ApplyFailure { failure, partial }| ApplyFailure {
                failure: failure.without_secrets_of(given),
                partial,
            })
        })
    }

    fn moves_from(&self, type_name: &str) -> bool {
        self.0.moves_from(type_name)
    }

    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>> {
        Box::pin(async move {
            let (before, same_type) = (request.state.schema_version, request.from_type.is_none());
            let migrated = self.0.migrate(request).await?;
            // What was recorded as it came, in the hope of better answers, is not held against the record.
            if migrated.schema_version == before && same_type {
                return Ok(migrated);
            }
            self.accept(migrated).map_err(|refused| refused.failure)
        })
    }

    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>> {
        self.0.import(request)
    }

    fn stub_inputs(&self, desired: &InputValues) -> StubInputs {
        self.0.stub_inputs(desired)
    }

    fn precreate<'a>(&'a self, request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async move {
            let given = [&request.desired.effective];
            let context = request.context.concealing(given);
            match self.0.precreate(PrecreateRequest { context: &context, ..request }).await {
                Ok(state) => self.accept(state),
                Err(ApplyFailure { failure, partial }) => {
                    Err(ApplyFailure { failure: failure.without_secrets_of(given), partial })
                }
            }
        })
    }
}

impl DataHandler for GuardedData {
    fn inputs(&self) -> &Block {
        self.0.inputs()
    }

    fn outputs(&self) -> &Block {
        self.0.outputs()
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let secrets = SecretTexts::of([&request.inputs.effective]);
            secrets.concealed(self.0.validate(request).await)
        })
    }

    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async move {
            let given = [&request.inputs.effective];
            let context = request.context.concealing(given);
            let read = self.0.read(DataRequest { context: &context, ..request }).await;
            let outputs = read.map_err(|failure| failure.without_secrets_of(given))?;
            mismatch(self.outputs(), &outputs).map_or(Ok(outputs), Err)
        })
    }
}

impl EphemeralHandler for GuardedEphemeral {
    fn schema(&self) -> &Block {
        self.0.schema()
    }

    fn validate<'a>(&'a self, request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async move {
            let secrets = SecretTexts::of([&request.inputs.effective]);
            secrets.concealed(self.0.validate(request).await)
        })
    }

    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>> {
        Box::pin(async move {
            let given = [&request.inputs.effective];
            let context = request.context.concealing(given);
            let opened = self.0.open(DataRequest { context: &context, ..request }).await;
            let opened = opened.map_err(|failure| failure.without_secrets_of(given))?;
            mismatch(self.schema(), &opened.outputs).map_or(Ok(opened), Err)
        })
    }
}

/// What is wrong with outputs that a provider answered, if anything.
fn mismatch(block: &Block, outputs: &Value) -> Option<Failure> {
    let wrong = |what: String| {
        let message = format!("the provider's answer does not match its own schema: {what}");
        Some(
            Failure::new(FailureClass::Fatal, message)
                .hint("this is a mistake in the provider: report it there"),
        )
    };
    let (Kind::Object(entries) | Kind::Map(entries)) = outputs.kind() else {
        return wrong(format!("expected an object, found {}", outputs.kind_name()));
    };
    for (name, value) in entries.iter() {
        let ty = match (block.attributes.get(name), block.blocks.get(name)) {
            (Some(attribute), _) => attribute.shape.implied_type(),
            (None, Some(nested)) => nested.shape().implied_type(),
            (None, None) => return wrong(format!("it has no attribute `{name}`")),
        };
        if !value.is_wholly_known() {
            return wrong(format!("`{name}` is still unknown"));
        }
        if !value.is_null()
            && let Err(mismatches) = convert(value, &ty)
        {
            let told: Vec<String> = mismatches.into_iter().map(|it| it.message).collect();
            return wrong(format!("`{name}`: {}", told.join("; ")));
        }
    }
    None
}
