//! Programs: as they were read, as they were built, and why they could not be.

use std::path::PathBuf;

use trueup_core::{Diagnostics, Origin, SourceMap};
use trueup_program::{Premise, Program};

use crate::ProgramSource;
use crate::settings::{RequiredProvider, StackSettings};

/// A folder that was read.
pub struct LoadedProgram {
    /// Builds programs from what was read.
    pub source: Box<dyn ProgramSource>,
    /// The settings of the stack as a whole.
    pub settings: StackSettings,
    /// The texts that the diagnostics refer to.
    pub sources: SourceMap,
    /// Mistakes and warnings.
    pub diagnostics: Diagnostics,
    /// The files that were read, for `dev` to watch.
    pub files: Vec<PathBuf>,
    /// The providers that the text requires, by name or by the types that it uses. One may be there several times.
    pub providers: Vec<RequiredProvider>,
    /// Whether the folder holds any file of this language. Where it does not, commands that need a program say how to
    /// begin one.
    pub found: bool,
}

/// A program, as far as it could be built.
pub struct BuiltProgram {
    /// The program, or the part of it that is known.
    pub program: Program,
    /// Where the text needs outputs to say what else there is; a preview of this part may give them. Empty if the program
    /// is complete.
    pub pending: Vec<Origin>,
    /// Why nothing more will become known before a deploy, if that is so: a `count` on what is not made yet. The program
    /// stays the part that it is, which is enough for a run with targets in it.
    pub stuck: Option<Diagnostics>,
    /// Further files that were read, for `dev` to watch.
    pub files: Vec<PathBuf>,
    /// Warnings; origins refer to the program's sources.
    pub warnings: Diagnostics,
    /// What it follows from besides its texts: variables, and files that its expressions read (PLANFILE-2).
    pub premises: Premises,
}

/// Lists what a program follows from, as far as it was read by then: some files are read only as more becomes known.
pub type Premises = Box<dyn Fn() -> Vec<Premise> + Send + Sync>;

/// The mistakes in a text, and the sources that their origins refer to.
#[derive(Clone, Debug, Default)]
pub struct InvalidProgram {
    /// The mistakes.
    pub diagnostics: Diagnostics,
    /// The texts that the origins refer to.
    pub sources: SourceMap,
}

impl From<Diagnostics> for InvalidProgram {
    /// Without sources: for mistakes that have no place in a text.
    fn from(diagnostics: Diagnostics) -> Self {
        InvalidProgram { diagnostics, sources: SourceMap::new() }
    }
}
