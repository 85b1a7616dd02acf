//! The provider `pg`: what a PostgreSQL server holds besides data. Roles, databases, schemas, extensions, who may do
//! what, and statements that migrate.
//!
//! ```
//! use trueup_provider::Registry;
//! use trueup_provider_pg::pg_provider;
//!
//! let registry = Registry::new().with(pg_provider(|name| std::env::var_os(name)?.into_string().ok()));
//! # let _ = registry;
//! ```
//!
//! Control flows from the engine into one file per resource type. Each looks at the catalogue, changes what differs in
//! one transaction, and looks again (`session`). `connections` holds the few connections there are,
//! `fault` says what the server's refusals mean, `mark` whose an object is, `scram` what stands for a password.
//!
//! Identifiers are always quoted, values are parameters wherever the protocol takes them, and no password is ever sent:
//! the server gets a verifier. Nothing here reads the environment: variables are handed in.

// What the derives refer to.
extern crate trueup_provider as trueup;

mod catalogued;
mod connections;
mod data;
mod database;
mod default_privileges;
mod extension;
mod fault;
mod grant;
mod mark;
mod placement;
mod privilege;
mod provider;
mod role;
mod schema;
mod scram;
mod session;
mod sql;
mod text;

pub use connections::Connections;
pub use data::{ExistingRole, ExistingRoleOutput, Query, QueryOutput};
pub use database::{Database, DatabaseOutput};
pub use default_privileges::{DefaultPrivileges, DefaultPrivilegesOutput, FutureKind};
pub use extension::{Extension, ExtensionOutput};
pub use grant::{Grant, GrantOutput, ObjectKind};
pub use privilege::Privilege;
pub use provider::{Settings, pg_provider};
pub use role::{Role, RoleOutput};
pub use schema::{Schema, SchemaOutput};
pub use sql::{Sql, SqlOutput, Statement};
