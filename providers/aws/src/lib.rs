//! AWS as a native provider: buckets, queues, tables, roles, log groups, functions and HTTP APIs.
//!
//! Control flows from the engine into one file per resource type. `settings` configures the `client`, `failure` says what
//! AWS's errors mean, `tags` whose an object is, `policy` when two documents grant the same. `kms` is no resource type:
//! it encrypts data keys for whoever seals state. Nothing here repeats a call or waits: errors carry a class, and the
//! caller does both.

// What the derives refer to.
extern crate trueup_provider as trueup;

mod api;
mod client;
mod data;
mod dynamodb_table;
mod failure;
mod iam;
mod kms;
mod lambda;
mod log_group;
mod policy;
mod provider;
mod s3_bucket;
mod settings;
mod sqs_queue;
mod tags;

pub use api::{
    Api, ApiOutput, Cors, Integration, IntegrationOutput, IntegrationType, Route, RouteOutput, Stage,
    StageOutput,
};
pub use data::{
    CallerIdentity, CallerIdentityOutput, CurrentRegion, CurrentRegionOutput, ExistingRole,
    ExistingRoleOutput,
};
pub use dynamodb_table::{Capacity, GlobalIndex, KeyType, StreamView, Table, TableOutput};
pub use iam::{IamPolicy, IamPolicyOutput, Role, RoleOutput};
pub use kms::{EncryptionContext, KmsCiphertext, KmsError, KmsKey};
pub use lambda::{Access, Alias, AliasOutput, Architecture, Function, FunctionOutput, Grant, Invoker};
pub use log_group::{LogGroup, LogGroupOutput};
pub use provider::aws_provider;
pub use s3_bucket::{Bucket, BucketOutput, Encryption};
pub use settings::{Aws, Settings};
pub use sqs_queue::{DeadLetter, Queue, QueueOutput};
