//! What is only read: files, environment variables, web addresses, other stacks.

mod env;
mod file;
#[cfg(feature = "http")]
mod http;
mod stack_output;

pub use env::EnvironmentVariable;
pub use file::ExistingFile;
#[cfg(feature = "http")]
pub use http::HttpAnswer;
pub use stack_output::{OutputsOfStack, StackOutputs};
