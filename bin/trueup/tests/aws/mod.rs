//! Stacks for AWS, deployed to an emulator by the program as people have it: credentials, region and endpoint come from
//! the environment.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod account;
mod cycles;
mod examples;
mod shop;
