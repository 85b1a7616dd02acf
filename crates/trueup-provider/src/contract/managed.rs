//! What programs in Rust need to know of a resource type, whichever contract it implements.

use super::converge::Converge;
use super::crud::Crud;
use super::fields::{Inputs, Outputs};

/// A resource type by one of the contracts. `By` tells which and is always inferred: it lets both contracts share the
/// trait, which two implementations for all types could not otherwise do.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no resource type",
    note = "a resource type implements `Crud` or `Converge`; a data source is added to a stack with `data`"
)]
pub trait Managed<By>: Inputs {
    /// The outputs.
    type Output: Outputs;
}

/// By [`Crud`].
pub enum ByCrud {}

/// By [`Converge`].
pub enum ByConverge {}

impl<T: Crud> Managed<ByCrud> for T {
    type Output = T::Output;
}

impl<T: Converge> Managed<ByConverge> for T {
    type Output = T::Output;
}
