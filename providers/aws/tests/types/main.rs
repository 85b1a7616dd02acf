//! The types of the AWS provider, against an emulator: each by the conformance kit and through the engine, and what they
//! make of AWS's real error documents.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod account;
mod api;
mod bench;
mod cycles;
mod data;
mod dynamodb_table;
mod examples;
mod faults;
mod iam;
mod lambda;
mod log_group;
mod proxy;
mod raw;
mod reference;
mod s3_bucket;
mod second_opinion;
mod shop;
mod sqs_queue;
mod world;
