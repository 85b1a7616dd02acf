//! State on servers, as teams have it: what is kept there, and how it gets there.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod backups;
mod canary;
mod migrate;
mod servers;
mod stages;
