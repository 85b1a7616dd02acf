//! The typed contracts: what the author of a resource type writes.
//!
//! A resource type is a struct for its inputs, one for its outputs, and an implementation of [`Crud`] or [`Converge`]
//! on the inputs. Both become a [`ResourceHandler`](crate::ResourceHandler).

mod converge;
mod crud;
mod data_source;
mod fields;
mod found;
mod managed;
mod names;
mod plan_hook;

pub use converge::{Converge, Current, Diff};
pub use crud::{Crud, ModifyPlan, Prior};
pub use data_source::DataSource;
pub use fields::{Args, Inputs, NothingInjected, Outputs, Planned, changed};
pub use found::{Found, RawState, Sightings};
pub use managed::Managed;
pub use names::Field;
pub(crate) use names::check_mirrors;
pub(crate) use plan_hook::Decision;
pub use plan_hook::{PlanHook, PlanHookRequest, PriorView};
