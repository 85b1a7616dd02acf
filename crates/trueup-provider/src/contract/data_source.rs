//! The contract of data sources: things that are only read.

use std::future::Future;

use super::fields::{Inputs, Outputs};
use crate::context::Context;
use crate::error::Result;

/// Something that a program reads and does not manage. The struct that holds the inputs implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `DataSource`",
    note = "a resource type is registered with `crud` or `converge`, and added to a stack with `add`"
)]
pub trait DataSource: Inputs {
    /// The outputs.
    type Output: Outputs;
    /// The provider's configuration, or [`NoConfig`](crate::NoConfig).
    type Config: Send + Sync + 'static;

    /// Reads it.
    fn read(&self, context: &Context<Self::Config>) -> impl Future<Output = Result<Self::Output>> + Send;
}
