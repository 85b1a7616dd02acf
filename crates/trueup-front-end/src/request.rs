//! Requests to build a program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::Origin;
use trueup_program::{FunctionAnswers, Scope};
use trueup_provider::Registry;

/// A stage to build a program for, and everything that the text may depend on.
#[derive(Clone, Copy)]
pub struct BuildRequest<'a> {
    /// The name of the stack.
    pub stack: &'a str,
    /// The stage.
    pub stage: &'a str,
    /// What the program is for.
    pub purpose: Purpose,
    /// The types that resources can have.
    pub registry: &'a Registry,
    /// Values of variables.
    pub variables: &'a Variables,
    /// The user's home directory, which `~` stands for.
    pub home: Option<&'a Path>,
    /// When the plan is made, or was, if it was saved.
    pub plan_time: SystemTime,
    /// The time at apply: with a saved plan, later.
    pub now: SystemTime,
    /// The source of randomness for functions such as `uuid`.
    pub random: &'a Arc<RandomBytes>,
    /// The answers of providers' functions. Missing ones are noted: whoever asks for the build has them answered and asks again.
    pub answers: &'a FunctionAnswers,
    /// Known outputs: none at first, then those of a preview of the last build.
    pub known: Option<&'a (dyn Scope + Sync)>,
    /// [`BuiltProgram::pending`](crate::BuiltProgram::pending) of the last build. If this one waits for the same, nothing
    /// more will become known.
    pub waited_for: &'a [Origin],
}

/// Fills a buffer with random bytes.
pub type RandomBytes = dyn Fn(&mut [u8]) + Send + Sync;

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Purpose {
    /// To be deployed, or compared with what there is.
    #[default]
    Deploy,
    /// To be deleted as a whole: missing variables, and mistakes in what is not needed for it, are no reason to fail
    /// (DELETE-8).
    Destroy,
    /// To be checked: variables without a value are unknown.
    Validate,
}

/// Values of variables as text, from the outside.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// From the environment (`TF_VAR_name`, `TRUEUP_VAR_name`), by name. Later ones take precedence over earlier ones, and
    /// everything else over all of them. Those that the program does not declare are ignored.
    pub environment: Vec<(SmolStr, String)>,
    /// From the command line, in its order. Later ones take precedence over earlier ones, and all of them over the folder's
    /// own files. One that the program does not declare is a mistake.
    pub given: Vec<GivenVariable>,
}

/// A value, or a file of them, from the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GivenVariable {
    /// `--var name=text`
    Value {
        /// The variable.
        name: SmolStr,
        /// Its value: as it stands for a string, an expression for anything else.
        text: String,
    },
    /// `--var-file path`; absolute.
    File(PathBuf),
}
