//! What lies on the disk: looking at a path, writing atomically, permissions.
//!
//! Everything here runs on the spot, without waiting in between: a call that is dropped has either not begun or is
//! finished, so that nothing goes on writing behind the back of whoever looks next.

mod mode;
mod seen;
mod spelling;
mod write;

use std::io;
use std::path::Path;

use trueup_files::ReadError;
use trueup_provider::Error;

pub(crate) use mode::Mode;
pub(crate) use seen::{Seen, SeenFile, digest, look};
pub(crate) use spelling::same_path;
pub(crate) use write::{Existing, make_directory, sync_folder, write_file};

/// An error of the operating system, with what was being done to which path. Its class follows from its kind.
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> Error {
    io::Error::new(error.kind(), format!("cannot {doing} `{}`: {error}", path.display())).into()
}

/// A file that was not read, with its path.
pub(crate) fn unread(doing: &str, path: &Path, error: &ReadError) -> Error {
    let what = match error {
        ReadError::Io(error) => return failed(doing, path, error),
        ReadError::Directory => "is a directory, not a file".to_owned(),
        ReadError::Special => "is a socket, pipe or device, not a file".to_owned(),
        ReadError::TooLarge(max) => format!("has more than {} MiB", max / (1024 * 1024)),
        ReadError::Binary => "is not UTF-8 text".to_owned(),
    };
    Error::invalid(format!("`{}` {what}", path.display()))
}
