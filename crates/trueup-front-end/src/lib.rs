//! The seam between languages and the command line.
//!
//! A [`FrontEnd`] reads a folder once ([`FrontEnd::load`]). The result holds a [`ProgramSource`], from which the command
//! line builds the program for a stage. Where the text must know outputs of resources to say what else there is,
//! [`BuiltProgram::pending`] says so: the command line previews the known part and builds again with what that gave.
//!
//! A front end reads files below its folder and those that its text refers to, and nothing else: environment, arguments,
//! time, randomness and stage come to it as data. It calls no provider; of the registry it uses schemas and functions.

mod program;
mod request;
mod settings;

use std::path::{Path, PathBuf};

use smol_str::SmolStr;
use trueup_core::Value;
pub use trueup_program::{Premise, PremiseKind};
use trueup_provider::BoxFuture;

pub use self::program::{BuiltProgram, InvalidProgram, LoadedProgram, Premises};
pub use self::request::{BuildRequest, GivenVariable, Purpose, RandomBytes, Variables};
pub use self::settings::{RequiredProvider, StackSettings, StateSettings};

/// A language in which programs are written.
pub trait FrontEnd: Send + Sync {
    /// Reads the folder: files, syntax, the settings of the stack. Never fails as such: mistakes are in the diagnostics.
    /// Even with errors there, the source still builds a program to destroy with (DELETE-8).
    fn load(&self, folder: &Path) -> LoadedProgram;

    /// Formats the text of the file of this name; `None` if it is not a file of this language.
    fn format(&self, file_name: &str, text: &str) -> Option<Result<String, InvalidProgram>>;

    /// The files of a new stack of this name; paths are relative to its folder.
    fn scaffold(&self, stack: &str) -> Vec<GeneratedFile>;

    /// The names of the functions that every program can call, for completion.
    fn functions(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Pages about the language, in Markdown, for `reference`; paths are relative to its folder.
    fn reference(&self) -> Vec<GeneratedFile> {
        Vec::new()
    }
}

/// A program as it was read, from which it is built for a stage.
pub trait ProgramSource: Send + Sync {
    /// Builds the program.
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<BuiltProgram, InvalidProgram>>;

    /// The value of an expression, for `console`. References to resources are resolved from what is known, and unknown
    /// beyond it.
    fn evaluate<'a>(
        &'a self,
        expression: &'a str,
        request: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, InvalidProgram>>;

    /// The variables that the program declares, for completion and `validate`; empty if it has none.
    fn variables(&self) -> Vec<SmolStr> {
        Vec::new()
    }
}

/// A file of a new stack, or a page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFile {
    /// Its path, relative to the folder.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}
