//! The one form in which the engine calls resource types.
//!
//! Both typed contracts become a [`ResourceHandler`], and so does each type of a Terraform provider. Each verb has a
//! request and an answer of its own. A handler is shared by all resources of its type and keeps nothing between calls.
//!
//! **Guarantees** the engine gives: `apply` and `delete` are called only after their intent is durable; at most one
//! call at a time for one object; planning calls `validate`, `plan`, `read`, `lookup` and nothing else.
//! **Assumptions** it makes: `read`, `lookup` and `plan` change nothing; deleting what is gone succeeds; a method that
//! fails as *retryable* may be called again with the same request.

mod answers;
mod ephemeral;
mod requests;
mod traits;

pub use answers::{
    ApplyFailure, Imported, Observed, PlanAnswer, PrivateBytes, Sighting, StubInputs, Verdict,
};
pub use ephemeral::{EphemeralHandler, HeldOpen, Opened};
pub use requests::{
    ApplyRequest, CheckRequest, DataRequest, DeleteRequest, ImportRequest, LookupRequest, MigrateRequest,
    PlanRequest, PrecreateRequest, ReadRequest, ValidateRequest,
};
pub use traits::{DeleteEnd, FailedCreate, Recovery, Traits};

use std::time::Duration;

use trueup_core::schema::{Block, ResourceSchema};
use trueup_core::{Change, Diagnostics, Failure, FailureClass, Path, Value};

use crate::clock::BoxFuture;
use crate::ignored::{with_ignored, without_ignored_drift};
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// A resource type, as the engine sees it.
pub trait ResourceHandler: Send + Sync {
    /// What the type takes and gives.
    fn schema(&self) -> &ResourceSchema;

    /// How the type behaves, apart from its schema.
    fn traits(&self) -> &Traits;

    /// How a create whose outcome is unknown is resolved (CRASH-1). May depend on the inputs.
    fn recovery(&self, inputs: &Value) -> Recovery;

    /// How long an object that was just created or updated may stay invisible to a read or lookup. May depend on the
    /// inputs.
    fn consistency_window(&self, _inputs: &Value) -> Duration {
        self.traits().consistency_window
    }

    /// When the delete of an object of these inputs is over (DELETE-12).
    fn delete_end(&self, _inputs: &Value) -> DeleteEnd {
        DeleteEnd::default()
    }

    /// The place where a configuration puts the object of these inputs, one per object; `None` if the type cannot tell
    /// (DRIFT-11, REPLACE-11).
    fn place(&self, _config: &Configured, _inputs: &Value) -> Option<Value> {
        None
    }

    /// Where two inputs differ in a way that matters: canonical differences less those the type declares equivalent
    /// (CRUD-8).
    fn input_changes(&self, prior: &InputValues, current: &InputValues) -> Vec<Change>;

    /// Where an observed object differs from its record in a way that counts as drift (DRIFT-3).
    fn drift(&self, recorded: &State, observed: &State) -> Vec<Change>;

    /// The inputs with what the program ignores changes of as it is (PLAN-21): as it was recorded, unless the type knows
    /// better.
    fn keep_ignored(
        &self,
        desired: &InputValues,
        prior: &State,
        _observed: Option<&State>,
        ignored: &[Path],
    ) -> InputValues {
        let Some(recorded) = &prior.inputs else { return desired.clone() };
        InputValues {
            written: with_ignored(&desired.written, &recorded.written, ignored),
            effective: with_ignored(&desired.effective, &recorded.effective, ignored),
        }
    }

    /// The observed object as it is compared with its record (PLAN-21): with the recorded value at ignored positions,
    /// unless the type compares by itself.
    fn ignore_drift(&self, recorded: &State, observed: &State, ignored: &[Path]) -> State {
        let outputs = &self.schema().outputs;
        let outputs = without_ignored_drift(outputs, &recorded.outputs, &observed.outputs, ignored);
        State { outputs, ..observed.clone() }
    }

    /// Judges inputs beyond what the schema can say, at plan: values may be unknown.
    fn validate<'a>(&'a self, _request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { Diagnostics::new() })
    }

    /// Judges decoded inputs at apply, before anything is touched (CRUD-7).
    fn check<'a>(&'a self, request: CheckRequest<'a>) -> BoxFuture<'a, Result<(), Failure>>;

    /// Decides what to do and which outputs to expect. Called again at apply, on resolved values.
    fn plan<'a>(&'a self, request: PlanRequest<'a>) -> BoxFuture<'a, Result<PlanAnswer, Failure>>;

    /// Looks at an object whose state is known.
    fn read<'a>(&'a self, request: ReadRequest<'a>) -> BoxFuture<'a, Result<Observed, Failure>>;

    /// Looks for an object by its identity alone (ADOPT-1, CRASH-1). Empty if there is none, `None` if the type cannot
    /// look: the two must never be confused, or an object is made twice.
    fn lookup<'a>(
        &'a self,
        request: LookupRequest<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<Sighting>>, Failure>>;

    /// Creates the object, or brings it to the desired inputs in place.
    fn apply<'a>(&'a self, request: ApplyRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>>;

    /// Removes the object. One that is not there is a failure of the class *not-found*: the engine decides whether to believe
    /// it (DELETE-2). Any other failure may know what is left of the object.
    fn delete<'a>(&'a self, request: DeleteRequest<'a>) -> BoxFuture<'a, Result<(), ApplyFailure>>;

    /// Whether the type can take over the state of another one (PLAN-20).
    fn moves_from(&self, _type_name: &str) -> bool {
        false
    }

    /// Whether [`Self::migrate`] may change state of the current schema version too. If not, it is not called for such.
    fn migrates_current(&self) -> bool {
        true
    }

    /// Brings state of an older schema version, or of another type, to the current one (CRUD-10, PLAN-20).
    fn migrate<'a>(&'a self, request: MigrateRequest<'a>) -> BoxFuture<'a, Result<State, Failure>>;

    /// Finds objects by the id a person gives.
    fn import<'a>(&'a self, request: ImportRequest<'a>) -> BoxFuture<'a, Result<Vec<Imported>, Failure>>;

    /// The inputs that a stub would have, of inputs that may not be known yet (BIND-4).
    fn stub_inputs(&self, _desired: &InputValues) -> StubInputs {
        StubInputs::Impossible
    }

    /// Makes a stub of the object, so that others of a cycle can refer to it (BIND-4).
    fn precreate<'a>(&'a self, _request: PrecreateRequest<'a>) -> BoxFuture<'a, Result<State, ApplyFailure>> {
        Box::pin(async { Err(Failure::new(FailureClass::Fatal, "this type makes no stubs").into()) })
    }
}

/// A data source type, as the engine sees it.
pub trait DataHandler: Send + Sync {
    /// What it takes.
    fn inputs(&self) -> &Block;

    /// What it gives.
    fn outputs(&self) -> &Block;

    /// Judges inputs beyond what the schema can say, at plan: values may be unknown.
    fn validate<'a>(&'a self, _request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { Diagnostics::new() })
    }

    /// Reads it. The answer has the form of `outputs`.
    fn read<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Value, Failure>>;
}

/// The configuration of another provider reached this handler: a mistake in whoever wired them.
pub(crate) fn foreign_configuration(config: &Configured) -> Failure {
    Failure::new(FailureClass::Fatal, format!("the provider was handed a foreign configuration: {config:?}"))
}
