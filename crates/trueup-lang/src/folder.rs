//! The files of a folder that belong to a program.

use std::path::Path;

use trueup_core::{Diagnostic, Diagnostics, SourceMap, on_all_cores};
use trueup_files::Accept;

use crate::declare::ModuleFile;
use crate::syntax::{Body, Entered, FILE_BYTES_MAX, Parsed, enter_source};

/// The names of files that belong to a module, in the order in which they are read.
pub(crate) fn is_source(name: &str) -> bool {
    let hidden =
        name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'));
    !hidden && [".tf", ".tf.json", ".tu.hcl"].iter().any(|ending| name.ends_with(ending))
}

/// Reads all source files of a folder. `shown` is the folder as messages name it; files are shown inside it.
pub(crate) fn read_folder(
    folder: &Path,
    shown: &Path,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Vec<ModuleFile> {
    let names = match source_names(folder) {
        Ok(names) => names,
        Err(error) => {
            diagnostics.push(unreadable(&shown.display().to_string(), &error));
            return Vec::new();
        }
    };
    let mut entered = Vec::new();
    for name in names {
        let place = shown.join(&name);
        let place = place.strip_prefix(".").unwrap_or(&place).display().to_string();
        match read_bounded(&folder.join(&name), Accept::Regular) {
            Ok(bytes) => entered.push((name, bytes.len(), enter_source(sources, &place, &bytes))),
            Err(error) => diagnostics.push(unreadable(&place, &error)),
        }
    }
    let bytes: usize = entered.iter().map(|(_, bytes, _)| bytes).sum();
    let parse = |(name, _, entered): (String, usize, Entered)| (name, entered.parse(sources));
    let parsed = if bytes < SHARED_BYTES_MIN {
        entered.into_iter().map(parse).collect()
    } else {
        on_all_cores(entered, &parse)
    };
    let file = |(name, parsed): (String, Parsed<Body>)| {
        diagnostics.extend(parsed.diagnostics);
        ModuleFile { name, body: parsed.tree }
    };
    parsed.into_iter().map(file).collect()
}

/// Less text than this is read sooner than a thread begins.
const SHARED_BYTES_MIN: usize = 128 * 1024;

fn source_names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A name that is not text cannot be one of ours.
        if let Ok(name) = entry.file_name().into_string()
            && is_source(&name)
            && !entry.path().is_dir()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The bytes of a file that may be parsed.
pub(crate) fn read_bounded(path: &Path, accept: Accept) -> std::io::Result<Vec<u8>> {
    Ok(trueup_files::read(path, accept, FILE_BYTES_MAX as u64)?)
}

pub(crate) fn unreadable(place: &str, error: &std::io::Error) -> Diagnostic {
    let diagnostic = Diagnostic::error(format!("cannot read {place}: {error}"));
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => diagnostic.hint("check who owns it and its mode"),
        std::io::ErrorKind::NotFound => diagnostic.hint("check the path"),
        std::io::ErrorKind::FileTooLarge => {
            diagnostic.hint("move large data to a file of its own and read it with `file`")
        }
        _ => diagnostic,
    }
}
