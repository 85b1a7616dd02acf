//! Where Terraform's providers are.
//!
//! - [`ProviderAddress`], [`VersionConstraints`], [`Requirement`]: which providers a program needs
//! - [`Settings`]: where they may be, from Terraform's CLI [`Configuration`] and from what the command line hands in
//! - [`find`]: the programs of those that are on this machine
//! - [`install`]: those that are not, from mirrors and registries, checked and kept
//! - [`lock_for`], [`mirror_to`]: the same for other platforms and folders
//! - [`Lock`]: which version of each is used, and its checksums
//!
//! This crate reads no environment: the command line hands it in. It starts no provider.

mod archive;
mod checksum;
mod configuration;
mod constraints;
mod find;
mod hash;
mod install;
mod lock;
mod package;
mod pattern;
mod plain;
mod problem;
mod remote;
mod settings;

pub use configuration::{Configuration, ConfigurationError, Method, MethodKind};
pub use constraints::{ConstraintError, VersionConstraints};
pub use find::{Found, Place, Requirement, find};
pub use install::{
    InstallOptions, Installation, Installed, LockedFor, Mirrored, Progress, Vouched, Watch, install,
    lock_for, mirror_to,
};
pub use lock::{Lock, LockError, Locked};
pub use package::Platform;
pub use pattern::{AddressPattern, Selection};
pub use problem::{Problem, ProblemKind};
pub use semver::Version;
pub use settings::{PackageLimits, Settings, Surroundings};
pub use trueup_provider::ProviderAddress;
