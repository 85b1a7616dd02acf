//! The convergent contract: one `reconcile` for every way an object can come about.

use std::future::Future;
use std::time::Duration;

use trueup_core::Value;

use super::fields::{Inputs, Outputs};
use super::found::{RawState, Sightings, no_migration};
use super::plan_hook::{PlanHook, PlanHookRequest};
use crate::binding::Binding;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::handler::{DeleteEnd, Recovery, Traits};

/// A resource type that converges: given the desired inputs, it brings the object there from wherever it is. The
/// struct that holds the inputs implements it.
///
/// A reconcile observes, ensures, synchronises, returns: it reads what is there, creates what is missing, and applies
/// the difference. Run twice it changes nothing the second time (RECONCILE-3), so an interrupted one is simply run
/// again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `Converge`",
    note = "a type that implements `Crud` is registered with `crud`, a `DataSource` with `data`"
)]
pub trait Converge: Inputs {
    /// The outputs.
    type Output: Outputs;
    /// The provider's configuration, or [`NoConfig`](crate::NoConfig).
    type Config: Send + Sync + 'static;

    /// Grows when recorded inputs or outputs no longer fit the structs; then [`Converge::migrate`] brings them along.
    const SCHEMA_VERSION: u64 = 0;

    /// How the type behaves, apart from its schema.
    fn traits() -> Traits {
        Traits::default()
    }

    /// How a reconcile whose outcome is unknown is resolved. With [`Recovery::Lookup`], [`Converge::read`] finds the
    /// object without prior outputs.
    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    /// How long the object may stay invisible to reads and lookups after it was created or updated.
    fn consistency_window(&self) -> Duration {
        Self::traits().consistency_window
    }

    /// When a delete is over. Unless [`Converge::delete`] leaves the object in place or answers only when it is gone, and unless the
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

    /// Brings the object to these inputs, whether it exists or not.
    fn reconcile(
        &self,
        context: &Context<Self::Config>,
        current: &Current<Self>,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Looks at the object. With prior outputs: is it still there, and how? Without: is there one of this identity,
    /// and is it ours? `self` holds the recorded inputs, or the desired ones if nothing is recorded.
    fn read(
        &self,
        _context: &Context<Self::Config>,
        _prior: Option<&Self::Output>,
    ) -> impl Future<Output = Result<Sightings<Self::Output>>> + Send {
        async { Ok(Sightings::unsupported()) }
    }

    /// Removes the object. [`Error::not_found`] counts as done, past the consistency window (DELETE-2). `self` holds
    /// the recorded inputs.
    fn delete(
        &self,
        context: &Context<Self::Config>,
        output: &Self::Output,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Decides between nothing, an update and a replacement, and tells which outputs to expect (PLAN-8).
    fn diff(
        _request: &PlanHookRequest<'_, Self, Self::Output, Self::Config>,
        plan: &mut PlanHook,
    ) -> Result<()> {
        plan.leave_to_comparison()
    }

    /// Values for the inputs that a stub can do without, as an object: each stands in for its input while that is
    /// unknown (BIND-4). `None` if no stub can be made.
    ///
    /// All other inputs must be known before the stub is made. Give no value for a replace field, unless the stub can
    /// still be brought to the real one in place.
    fn stub(_inputs: &Self::View) -> Option<Value> {
        None
    }

    /// Makes a stub to which others of a cycle can refer before the inputs are known (BIND-4). `self` holds the inputs as
    /// far as they are known, and what [`Converge::stub`] gave for the rest. A reconcile with the stub's outputs finishes
    /// it.
    ///
    /// A stub exists and does nothing: it grants nothing, runs nothing and costs as little as possible. It is made under
    /// the same name or token as the object, so that the type's recovery finds it.
    ///
    /// The engine recovers an interrupted stub by [`Converge::recovery`]. [`Recovery::Token`]: it calls this again with
    /// the same token and inputs. [`Recovery::Lookup`]: it calls [`Converge::read`] without prior outputs, once the
    /// identity inputs are known.
    fn precreate(
        &self,
        _context: &Context<Self::Config>,
    ) -> impl Future<Output = Result<Self::Output>> + Send {
        async { Err(Error::fatal("this type makes no stubs")) }
    }

    /// Finds the object that a person names by its id (ADOPT-7). `self` holds the inputs of the resource that it is to
    /// become, with empty values for those that are not known yet.
    fn import(
        &self,
        _context: &Context<Self::Config>,
        _id: &str,
    ) -> impl Future<Output = Result<Self::Output>> + Send {
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

/// What [`Converge::diff`] sees.
pub type Diff<'a, T> = PlanHookRequest<'a, T, <T as Converge>::Output, <T as Converge>::Config>;

/// Where a reconcile starts from (RECONCILE-1).
pub struct Current<T: Converge> {
    /// The inputs it was last brought to; `None` for a new object and for an adopted one.
    pub olds: Option<T>,
    /// What is known of it; `None` for a new object.
    pub output: Option<T::Output>,
    /// What others attach to it, sorted by key.
    pub bindings: Vec<Binding>,
}
