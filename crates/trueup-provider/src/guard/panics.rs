//! Panics in methods of types that answer at once.
//!
//! There is no answer that would be right in place of one, and most of these methods have no way to fail. So the panic
//! goes on, marked as one of provider code: the engine makes an error of the resource of it (CRUD-12). An unmarked one is
//! a bug of the engine.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use smol_str::SmolStr;
use trueup_core::{Failure, FailureClass};

/// What a panic in provider code holds when it leaves the guard. What it said is left out: it may hold secrets (SECRET-5).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderPanic {
    /// The type.
    pub type_name: SmolStr,
    /// Its method.
    pub method: &'static str,
}

impl From<ProviderPanic> for Failure {
    fn from(panic: ProviderPanic) -> Self {
        let ProviderPanic { type_name, method } = panic;
        let message = format!("the provider panicked in `{method}` of `{type_name}`");
        Failure::new(FailureClass::Fatal, message)
            .hint("this is a mistake in the provider; RUST_BACKTRACE=1 shows where and why")
    }
}

/// The answer of a method, or a panic that is marked as this type's.
pub(super) fn marked<T>(type_name: &SmolStr, method: &'static str, call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| resume_unwind(Box::new(ProviderPanic { type_name: type_name.clone(), method })))
}
