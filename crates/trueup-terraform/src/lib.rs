//! Terraform's providers as providers of trueup.

mod client;
mod process;
pub mod protocol;
pub mod wire;

pub use client::{Client, Version};
pub use process::{Launch, Plugin, StartError};
