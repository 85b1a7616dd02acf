//! `fmt`: the one way to lay out a text.

use std::path::{Path, PathBuf};

use clap::Args;
use trueup_core::{Diagnostics, SourceMap, escape_line};
use trueup_files::Accept;
use trueup_front_end::InvalidProgram;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{DiffLine, diff_lines};
use crate::session::Session;
use crate::settings::OWN_FOLDER;
use crate::ui::Meaning;
use crate::whole_file::{self, Readers};

/// Lay out the files of the stack; comments stay
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup fmt\n  trueup fmt --check --recursive")]
pub(crate) struct FmtArgs {
    /// Files and folders; else this folder
    paths: Vec<PathBuf>,
    /// Write nothing; exit with 1 if something would change
    #[arg(long)]
    check: bool,
    /// Show what changes
    #[arg(long)]
    diff: bool,
    /// Folders below too
    #[arg(long, short)]
    recursive: bool,
}

/// More than any front end formats.
const TEXT_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn run(session: &Session<'_>, args: &FmtArgs) -> CommandResult {
    let (mut changed, mut wrong, mut sources) = (0, Diagnostics::new(), SourceMap::new());
    for path in files(session, args)? {
        match lay_out(session, args, &path) {
            Ok(differs) => changed += usize::from(differs),
            // One broken file keeps no other from being laid out.
            Err(CommandError::Wrong { mut diagnostics, sources: of_file }) => {
                sources.append(of_file, &mut diagnostics);
                wrong.extend(diagnostics);
            }
            Err(other) => return Err(other),
        }
    }
    if wrong.has_errors() {
        return Err(CommandError::Wrong { diagnostics: wrong, sources });
    }
    Ok(if args.check && changed > 0 { Exit::Error } else { Exit::Done })
}

/// Lays out one file, if it is of this language. Whether that changes it.
fn lay_out(session: &Session<'_>, args: &FmtArgs, path: &Path) -> CommandResult<bool> {
    let shown = path.strip_prefix(&session.folder).unwrap_or(path);
    let name = shown.display().to_string();
    // What is not of this language is none of our business, and need not be text.
    if session.composition.front_end.format(&name, "").is_none() {
        return Ok(false);
    }
    let text = trueup_files::read_text(path, Accept::Regular, TEXT_BYTES_MAX);
    let text = text.map_err(|error| CommandError::file("read", shown, &error.into()))?;
    let Some(formatted) = session.composition.front_end.format(&name, &text) else { return Ok(false) };
    let formatted = formatted.map_err(|faulty| placed(faulty, &name))?;
    if formatted == text {
        return Ok(false);
    }
    session.ui.data(&escape_line(&name));
    if args.diff {
        tell_diff(session, &text, &formatted);
    }
    if !args.check {
        let written = whole_file::replace(path, formatted.as_bytes(), Readers::Same);
        written.map_err(|error| CommandError::file("write", shown, &error))?;
    }
    Ok(true)
}

/// What is said of a text as a whole is said of its file.
fn placed(faulty: InvalidProgram, name: &str) -> InvalidProgram {
    let mut diagnostics = Diagnostics::new();
    for diagnostic in faulty.diagnostics {
        let whole = diagnostic.origin.is_none();
        diagnostics.push(if whole { diagnostic.about(name) } else { diagnostic });
    }
    InvalidProgram { diagnostics, ..faulty }
}

fn files(session: &Session<'_>, args: &FmtArgs) -> CommandResult<Vec<PathBuf>> {
    let given: Vec<PathBuf> = match args.paths.is_empty() {
        true => vec![session.folder.clone()],
        false => args.paths.iter().map(|path| session.folder.join(path)).collect(),
    };
    let mut found = Vec::new();
    for path in given {
        match path.is_dir() {
            true => gather(&path, args.recursive, &mut found)?,
            false => {
                let metadata = std::fs::metadata(&path);
                metadata.map_err(|error| CommandError::file("read", &path, &error))?;
                found.push(path);
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn gather(folder: &Path, recursive: bool, found: &mut Vec<PathBuf>) -> CommandResult<()> {
    let failed = |error: std::io::Error| CommandError::file("read", folder, &error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && recursive && !hidden && entry.file_name() != OWN_FOLDER {
            gather(&path, recursive, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn tell_diff(session: &Session<'_>, before: &str, after: &str) {
    let look = session.ui.out();
    for line in diff_lines(before, after) {
        session.ui.data(&match line {
            DiffLine::Place { range, .. } => look.paint(Meaning::Quiet, &range),
            DiffLine::Same(text) => format!(" {text}"),
            DiffLine::Old(text) => look.paint(Meaning::Delete, &format!("-{text}")),
            DiffLine::New(text) => look.paint(Meaning::Create, &format!("+{text}")),
        });
    }
}
