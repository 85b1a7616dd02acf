//! Resource types as the engine sees them, whatever contract they implement: for providers whose types are known only while
//! they run, and for tests that call a type as the engine would.

pub use trueup_program::{DataDeclaration, OutputDeclaration, ResourceDeclaration};
pub use trueup_program::{Evaluated, Expression, Node, Place, ProviderDeclaration, Reference, Scope};
pub use trueup_provider::{
    ApplyFailure, ApplyRequest, CheckRequest, Configured, DataHandler, DataRequest, DeleteRequest,
    EphemeralHandler, HeldOpen, ImportRequest, Imported, InputValues, LookupRequest, MigrateRequest,
    ModuleMetas, Observed, Opened, PlanAnswer, PlanRequest, PrecreateRequest, PrivateBytes, ProgressSink,
    ProviderAddress, ProviderFunction, ProviderPanic, ProviderSource, ReadRequest, ResourceHandler, Sighting,
    State, StubInputs, ValidateRequest, Verdict, WarningSink, provider_named, with_ignored,
};
