//! The server in this process, held against Terraform's rules by those with which our own client judges providers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod hostile;
mod lives;
mod terraform;
mod thing;
mod types;
