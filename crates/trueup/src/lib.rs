#![doc = include_str!("guide.md")]

#[cfg(feature = "conformance")]
pub use trueup_conformance as conformance;

pub mod handler;
#[cfg(feature = "lang")]
pub mod lang;
pub mod stores;

// Resource types, data sources and providers.
#[cfg(feature = "plugin")]
pub use trueup_plugin as plugin;
#[doc(hidden)]
pub use trueup_provider::derive_support;
pub use trueup_provider::{
    Args, Binding, BoxFuture, CallContext, Clock, Context, Converge, Crud, Current, DataSource, DeleteEnd,
    Diff, Error, FailedCreate, Field, FieldType, Found, GenerationNumber, IdempotencyToken, Inputs, Managed,
    ModifyPlan, NameRules, NativeProvider, NoConfig, NothingInjected, OrAbsent, Outputs, Owner, Ownership,
    PlanHook, PlanHookRequest, Planned, Preset, Prior, PriorView, Provider, RawState, Recovery, Registry,
    Result, RuntimeClock, Sightings, Slot, Traits, changed,
};

// Stacks and the expressions in them.
pub use trueup_engine::{Declared, DeclaredData, Depends, ProviderConfiguration, Removal, Stack};
pub use trueup_program::{
    DriftPolicy, Expr, IntoExpr, Program, Referable, ResourceOptions, RetryPolicy, RetrySettings, Timeouts,
    list, map,
};

// The command line for a stack.
#[cfg(feature = "cli")]
pub use trueup_cli::{Declaration, Deployment, cli, cli_with};
#[cfg(feature = "cli")]
pub use trueup_front_end::{StackSettings, StateSettings};

// The engine, for programs that run it themselves.
pub use trueup_engine::{
    Action, Cancellation, ConsoleLines, DeployOptions, Deployed, EngineError, Event, EventKind, EventSink,
    Grant, Holder, JsonLines, Operation, Outcome, Plan, PlanOptions, PlannedAction, PlannedMove, Random,
    Reason, Reconciler, ReplaceOrder, RunReport, SeededRandom, Subscriber, SystemRandom,
};
pub use trueup_state::{MemoryStore, Store, StoreError};

// Values, and what everything else is made of.
pub use trueup_core::{
    Address, AddressError, AddressRange, Change, Diagnostic, Diagnostics, Failure, FailureClass, FieldError,
    FieldSchema, FieldType, FileId, InstanceKey, JsonForm, Kind, Marked, Mode, ModulePath, ModuleStep,
    Number, Origin, Path, Report, Secret, Severity, SourceMap, Step, Style, Type, Value, diff, schema, value,
};

/// Runs a program's asynchronous part to its end, on this thread.
///
/// # Panics
/// If the operating system gives the runtime no resources, or if called inside a runtime.
pub fn run<T>(program: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the operating system has room for a runtime").block_on(program)
}

/// The programs of the book's page, as tests.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../../../docs/rust-stacks.md")]
pub struct RustStacks;
