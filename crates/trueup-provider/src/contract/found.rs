//! What lookups, imports and migrations hand over.

use trueup_core::{Failure, FailureClass, Value};

use crate::error::{Error, Result};
use crate::identity::Ownership;

/// What a lookup found: nothing, one object, or several of which the tags tell the generations.
#[derive(Clone, Debug)]
pub struct Sightings<T>(pub(crate) Option<Vec<(T, Ownership)>>);

impl<T> Sightings<T> {
    /// There is no such object.
    pub fn absent() -> Self {
        Sightings(Some(Vec::new()))
    }

    /// It is there and ours: its name or marks say so.
    pub fn owned(found: T) -> Self {
        Self::absent().and(found, Ownership::Owned { generation: None })
    }

    /// It is there, and nothing says that it is ours.
    pub fn unowned(found: T) -> Self {
        Self::absent().and(found, Ownership::Unowned)
    }

    /// It is there, and its tags say whose it is: see [`CallContext::recognise`](crate::CallContext::recognise).
    pub fn recognised(found: T, ownership: Ownership) -> Self {
        Self::absent().and(found, ownership)
    }

    /// One more.
    #[must_use]
    pub fn and(mut self, found: T, ownership: Ownership) -> Self {
        self.0.get_or_insert_default().push((found, ownership));
        self
    }

    /// This type cannot look for objects. What a contract answers that does not implement it.
    pub fn unsupported() -> Self {
        Sightings(None)
    }
}

/// An object that was found: the inputs that would make it, and its outputs.
#[derive(Clone, Debug)]
pub struct Found<In, Out> {
    /// The inputs, as observed.
    pub inputs: In,
    /// The outputs, as observed.
    pub outputs: Out,
}

/// Recorded values of an older schema version, on their way to the current one (CRUD-10).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawState {
    /// The inputs as recorded, defaults included; null if there are none.
    pub inputs: Value,
    /// The outputs as recorded.
    pub outputs: Value,
}

/// What a contract answers that has no migration. The handler names the versions.
pub(super) fn no_migration() -> Result<RawState> {
    Err(Error::from(Failure::new(FailureClass::Fatal, "there is no migration")))
}
