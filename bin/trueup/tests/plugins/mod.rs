//! Terraform's providers under the program as people have it: our own provider for the plugin protocol, by development
//! overrides, through every command that touches it, and in every kind of trouble.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]
#![cfg(target_os = "linux")]

mod aws_kills;
mod bad_plugins;
pub(crate) mod bench;
mod coming_over;
mod ephemeral;
mod hosts;
mod ignored;
mod imports;
mod installing;
mod kills;
mod language;
mod life;
mod mistakes;
mod secrets;
