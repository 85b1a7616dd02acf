//! The CRUD contract: create, read, update, delete.

use std::future::Future;
use std::time::Duration;

use trueup_core::Value;

use super::fields::{Inputs, Outputs};
use super::found::{Found, RawState, Sightings, no_migration};
use super::plan_hook::{PlanHook, PlanHookRequest};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::handler::{DeleteEnd, Recovery, Traits};

/// A resource type with one method for each operation. The struct that holds the inputs implements it.
///
/// `create`, `update` and `delete` run only at apply; `read` and `lookup` also at plan, and change nothing. In `read`
/// and `delete`, `self` holds the recorded inputs, everywhere else the desired ones.
///
/// The fields whose change forces a replacement are marked `#[trueup(replace)]`; any other change calls `update`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Crud`",
    note = "a type that implements `Converge` is registered with `converge`, a `DataSource` with `data`"
)]
pub trait Crud: Inputs {
    /// The outputs.
    type Output: Outputs;
    /// The provider's configuration, or [`NoConfig`](crate::NoConfig).
    type Config: Send + Sync + 'static;

    /// Grows when recorded inputs or outputs no longer fit the structs; then [`Crud::migrate`] brings them along.
    const SCHEMA_VERSION: u64 = 0;

    /// How the type behaves, apart from its schema.
    fn traits() -> Traits {
        Traits::default()
    }

    /// How a create whose outcome is unknown is resolved. Say [`Recovery::Lookup`] with an implementation of
    /// [`Crud::lookup`], [`Recovery::Token`] if `create` hands the context's token to an API that honours it.
    fn recovery(&self) -> Recovery {
        Recovery::Blind
    }

    /// How long the object may stay invisible to reads and lookups after it was created or updated.
    fn consistency_window(&self) -> Duration {
        Self::traits().consistency_window
    }

    /// When a delete is over. Unless [`Crud::delete`] leaves the object in place or answers only when it is gone, and unless the
    /// consistency window is zero, the engine reads the object until it is gone (DELETE-12).
    fn delete_end(&self) -> DeleteEnd {
        DeleteEnd::default()
    }

    /// Where a configuration puts the object, such as its absolute path. One object has one place, however configuration
    /// and inputs spell it, and no two objects of the type share one. The engine calls it if [`Traits::tells_place`] is
    /// set. Without it, identity inputs that differ denote two objects, and the engine compares what each configuration
    /// finds (DRIFT-11, REPLACE-11).
    fn place(&self, _config: &Self::Config) -> Option<Value> {
        None
    }

    /// Makes the object.
    fn create(&self, context: &Context<Self::Config>) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Looks at the object. [`Error::not_found`] if it is gone: it is then created again (CRUD-2).
    fn read(
        &self,
        context: &Context<Self::Config>,
        prior: &Self::Output,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Brings the object to these inputs in place.
    fn update(
        &self,
        context: &Context<Self::Config>,
        prior: &Prior<Self>,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Removes the object. [`Error::not_found`] counts as done, past the consistency window (DELETE-2).
    fn delete(
        &self,
        context: &Context<Self::Config>,
        prior: &Self::Output,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Judges the decoded inputs at apply, before anything is touched, where a schema cannot (CRUD-7).
    fn validate_inputs(&self, _context: &Context<Self::Config>) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }

    /// Whether two different values of a field mean the same, such as a name and the address that contains it. Then
    /// the difference is no update, no replacement and no broken promise of a plan (CRUD-8).
    fn equivalent_input(_field: &str, _prior: &Self, _current: &Self) -> bool {
        false
    }

    /// Tells the planner what apply will do to the outputs (CRUD-9). A type that implements this vouches that an
    /// update keeps all outputs it does not mark.
    fn modify_plan(_request: &ModifyPlan<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        plan.leave_to_comparison()
    }

    /// Looks for the object by its deterministic identity, without knowing whether it exists (ADOPT-1).
    fn lookup(
        &self,
        _context: &Context<Self::Config>,
    ) -> impl Future<Output = Result<Sightings<Found<Self, Self::Output>>>> + Send {
        async { Ok(Sightings::unsupported()) }
    }

    /// Finds the object that a person names by its id (ADOPT-7). `self` holds the inputs of the resource that it is to
    /// become, with empty values for those that are not known yet.
    fn import(
        &self,
        _context: &Context<Self::Config>,
        _id: &str,
    ) -> impl Future<Output = Result<Found<Self, Self::Output>>> + Send {
        async { Err(Error::invalid("this type cannot be imported by id")) }
    }

    /// Brings recorded values from an older schema version to the current one (CRUD-10).
    fn migrate(_from_version: u64, _state: RawState) -> Result<RawState> {
        no_migration()
    }

    /// The types whose objects can become ones of this type, when a program says that they moved (PLAN-20).
    const MOVES_FROM: &'static [&'static str] = &[];

    /// Makes recorded values of one of those types into ones of this, of the current schema version.
    fn move_state(_from_type: &str, _from_version: u64, _state: RawState) -> Result<RawState> {
        no_migration()
    }
}

/// What [`Crud::modify_plan`] sees.
pub type ModifyPlan<'a, T> = PlanHookRequest<'a, T, <T as Crud>::Output, <T as Crud>::Config>;

/// What an update knows of the object (CRUD-4).
pub struct Prior<T: Crud> {
    /// The inputs it was last brought to.
    pub inputs: T,
    /// The outputs recorded then.
    pub outputs: T::Output,
    /// The outputs as read at plan, if they were.
    pub observed: Option<T::Output>,
}
