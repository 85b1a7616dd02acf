//! The S3 store: in memory with faults, and on real servers.

mod conformance;
mod contest;
mod crashes;
mod damage;
mod faults;
mod leases;
mod model;
mod sealing;
mod server;
mod shop;
