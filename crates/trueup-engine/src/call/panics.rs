//! Panics in providers: errors of the resource that was worked on, and of no other (CRUD-12).

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use trueup_core::{Failure, FailureClass};

/// The outcome of a provider's call, where a panic is a failure whose effect nobody knows. What the panic says is left
/// out: it may hold secrets, and nobody can tell (SECRET-5). The process tells where it was, by its panic hook.
pub(crate) async fn caught<T>(call: impl Future<Output = T>) -> Result<T, Failure> {
    AssertUnwindSafe(call).catch_unwind().await.map_err(|_| {
        let failure = Failure::new(FailureClass::Indeterminate, "the provider panicked");
        failure.hint("this is a mistake in the provider; RUST_BACKTRACE=1 shows where and why")
    })
}
