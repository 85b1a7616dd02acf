//! The types of the provider `pg`: each by the conformance kit, and through the engine, on a real server.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod bench;
mod data;
mod database;
mod default_privileges;
mod extension;
mod grant;
mod kit;
mod lifecycle;
mod reference;
mod role;
mod schema;
mod sql;
