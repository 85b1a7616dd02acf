//! Files and paths: abspath basename dirname file filebase64 fileexists fileset pathexpand. Relative paths are relative
//! to the folder that the environment names. Nothing is ever written.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use trueup_core::Value;
use trueup_files::{Accept, ReadError};

use super::glob::matching_files;
use super::{Call, Function, Outcome, Problem, Returns, Wanted, function, param};

/// The largest file that is read into a value.
const FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;

const PATH: &[super::Parameter] = &[param("path", Wanted::Text)];

pub(super) const FUNCTIONS: &[Function] = &[
    function("abspath", PATH, Returns::Text, |call| {
        let path = absolute(call, call.text(0));
        Ok(Value::string(clean(&path.to_string_lossy())))
    }),
    function("basename", PATH, Returns::Text, |call| Ok(Value::string(basename(call.text(0))))),
    function("dirname", PATH, Returns::Text, |call| Ok(Value::string(dirname(call.text(0))))),
    function("file", PATH, Returns::Text, |call| read_text(call, 0).map(Value::string)),
    function("filebase64", PATH, Returns::Text, |call| {
        Ok(Value::string(BASE64.encode(read_bytes(call, 0)?)))
    }),
    function("fileexists", PATH, Returns::Bool, fileexists),
    function(
        "fileset",
        &[param("path", Wanted::Text), param("pattern", Wanted::Text)],
        Returns::SetOfTexts,
        fileset,
    ),
    function("pathexpand", PATH, Returns::Text, |call| {
        Ok(Value::string(expanded(call, call.text(0)).to_string_lossy()))
    }),
];

/// The path with `~` at its beginning replaced by the home folder.
fn expanded(call: &Call<'_>, path: &str) -> PathBuf {
    match (&call.surroundings().home, path.strip_prefix('~')) {
        (Some(home), Some("")) => home.clone(),
        (Some(home), Some(rest)) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

fn absolute(call: &Call<'_>, path: &str) -> PathBuf {
    call.surroundings().folder.join(path)
}

/// The path of a file to read.
fn located(call: &Call<'_>, path: &str) -> PathBuf {
    call.surroundings().folder.join(expanded(call, path))
}

/// The content of the file that an argument names.
pub(super) fn read_bytes(call: &Call<'_>, at: usize) -> Result<Vec<u8>, Problem> {
    let path = call.text(at);
    let shown = call.shown(path);
    let located = located(call, path);
    let content =
        trueup_files::read(&located, Accept::Regular, FILE_BYTES_MAX).map_err(|error| match error {
            ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Problem::at(at, format!("there is no file {shown}")).hint(
                    "only files that exist before the run can be read, not those that a resource writes",
                )
            }
            ReadError::Directory => Problem::at(at, format!("{shown} is a folder, not a file")),
            ReadError::Special => Problem::at(at, format!("{shown} is a socket, pipe or device, not a file")),
            ReadError::TooLarge(max) => {
                Problem::at(at, format!("{shown} is larger than {} MiB", max / (1024 * 1024)))
            }
            ReadError::Io(_) | ReadError::Binary => Problem::at(at, format!("cannot read {shown}: {error}")),
        })?;
    call.surroundings().reads.note(shown.trim_matches('"').to_owned(), &content);
    Ok(content)
}

/// The content of the file that an argument names, as text.
pub(super) fn read_text(call: &Call<'_>, at: usize) -> Result<String, Problem> {
    String::from_utf8(read_bytes(call, at)?).map_err(|_| {
        Problem::at(at, format!("{} is not UTF-8 text", call.shown(call.text(at))))
            .hint("`filebase64` reads any file")
    })
}

fn fileexists(call: &Call<'_>) -> Outcome {
    let path = call.text(0);
    let noted = |there: bool| {
        call.surroundings().reads.note(format!("whether {} is there", call.shown(path)), &[u8::from(there)]);
        Ok(Value::from(there))
    };
    match std::fs::metadata(located(call, path)) {
        Ok(metadata) if metadata.is_file() => noted(true),
        Ok(_) => Err(Problem::at(0, format!("{} is there but is no regular file", call.shown(path)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => noted(false),
        Err(error) => Err(Problem::at(0, format!("cannot look for {}: {error}", call.shown(path)))),
    }
}

fn fileset(call: &Call<'_>) -> Outcome {
    let folder = located(call, call.text(0));
    let files = matching_files(&folder, &clean(call.text(1))).map_err(|message| Problem::at(1, message))?;
    let what = format!("the files {} in {}", call.shown(call.text(1)), call.shown(call.text(0)));
    call.surroundings().reads.note(what, files.join("\n").as_bytes());
    Ok(Value::set(files.into_iter().map(Value::string)))
}

/// The path without `.`, `..` and repeated slashes, by its text alone.
fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            other => parts.push(other),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

fn basename(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => ".".to_owned(),
        (false, true) => "/".to_owned(),
        (false, false) => trimmed.rsplit('/').next().unwrap_or(trimmed).to_owned(),
    }
}

fn dirname(path: &str) -> String {
    let folder = path.rfind('/').map_or("", |slash| &path[..=slash]);
    clean(folder)
}

/// Whether a path leads to a file of its own, links followed.
pub(super) fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}
