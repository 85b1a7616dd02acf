//! The front end for Terraform's language.
//!
//! - [`syntax`]: texts become trees whose every part knows its place in the source
//!
//! What comes in is bounded everywhere: the size of a file, the depth of an expression, the number of errors told. No
//! text makes this crate panic.

pub mod syntax;
