//! Panics in providers: errors of the resource that was worked on, and of no other (CRUD-12).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use futures_util::FutureExt;
use trueup_core::{Failure, FailureClass};
use trueup_provider::ProviderPanic;

/// The outcome of a provider's call, where a panic is a failure whose effect nobody knows. What the panic says is left
/// out: it may hold secrets, and nobody can tell (SECRET-5). The process tells where it was, by its panic hook.
pub(crate) fn caught<T>(call: impl Future<Output = T>) -> impl Future<Output = Result<T, Failure>> {
    // Not an `async fn`, which would have the room for the call twice: as its argument and as what it waits for.
    AssertUnwindSafe(call).catch_unwind().map(|outcome| {
        outcome.map_err(|_| {
            let failure = Failure::new(FailureClass::Indeterminate, "the provider panicked");
            failure.hint("this is a mistake in the provider; RUST_BACKTRACE=1 shows where and why")
        })
    })
}

/// The outcome of work that asks types what they answer at once, or the panic of one. Other panics go on: they are bugs
/// of the engine.
pub(crate) fn contained<T>(work: impl Future<Output = T>) -> impl Future<Output = Result<T, ProviderPanic>> {
    AssertUnwindSafe(work).catch_unwind().map(|outcome| outcome.map_err(of_provider))
}

/// The same of work that does not wait.
pub(crate) fn contained_now<T>(work: impl FnOnce() -> T) -> Result<T, ProviderPanic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(of_provider)
}

fn of_provider(panic: Box<dyn Any + Send>) -> ProviderPanic {
    match panic.downcast::<ProviderPanic>() {
        Ok(panic) => *panic,
        Err(bug) => resume_unwind(bug),
    }
}
