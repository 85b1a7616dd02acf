//! The seam between the command line and what reads programs.
//!
//! A [`FrontEnd`] reads a folder once ([`FrontEnd::load`]). What it read is a [`ProgramSource`], from which the command
//! line builds the program for a stage, as often as it takes: where the text must know outputs of resources to say what
//! else there is, [`Built::pending`] is set, the command line previews the part that is there, and builds again with
//! what became known.
//!
//! A front end reads files below its folder and those that its text refers to, and nothing else: environment, arguments
//! and stage come to it as data. It calls no provider; of the registry it asks schemas alone.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin, SourceMap, Value};
pub use trueup_engine::{Premise, PremiseKind};
use trueup_program::{Program, Scope};
use trueup_provider::{BoxFuture, ProviderAddress, Registry};

use crate::settings::OWN_FOLDER;

/// A language in which programs are written.
pub trait FrontEnd: Send + Sync {
    /// Reads the folder: files, syntax, the settings of the stack. Never fails as such: what is wrong is in the
    /// diagnostics. With errors in them, the source is still asked for a program to destroy with (DELETE-8).
    fn load(&self, folder: &Path) -> Loaded;

    /// Formats the text of the file of this name; `None` if it is not a file of this language.
    fn format(&self, file_name: &str, text: &str) -> Option<Result<String, Faulty>>;

    /// The files of a new stack of this name; paths are relative to its folder.
    fn scaffold(&self, stack: &str) -> Vec<ScaffoldFile>;

    /// Pages about the language, in Markdown, for `reference`; paths are relative to its folder.
    fn reference(&self) -> Vec<ScaffoldFile> {
        Vec::new()
    }
}

/// What reading a folder came to.
pub struct Loaded {
    /// What programs are built from.
    pub source: Box<dyn ProgramSource>,
    /// What the text says about the stack as a whole.
    pub settings: StackSettings,
    /// What the origins of the diagnostics refer to.
    pub sources: SourceMap,
    /// What is wrong, and what to warn of.
    pub diagnostics: Diagnostics,
    /// The files that were read, for those who watch them.
    pub files: Vec<PathBuf>,
    /// The providers that the text asks for, by name or by the types that it uses. One may stand there several times.
    pub providers: Vec<RequiredProvider>,
    /// Whether there is anything of this language in the folder at all. Where there is not, commands that need a
    /// program say how to begin one.
    pub found: bool,
}

/// A provider that the text asks for.
#[derive(Clone, Debug)]
pub struct RequiredProvider {
    /// Its name in the text.
    pub local: SmolStr,
    /// Where it comes from, if the text says so.
    pub source: Option<ProviderAddress>,
    /// Which versions will do, if the text says so: `~> 5.0`.
    pub versions: Option<SmolStr>,
    /// Where it is asked for.
    pub origin: Origin,
}

/// What the text says about the stack as a whole: `stack { … }`.
#[derive(Clone, Debug, Default)]
pub struct StackSettings {
    /// The name of the stack; `None`: that of the folder, as it was when the stack was first deployed.
    pub name: Option<SmolStr>,
    /// Where its state is kept; `None`: as the user's settings say, else in the folder.
    pub state: Option<StateSettings>,
    /// The stages whose destruction asks for their name.
    pub protected_stages: Vec<SmolStr>,
    /// How many operations run at a time, unless the run is told otherwise.
    pub parallelism: Option<usize>,
}

/// Where state is kept.
#[derive(Clone, PartialEq, Debug)]
pub struct StateSettings {
    /// The kind of store: `sqlite`, `postgres`, `s3`.
    pub kind: SmolStr,
    /// An object with what that kind takes; for `sqlite` its `path`, relative to the folder.
    pub settings: Value,
}

impl StateSettings {
    /// A file in the stack's own folder.
    pub fn in_own_folder() -> Self {
        Self::in_file(&format!("{OWN_FOLDER}/state.db"))
    }

    /// A file at this path, relative to the stack's folder.
    pub fn in_file(path: &str) -> Self {
        StateSettings { kind: "sqlite".into(), settings: Value::object([("path", path.into())]) }
    }

    /// The file, if the store is one.
    pub fn sqlite_file(&self, folder: &Path) -> Option<PathBuf> {
        let path = crate::stores::sqlite_path(self).ok().filter(|_| self.kind == "sqlite")?;
        Some(folder.join(path))
    }
}

/// A program as it was read, from which it is built for a stage.
pub trait ProgramSource: Send + Sync {
    /// Builds the program.
    fn build<'a>(&'a self, request: BuildRequest<'a>) -> BoxFuture<'a, Result<Built, Faulty>>;

    /// The value of an expression, for `console`. References to resources are resolved from what is known, and unknown
    /// beyond it.
    fn evaluate<'a>(
        &'a self,
        expression: &'a str,
        request: BuildRequest<'a>,
    ) -> BoxFuture<'a, Result<Value, Faulty>>;

    /// The variables that the program declares, for completion and `validate`; empty if it has none.
    fn variables(&self) -> Vec<SmolStr> {
        Vec::new()
    }
}

/// What a program is built for, and with.
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
    /// When the plan is made, or was, if it was saved.
    pub plan_time: SystemTime,
    /// What is known of outputs so far: nothing at first, then what the preview of an earlier build gave.
    pub known: Option<&'a (dyn Scope + Sync)>,
}

/// What a program is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// It is to be brought about, or compared with what there is.
    Deploy,
    /// All of it is to be deleted: variables that have no value, and mistakes in what is not needed for it, are no
    /// reason to fail (DELETE-8).
    Destroy,
    /// Only its soundness is wanted: variables without a value are unknown.
    Validate,
}

/// Values of variables as text, from the outside.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// From the environment (`TF_VAR_name`, `TRUEUP_VAR_name`), later ones counting more, and all of them least. Those
    /// that the program does not declare are ignored.
    pub environment: Vec<(SmolStr, String)>,
    /// From the command line, in its order: later ones count more, and all of them more than the folder's own files.
    /// One that the program does not declare is a mistake.
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

/// A program, as far as it could be built.
pub struct Built {
    /// The program, or the part of it that is known.
    pub program: Program,
    /// Whether there is more to it, which needs outputs that a preview of this part gives. To be built again with them.
    pub pending: bool,
    /// Why nothing more will become known before a deploy, if that is so: a `count` on what is not made yet. The program
    /// stays the part that it is, which is enough for a run with targets in it.
    pub stuck: Option<Diagnostics>,
    /// Further files that were read, for those who watch them.
    pub files: Vec<PathBuf>,
    /// What to tell the user, short of an error; origins refer to the program's sources.
    pub warnings: Diagnostics,
    /// What it follows from besides its texts: variables, and files that its expressions read (PLANFILE-2).
    pub premises: Premises,
}

/// Tells what a program follows from, as far as it was looked at by then: some files are read only as more becomes known.
pub type Premises = Box<dyn Fn() -> Vec<Premise> + Send + Sync>;

/// What is wrong with a text, and the sources that its origins refer to.
#[derive(Clone, Debug, Default)]
pub struct Faulty {
    /// What is wrong.
    pub diagnostics: Diagnostics,
    /// What the origins refer to.
    pub sources: SourceMap,
}

/// A file of a new stack, or a page of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaffoldFile {
    /// Where it lies, relative to the folder.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

impl From<Diagnostics> for Faulty {
    /// Without sources: for what has no place in a text.
    fn from(diagnostics: Diagnostics) -> Self {
        Faulty { diagnostics, sources: SourceMap::new() }
    }
}
