//! What the engine asks of a handler.

use trueup_core::{Failure, FailureClass, Value};

use super::answers::PrivateBytes;
use crate::binding::Binding;
use crate::context::CallContext;
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// Asks whether inputs are sound, at plan.
#[derive(Clone, Copy, Debug)]
pub struct ValidateRequest<'a> {
    /// The provider's configuration; `None` while it is unknown.
    pub config: Option<&'a Configured>,
    /// What the program wrote, unknown parts included.
    pub inputs: &'a InputValues,
}

/// Asks whether inputs are sound, at apply.
#[derive(Clone, Copy, Debug)]
pub struct CheckRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The resolved inputs.
    pub desired: &'a InputValues,
    /// The call.
    pub context: &'a CallContext,
}

/// Asks what to do.
#[derive(Clone, Copy, Debug)]
pub struct PlanRequest<'a> {
    /// The provider's configuration; `None` while it is unknown.
    pub config: Option<&'a Configured>,
    /// The inputs to bring the object to, unknown parts included.
    pub desired: &'a InputValues,
    /// The recorded object; `None` if there is none, or if it is gone.
    pub prior: Option<&'a State>,
    /// The inputs of the attempt that an unfinished object comes from. A delete of it has these.
    pub attempted: Option<&'a InputValues>,
    /// The object as it was last read, if it was.
    pub observed: Option<&'a State>,
    /// What others attach to it now.
    pub bindings: &'a [Binding],
    /// What others had attached to it.
    pub prior_bindings: &'a [Binding],
    /// The private bytes of the recorded object, or of an earlier plan for the same object.
    pub private: &'a PrivateBytes,
    /// Whether a new object is planned that takes the place of a recorded one, so that its name and number are not those of
    /// the call.
    pub replaces: bool,
    /// The call, with the identity.
    pub context: &'a CallContext,
}

/// Asks how an object is.
#[derive(Clone, Copy, Debug)]
pub struct ReadRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The recorded inputs, or those that the last attempt was for.
    pub inputs: &'a Value,
    /// The recorded object.
    pub state: &'a State,
    /// The call.
    pub context: &'a CallContext,
}

/// Asks whether there is an object of this identity.
#[derive(Clone, Copy, Debug)]
pub struct LookupRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The inputs the object would have.
    pub desired: &'a InputValues,
    /// Whether a create of the object was cut off, so that what is there is what came of it (CRASH-1). Types that cannot
    /// tell whose an object is may say by this that it is ours.
    pub interrupted: bool,
    /// The call, with the identity.
    pub context: &'a CallContext,
}

/// Asks to create an object or to bring it to its desired inputs.
#[derive(Clone, Copy, Debug)]
pub struct ApplyRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The resolved inputs.
    pub desired: &'a InputValues,
    /// The outputs that were planned.
    pub planned: &'a Value,
    /// The private bytes that planning returned.
    pub private: &'a PrivateBytes,
    /// The object as it was; `None` to create it.
    pub prior: Option<&'a State>,
    /// The object as it was read at plan, if it was.
    pub observed: Option<&'a State>,
    /// What others attach to it.
    pub bindings: &'a [Binding],
    /// The call.
    pub context: &'a CallContext,
}

/// Asks to remove an object.
#[derive(Clone, Copy, Debug)]
pub struct DeleteRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The recorded inputs, or those that the last attempt was for.
    pub inputs: &'a Value,
    /// The object.
    pub state: &'a State,
    /// The call.
    pub context: &'a CallContext,
}

/// Asks to bring recorded state to the current schema version.
#[derive(Clone, Debug)]
pub struct MigrateRequest<'a> {
    /// The provider's configuration; `None` while it is unknown.
    pub config: Option<&'a Configured>,
    /// The recorded state.
    pub state: State,
    /// The type it was recorded under, if that is another one.
    pub from_type: Option<&'a str>,
    /// The call.
    pub context: &'a CallContext,
}

/// Asks for the objects behind an id.
#[derive(Clone, Copy, Debug)]
pub struct ImportRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The id, as a person gave it; empty where an identity is given instead.
    pub id: &'a str,
    /// What identifies the object, as an object of its own.
    pub identity: Option<&'a Value>,
    /// The inputs of the resource that it is to become, unknown parts included.
    pub desired: &'a InputValues,
    /// The call.
    pub context: &'a CallContext,
}

impl<'a> ImportRequest<'a> {
    /// The id, for types that know objects by nothing else.
    pub fn by_id(&self) -> Result<&'a str, Failure> {
        match self.identity {
            None => Ok(self.id),
            Some(_) => {
                Err(Failure::new(FailureClass::Invalid, "this type is imported by an id, not by an identity")
                    .hint("write `id = …`"))
            }
        }
    }
}

/// Asks for a stub.
#[derive(Clone, Copy, Debug)]
pub struct PrecreateRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The inputs as far as they are known: as many as a stub needs.
    pub desired: &'a InputValues,
    /// The call.
    pub context: &'a CallContext,
}

/// Asks for the answer of a data source.
#[derive(Clone, Copy, Debug)]
pub struct DataRequest<'a> {
    /// The provider's configuration.
    pub config: &'a Configured,
    /// The resolved inputs.
    pub inputs: &'a InputValues,
    /// The call.
    pub context: &'a CallContext,
}
