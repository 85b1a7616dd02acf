//! Files as input, read whole.
//!
//! To open a pipe may wait for ever, to read a device may never end, and a link makes either look like a file. [`read`]
//! bounds the size, and opens only what [`Accept`] says. It never writes, and follows links as any reader does.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The kinds of files that a reader takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accept {
    /// Regular files alone: for what is found in a folder or named by a program.
    Regular,
    /// Also what the process was started with, such as `/dev/stdin` or a shell's `<(…)`. It is open already, so that nothing
    /// waits for somebody to open its other end.
    Inherited,
    /// Also pipes and devices: for what a person names on the command line. `sops exec-file` hands files over as pipes.
    Stream,
}

/// A file that was not read.
#[derive(Debug)]
pub enum ReadError {
    /// The system can't open or read it.
    Io(io::Error),
    /// It is a directory.
    Directory,
    /// It is a socket, pipe or device.
    Special,
    /// It has more bytes than this.
    TooLarge(u64),
    /// It is not UTF-8 text.
    Binary,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::Directory => f.write_str("it is a directory, not a file"),
            ReadError::Special => f.write_str("it is a socket, pipe or device, not a file"),
            ReadError::TooLarge(max) => write!(f, "it is larger than {}", Size(*max)),
            ReadError::Binary => f.write_str("it is not UTF-8 text"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        ReadError::Io(error)
    }
}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => error,
            ReadError::Directory => io::Error::new(ErrorKind::IsADirectory, error),
            ReadError::Special => io::Error::new(ErrorKind::InvalidInput, error),
            ReadError::TooLarge(_) => io::Error::new(ErrorKind::FileTooLarge, error),
            ReadError::Binary => io::Error::new(ErrorKind::InvalidData, error),
        }
    }
}

/// A size in the largest unit that it is a multiple of.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KIB: u64 = 1024;
        const MIB: u64 = 1024 * KIB;
        match self.0 {
            bytes if bytes >= MIB && bytes.is_multiple_of(MIB) => write!(f, "{} MiB", bytes / MIB),
            bytes if bytes >= KIB && bytes.is_multiple_of(KIB) => write!(f, "{} KiB", bytes / KIB),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// The bytes of a file of at most `bytes_max`.
pub fn read(path: &Path, accept: Accept, bytes_max: u64) -> Result<Vec<u8>, ReadError> {
    let file = open(path, accept)?;
    let length = file.metadata()?.len();
    if length > bytes_max {
        return Err(ReadError::TooLarge(bytes_max));
    }
    // It may grow while it is read, and some files do not tell their length.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > bytes_max {
        true => Err(ReadError::TooLarge(bytes_max)),
        false => Ok(bytes),
    }
}

/// The same as text.
pub fn read_text(path: &Path, accept: Accept, bytes_max: u64) -> Result<String, ReadError> {
    String::from_utf8(read(path, accept, bytes_max)?).map_err(|_| ReadError::Binary)
}

/// Opens a file to read it piece by piece, whatever its size.
pub fn open(path: &Path, accept: Accept) -> Result<File, ReadError> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(ReadError::Directory);
    }
    let accepted = match accept {
        Accept::Regular => found.is_file(),
        Accept::Inherited => found.is_file() || is_inherited(path),
        Accept::Stream => true,
    };
    match accepted {
        true => Ok(File::open(path)?),
        false => Err(ReadError::Special),
    }
}

/// Whether a path names what the process was started with.
fn is_inherited(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    path == Path::new("/dev/stdin")
        || path.parent().is_some_and(|folder| folders.iter().any(|it| folder == Path::new(it)))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn told(path: &Path, accept: Accept) -> String {
        match read_text(path, accept, 8) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    /// BOUND-2.
    #[test]
    fn only_what_ends_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("small"), "12345678").unwrap();
        std::fs::write(at("large"), "123456789").unwrap();
        std::fs::write(at("binary"), [0xff]).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("link")).unwrap();
        std::os::unix::fs::symlink("small", at("to_small")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), mode).unwrap();
        let special = "it is a socket, pipe or device, not a file";
        let rows = [
            ("small", "12345678"),
            ("to_small", "12345678"),
            ("large", "it is larger than 8 bytes"),
            ("binary", "it is not UTF-8 text"),
            (".", "it is a directory, not a file"),
            ("link", special),
            ("pipe", special),
            ("/dev/zero", special),
        ];
        for (name, expected) in rows {
            assert_eq!(told(&at(name), Accept::Regular), expected, "{name}");
            assert_eq!(told(&at(name), Accept::Inherited), expected, "{name}");
        }
        assert_eq!(told(Path::new("/dev/zero"), Accept::Stream), "it is larger than 8 bytes");
        assert_eq!(told(Path::new("/dev/null"), Accept::Stream), "");
    }

    /// BOUND-2: a pipe that a shell made is open already.
    #[test]
    fn inherited_pipes_are_read_up_to_the_size() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        for (content, expected) in [("12345678", "12345678"), ("123456789", "it is larger than 8 bytes")] {
            let (reader, mut writer) = io::pipe().unwrap();
            writer.write_all(content.as_bytes()).unwrap();
            drop(writer);
            let path = format!("/dev/fd/{}", reader.as_raw_fd());
            assert_eq!(told(Path::new(&path), Accept::Regular), "it is a socket, pipe or device, not a file");
            assert_eq!(told(Path::new(&path), Accept::Inherited), expected);
        }
    }

    #[test]
    fn sizes_are_told_in_units() {
        let told = |bytes: u64| Size(bytes).to_string();
        assert_eq!([told(1000), told(64 * 1024), told(3 << 20)], ["1000 bytes", "64 KiB", "3 MiB"]);
    }
}
