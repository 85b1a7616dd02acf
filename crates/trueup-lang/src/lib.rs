//! The front end for Terraform's language.
//!
//! - [`syntax`]: texts become trees whose every part knows its place in the source
//! - [`format`](mod@format): texts in their canonical form
//! - [`eval`]: expressions become values, in an environment that knows the names
//! - [`functions`]: what expressions can call
//! - [`types`]: types as programs write them
//! - [`declare`]: what the files of a folder declare
//! - [`modules`]: a folder with all modules it calls
//! - [`variables`]: what people give a program
//! - `world`: modules and resources with all their instances, and the values of their names
//! - [`StackFolder`]: from all that to a program for the engine
//! - [`TerraformLanguage`]: the same behind the seam that the command line uses
//!
//! What comes in is bounded everywhere: the size of a file, the depth of an expression, the number of errors told. No
//! text makes this crate panic.

pub mod declare;
pub mod eval;
mod folder;
pub mod format;
mod front_end;
pub mod functions;
mod limits;
mod lower;
pub mod modules;
mod normal_form;
pub mod syntax;
pub mod types;
pub mod variables;
mod world;

pub use front_end::TerraformLanguage;
pub use lower::StackFolder;
