//! The contracts that resource types implement, and the one form in which the engine calls them.
//!
//! - [`Crud`], [`Converge`], [`DataSource`]: what an author writes
//! - [`NativeProvider`], [`Registry`]: how types are named and found
//! - [`ResourceHandler`], [`DataHandler`], [`EphemeralHandler`], [`Provider`]: what the engine calls; a Terraform provider satisfies them too
//! - [`Context`], [`Error`]: what a method knows, and how it fails
//!
//! This crate decides nothing about order, retries or state: that is the engine's.

mod binding;
mod clock;
mod context;
mod contract;
#[doc(hidden)]
pub mod derive_support;
mod error;
mod guard;
mod handler;
mod identity;
mod ignored;
mod native;
mod planning;
mod preset;
mod provider;
mod provider_address;
mod registry;
mod state;

pub use binding::Binding;
pub use clock::{BoxFuture, Clock, RuntimeClock};
pub use context::{CallContext, Context, ModuleMetas, NoConfig, ProgressSink, WarningSink};
pub use contract::{
    Args, Converge, Crud, Current, DataSource, Diff, Field, Found, Inputs, Managed, ModifyPlan,
    NothingInjected, Outputs, PlanHook, PlanHookRequest, Planned, Prior, PriorView, RawState, Sightings,
    changed,
};
pub use error::{Error, OrAbsent, Result};
pub use guard::ProviderPanic;
pub use handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DataHandler, DataRequest, DeleteEnd, DeleteRequest,
    EphemeralHandler, FailedCreate, HeldOpen, ImportRequest, Imported, LookupRequest, MigrateRequest,
    Observed, Opened, PlanAnswer, PlanRequest, PrecreateRequest, PrivateBytes, ReadRequest, Recovery,
    ResourceHandler, Sighting, StubInputs, Traits, ValidateRequest, Verdict,
};
pub use identity::{GenerationNumber, IdempotencyToken, NameRules, Owner, Ownership, Slot};
pub use ignored::with_ignored;
pub use preset::Preset;
pub use provider::{Configured, NativeProvider, Provider, ProviderFunction};
pub use provider_address::{ProviderAddress, provider_named};
pub use registry::{ProviderSource, Registry};
pub use state::{InputValues, State};
pub use trueup_derive::{FieldType, Inputs, Outputs};
