//! The front end for Terraform's language.
//!
//! - [`syntax`]: texts become trees whose every part knows its place in the source
//! - [`eval`]: expressions become values, in an environment that knows the names
//! - [`functions`]: what expressions can call
//! - [`types`]: types as programs write them
//!
//! What comes in is bounded everywhere: the size of a file, the depth of an expression, the number of errors told. No
//! text makes this crate panic.

pub mod eval;
pub mod functions;
pub mod syntax;
pub mod types;
