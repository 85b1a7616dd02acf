//! The standard provider: what a stack needs that lies next to it rather than in some cloud.
//!
//! - [`std_provider`]: files, directories, commands, REST APIs, random values, keys and certificates
//! - [`terraform_provider`]: `terraform_data`, as Terraform has it built in
//! - [`stack_provider`]: what other stacks give, read by whoever knows their stores
//!
//! ```
//! # extern crate trueup_provider as trueup;
//! use trueup_engine::Stack;
//! use trueup_provider::Registry;
//! use trueup_provider_std::{File, RandomPassword, Surroundings, std_provider};
//!
//! let surroundings = Surroundings::new("site").with_environment([("PATH", "/usr/bin:/bin")]);
//! let registry = Registry::new().with(std_provider(surroundings));
//! let mut stack = Stack::new("site", &registry);
//! let password = stack.add("admin", RandomPassword::args().length(24u64));
//! stack.add("login", File::args().path("login.txt").content(password.result()).mode("0600"));
//! # assert!(stack.build().is_ok());
//! ```
//!
//! Control flows from the engine into one file per resource type; `disk`, `exec` and `http` hold what touches the
//! outside. Nothing here reads the process's environment or knows where a store is: both are handed in
//! ([`Surroundings`], [`StackOutputs`]).
//!
//! # Programs of your own
//! When a program is killed, a command of `std_exec` that it started goes on, and the next run may create beside it. To
//! have commands end with the program, as those of the command line do, begin `main` with [`guard_command`] and give the
//! surroundings a [`CommandGuard`] ([`Surroundings::with_command_guard`]).
//!
//! Unix only: modes, process groups and atomic renames are what they are there.

// What the derives refer to.
extern crate trueup_provider as trueup;

mod data;
mod directory;
mod disk;
mod exec;
mod file;
#[cfg(feature = "http")]
mod http;
mod kept;
mod outcome;
mod plain_json;
mod provider;
mod purpose;
mod random;
mod surroundings;
mod terraform_data;
#[cfg(feature = "tls")]
mod tls;

pub use data::{
    EnvironmentValue, EnvironmentVariable, ExistingFile, ExistingFileOutput, OutputsOfStack,
    OutputsOfStackOutput, StackOutputRequest, StackOutputs,
};
#[cfg(feature = "http")]
pub use data::{HttpAnswer, HttpAnswerOutput};
pub use directory::{Directory, DirectoryOutput};
pub use exec::{CommandGuard, Exec, ExecOutput, guard_command};
pub use file::{File, FileOutput};
#[cfg(feature = "http")]
pub use http::{Http, HttpOutput, Request, Wait};
pub use outcome::Outcome;
pub use provider::{Settings, stack_provider, std_provider, terraform_provider};
pub use purpose::Recover;
pub use random::{
    RandomId, RandomIdOutput, RandomInteger, RandomIntegerOutput, RandomPassword, RandomPasswordOutput,
    RandomPet, RandomString, RandomTextOutput, RandomUuid,
};
pub use surroundings::{Randomness, Surroundings};
pub use terraform_data::{TerraformData, TerraformDataOutput};
#[cfg(feature = "tls")]
pub use tls::{Algorithm, TlsCert, TlsCertOutput, TlsKey, TlsKeyOutput};
