//! What lies at a path.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};
use trueup_provider::{Error, Result};

use super::failed;
use super::mode::Mode;

/// What was found at a path. Links are not followed: what they lead to is someone else's.
pub(crate) enum Seen {
    Nothing,
    File(SeenFile),
    Directory(Mode),
    Link,
    /// A socket, a device, a pipe.
    Other,
}

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SeenFile {
    pub(crate) size: u64,
    pub(crate) sha256: String,
    pub(crate) mode: Mode,
}

impl Seen {
    /// The error of finding this where something else should be.
    pub(crate) fn in_the_way(&self, path: &Path, wanted: &str) -> Error {
        let what = match self {
            Seen::Nothing => "nothing",
            Seen::File(_) => "a file",
            Seen::Directory(_) => "a directory",
            Seen::Link => "a symbolic link",
            Seen::Other => "a socket, pipe or device",
        };
        Error::conflict(format!("there is {what} at `{}`, where {wanted} should be", path.display()))
            .hint("move it out of the way, or choose another path")
    }
}

/// Looks at a path.
pub(crate) fn look(path: &Path) -> Result<Seen> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::Nothing),
        Err(error) => return Err(failed("look at", path, &error)),
    };
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Ok(Seen::Link);
    }
    if kind.is_dir() {
        return Ok(Seen::Directory(Mode::of(&metadata.permissions())));
    }
    if !kind.is_file() {
        return Ok(Seen::Other);
    }
    let file = match fs::File::open(path) {
        Ok(file) => file,
        // Removed since the first look.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::Nothing),
        Err(error) => return Err(failed("read", path, &error)),
    };
    let (size, sha256) = digest(file).map_err(|error| failed("read", path, &error))?;
    Ok(Seen::File(SeenFile { size, sha256, mode: Mode::of(&metadata.permissions()) }))
}

/// The size and SHA-256 of all that a reader gives.
pub(crate) fn digest(mut content: impl Read) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut size = 0;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok((size, hexadecimal(&hasher.finalize()))),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_one_other_tools_give() {
        let (size, sha256) = digest(&b"hello\n"[..]).unwrap();
        assert_eq!(size, 6);
        assert_eq!(sha256, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    }
}
