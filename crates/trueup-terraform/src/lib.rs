//! Terraform's providers as providers of trueup.
//!
//! [`TerraformProvider`] is what the engine calls: it speaks the plugin protocol, versions 5 and 6, to processes that
//! [`Pool`] bounds. What the engine's contract has no place for yet it offers itself: [`functions`](TerraformProvider::functions)
//! and ephemeral resources. Below it, and of use alone: [`Plugin`], a process and its connection; [`Client`], the calls, which fail with a [`Status`]; [`wire`],
//! values as they are sent; [`TypeSchema`], what values must look like. [`state_file`] is about Terraform's states.
//!
//! This crate reads no environment and knows no folders: what plugins get and where schemas are kept is handed in.

mod answers;
mod calling;
mod catalogue;
mod client;
mod data;
mod described;
mod ephemeral;
mod functions;
mod grpc;
mod host;
mod instance;
mod planning;
mod pool;
mod process;
pub mod protocol;
mod provider;
mod resource;
mod schema;
pub mod state_file;
pub mod wire;

pub use client::{Client, Version};
pub use functions::{Function, Parameter};
pub use grpc::{Code, Status};
pub use host::{Host, serve as serve_as_host};
pub use planning::{Violation, inconsistencies, violations};
pub use pool::Pool;
pub use process::{Launch, PinnedCertificate, Plugin, StartError};
pub use provider::{ProviderOptions, TerraformProvider};
pub use resource::import_id_of;
pub use schema::{Identities, IdentityAttribute, SchemaError, TypeSchema};
