//! What is only read: the rows of a query, and roles that someone else manages.

mod query;
mod role;

pub use query::{Query, QueryOutput};
pub use role::{ExistingRole, ExistingRoleOutput};
