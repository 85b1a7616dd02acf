//! Ephemeral resources: opened for a run, kept open while it lasts, closed at its end, and never recorded.

use std::time::SystemTime;

use trueup_core::schema::Block;
use trueup_core::{Diagnostics, Failure, Value};

use super::requests::{DataRequest, ValidateRequest};
use crate::clock::BoxFuture;

/// A type of ephemeral resources, as the engine sees it.
pub trait EphemeralHandler: Send + Sync {
    /// What it takes and gives.
    fn schema(&self) -> &Block;

    /// Judges inputs beyond what the schema can say, at plan: values may be unknown.
    fn validate<'a>(&'a self, _request: ValidateRequest<'a>) -> BoxFuture<'a, Diagnostics> {
        Box::pin(async { Diagnostics::new() })
    }

    /// Opens one. What it gives has the form of the schema.
    fn open<'a>(&'a self, request: DataRequest<'a>) -> BoxFuture<'a, Result<Opened, Failure>>;
}

/// An ephemeral resource that was opened.
pub struct Opened {
    /// What it gives.
    pub outputs: Value,
    /// When it must be renewed at the latest; never, if there is no such time.
    pub renew_at: Option<SystemTime>,
    /// By what it is kept open and closed.
    pub held: Box<dyn HeldOpen>,
}

/// An ephemeral resource that is open. Whoever drops it without closing it leaves that to the provider's end.
pub trait HeldOpen: Send {
    /// Keeps it open; when that must be done again.
    fn renew(&mut self) -> BoxFuture<'_, Result<Option<SystemTime>, Failure>>;

    /// Closes it.
    fn close(self: Box<Self>) -> BoxFuture<'static, Result<(), Failure>>;
}
