#![doc = include_str!("../../../docs/first-resource.md")]
//!
//! # What is here
//! - [`Crud`], [`Converge`], [`DataSource`]: the contracts, implemented on a struct that derives [`Inputs`]
//! - [`NativeProvider`], [`Registry`]: how types are named and found
//! - [`Stack`], [`Reconciler`]: programs, and what plans and deploys them
//! - [`Expr`]: references to other resources' outputs, and what can be made of them
//! - [`Value`], [`schema`], [`Diagnostic`]: what everything is made of
//! - `cli`, with the feature of that name: the command line for a stack that is declared in Rust
//! - `plugin`, with the feature of that name: serves a provider to Terraform
//! - `conformance`, with the feature of that name: drives a resource type through its whole life and checks it

#[cfg(feature = "cli")]
pub use trueup_cli::{Deployment, cli};
#[cfg(feature = "conformance")]
pub use trueup_conformance as conformance;
pub use trueup_core::{
    Address, AddressError, Change, Diagnostic, Diagnostics, Failure, FailureClass, FieldError, FieldSchema,
    FieldType, FileId, InstanceKey, JsonForm, Kind, Marked, Mode, ModulePath, ModuleStep, Number, Origin,
    Path, Report, Secret, Severity, SourceMap, Step, Style, Type, Value, diff, schema, value,
};
pub use trueup_engine::{
    Action, Cancellation, ConsoleLines, Declared, DeployOptions, Deployed, EngineError, Event, EventKind,
    EventSink, Grant, Holder, JsonLines, Operation, Outcome, Plan, PlanOptions, PlannedAction, PlannedMove,
    Random, Reason, Reconciler, ReplaceOrder, RunReport, SeededRandom, Stack, Subscriber, SystemRandom,
};
#[cfg(feature = "plugin")]
pub use trueup_plugin as plugin;
pub use trueup_program::{
    DriftPolicy, Program, ResourceDeclaration, ResourceOptions, RetryPolicy, RetrySettings,
};
pub use trueup_program::{Evaluated, Expr, Expression, IntoExpr, Referable, Reference, Scope, list, map};
pub use trueup_provider::*;
pub use trueup_state::{MemoryStore, Store, StoreError};

/// Runs a program's asynchronous part to its end, on this thread.
///
/// # Panics
/// If the operating system gives the runtime no resources, or if called inside a runtime.
pub fn run<T>(program: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the operating system has room for a runtime").block_on(program)
}
