//! Programs as data: what front ends hand to the engine.
//!
//! - [`Program`]: all that is declared: resources, data sources, outputs, moves, imports
//! - [`Expression`]: how an input comes about, from literals and from other resources' outputs
//! - [`Expr`], [`IntoExpr`]: the same with a Rust type, so that wrong ones don't compile
//! - [`FunctionCall`]: a call of a provider's function, which evaluation cannot make itself
//! - [`Premise`]: something that a program followed from, besides its texts
//! - [`Arguments`]: what the derived args builders fill
//!
//! Evaluation is pure: it asks a [`Scope`] for outputs, and never calls anything on unknown values.

mod arguments;
mod evaluate;
mod expression;
mod function_call;
mod premise;
mod program;
mod retry;
mod typed;

pub use arguments::Arguments;
pub use evaluate::{Evaluated, Scope};
pub use expression::{Computed, Expression, Function, Node, Place, Reference};
pub use function_call::{FunctionAnswer, FunctionAnswers, FunctionCall};
pub use premise::{Premise, PremiseKind};
pub use program::{
    BindingDeclaration, CheckDeclaration, DataDeclaration, Deferral, DriftPolicy, ImportDeclaration,
    MoveDeclaration, OutputDeclaration, ParallelismClass, Program, ProviderDeclaration, ReadFailure,
    RemovedDeclaration, ResourceDeclaration, ResourceOptions, Timeouts,
};
pub use retry::{RetryPolicy, RetrySettings};
pub use typed::{Expr, IntoExpr, Referable, list, map};
