//! What is only read: files, environment variables, web addresses, other stacks.

mod env;
mod file;
#[cfg(feature = "http")]
mod http;
mod stack_output;

pub use env::{EnvironmentValue, EnvironmentVariable};
pub use file::{ExistingFile, ExistingFileOutput};
#[cfg(feature = "http")]
pub use http::{HttpAnswer, HttpAnswerOutput};
pub use stack_output::{OutputsOfStack, OutputsOfStackOutput, StackOutputRequest, StackOutputs};
