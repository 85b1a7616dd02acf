//! A function's code as a ZIP archive: the same files always make the same bytes.
//!
//! Names are in order, times are all the same, and of the permissions only counts whether a file can be run: so the
//! digest of the archive changes with the code and with nothing else, and a plan can tell.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use sha2::{Digest, Sha256};
use trueup_files::{Accept, ReadError};
use trueup_provider::{Error, Result};

/// What Lambda takes in a request.
const LENGTH_MAX: u64 = 50 * 1024 * 1024;

/// What a function may have, unpacked.
const UNPACKED_LENGTH_MAX: u64 = 250 * 1024 * 1024;

/// How many files and folders an archive may have. Links that lead round in a circle have no end.
const ENTRIES_MAX: usize = 0xffff;

const LEAVE_OUT: &str = "Lambda takes up to 50 MB, or 250 MB unpacked: leave out what it does not need";

/// An archive, ready to be sent.
pub(super) struct Archive {
    pub(super) bytes: Vec<u8>,
    /// As Lambda tells it.
    pub(super) sha256: String,
}

impl Archive {
    /// The archive of a function that has no code yet: whoever calls it gets an error.
    pub(super) fn of_stub() -> Result<Self> {
        let content = b"The code of this function is on its way.\n".to_vec();
        let bytes = zip(&[PackedFile { name: "stub.txt".to_owned(), content, can_be_run: false }])?;
        let sha256 = STANDARD.encode(Sha256::digest(&bytes));
        Ok(Archive { bytes, sha256 })
    }

    /// The files below a folder, or an archive that is there already.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let kind = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
        let bytes = if kind.is_dir() {
            let mut files = Vec::new();
            gather(path, "", &mut files, &mut Room { length: UNPACKED_LENGTH_MAX, entries: ENTRIES_MAX })?;
            if files.is_empty() {
                return Err(Error::invalid(format!("there are no files in `{}`", path.display())));
            }
            files.sort_by(|left, right| left.name.cmp(&right.name));
            zip(&files)?
        } else {
            read(path, LENGTH_MAX)?
        };
        if bytes.len() as u64 > LENGTH_MAX {
            let message = format!("the code in `{}` takes {} bytes when packed", path.display(), bytes.len());
            return Err(Error::invalid(message).at("code").hint(LEAVE_OUT));
        }
        let sha256 = STANDARD.encode(Sha256::digest(&bytes));
        Ok(Archive { bytes, sha256 })
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::invalid(format!("cannot read the code in `{}`: {error}", path.display()))
        .at("code")
        .hint("a relative path begins at the stack's folder")
}

/// The bytes of a file of at most that length.
fn read(path: &Path, length_max: u64) -> Result<Vec<u8>> {
    trueup_files::read(path, Accept::Regular, length_max).map_err(|error| match error {
        ReadError::TooLarge(_) => {
            let message = format!("the code in `{}` is larger than Lambda takes", path.display());
            Error::invalid(message).at("code").hint(LEAVE_OUT)
        }
        other => unreadable(path, &other.into()),
    })
}

struct PackedFile {
    name: String,
    content: Vec<u8>,
    can_be_run: bool,
}

/// What an archive has room for.
struct Room {
    length: u64,
    entries: usize,
}

/// Gathers the files below a folder, as long as there is room for them.
fn gather(folder: &Path, prefix: &str, files: &mut Vec<PackedFile>, room: &mut Room) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        let path = entry.path();
        room.entries = room.entries.checked_sub(1).ok_or_else(|| {
            Error::invalid(format!("there are more than {ENTRIES_MAX} files and folders in the code"))
                .at("code")
                .hint("links may lead round in a circle")
        })?;
        let Ok(own) = entry.file_name().into_string() else {
            return Err(Error::invalid(format!("the name of `{}` is not UTF-8", path.display())).at("code"));
        };
        let name = format!("{prefix}{own}");
        let metadata = fs::metadata(&path).map_err(|error| unreadable(&path, &error))?;
        if metadata.is_dir() {
            gather(&path, &format!("{name}/"), files, room)?;
        } else {
            let content = read(&path, room.length)?;
            room.length -= content.len() as u64;
            files.push(PackedFile { name, content, can_be_run: metadata.permissions().mode() & 0o100 != 0 });
        }
    }
    Ok(())
}

/// What stands in a file's header here and in the directory at the end alike.
struct Entry<'a> {
    file: &'a PackedFile,
    packed: Vec<u8>,
    checksum: u32,
    offset: u32,
}

impl Entry<'_> {
    /// From the version needed to the lengths: the middle that both headers share.
    fn middle(&self, into: &mut Vec<u8>) -> Result<()> {
        let name_length = u16::try_from(self.file.name.len()).map_err(too_large)?;
        into.extend(20u16.to_le_bytes());
        // Names are UTF-8; what follows is deflated.
        into.extend(0x0800u16.to_le_bytes());
        into.extend(8u16.to_le_bytes());
        // Midnight of the first day that the format knows.
        into.extend(0u16.to_le_bytes());
        into.extend(0x0021u16.to_le_bytes());
        into.extend(self.checksum.to_le_bytes());
        into.extend(length(&self.packed)?.to_le_bytes());
        into.extend(length(&self.file.content)?.to_le_bytes());
        into.extend(name_length.to_le_bytes());
        into.extend(0u16.to_le_bytes());
        Ok(())
    }
}

fn zip(files: &[PackedFile]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut entries = Vec::new();
    for file in files {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&file.content)?;
        let mut checksum = Crc::new();
        checksum.update(&file.content);
        let offset = length(&bytes)?;
        let entry = Entry { file, packed: encoder.finish()?, checksum: checksum.sum(), offset };
        bytes.extend(0x0403_4b50u32.to_le_bytes());
        entry.middle(&mut bytes)?;
        bytes.extend(file.name.as_bytes());
        bytes.extend(&entry.packed);
        entries.push(entry);
    }
    let directory = length(&bytes)?;
    for entry in &entries {
        bytes.extend(0x0201_4b50u32.to_le_bytes());
        // Made on Unix, so that permissions count.
        bytes.extend(0x0314u16.to_le_bytes());
        entry.middle(&mut bytes)?;
        bytes.extend([0; 6]);
        let mode: u32 = if entry.file.can_be_run { 0o100_755 } else { 0o100_644 };
        bytes.extend((mode << 16).to_le_bytes());
        bytes.extend(entry.offset.to_le_bytes());
        bytes.extend(entry.file.name.as_bytes());
    }
    let directory_length = length(&bytes)? - directory;
    let count = u16::try_from(entries.len()).map_err(too_large)?;
    bytes.extend(0x0605_4b50u32.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(directory_length.to_le_bytes());
    bytes.extend(directory.to_le_bytes());
    bytes.extend(0u16.to_le_bytes());
    Ok(bytes)
}

fn length(bytes: &[u8]) -> Result<u32> {
    u32::try_from(bytes.len()).map_err(too_large)
}

fn too_large(_: std::num::TryFromIntError) -> Error {
    Error::invalid("there is more code than an archive can hold").at("code")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_make_the_same_archive() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (folder, order) in [(&first, ["b.py", "a.py"]), (&second, ["a.py", "b.py"])] {
            for name in order {
                fs::write(folder.path().join(name), format!("# {name}")).unwrap();
            }
            fs::create_dir(folder.path().join("inner")).unwrap();
            fs::write(folder.path().join("inner/c.py"), "").unwrap();
        }
        let archive = |folder: &tempfile::TempDir| Archive::read(folder.path()).unwrap();
        assert_eq!(archive(&first).bytes, archive(&second).bytes);
        fs::write(first.path().join("a.py"), "# other").unwrap();
        assert_ne!(archive(&first).sha256, archive(&second).sha256);
    }

    #[test]
    fn what_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Archive::read(folder.path()).is_err());
        assert!(Archive::read(&folder.path().join("none")).is_err());
    }

    /// BOUND-2.
    #[test]
    fn what_is_no_file_is_not_packed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for inside in ["pipes", "devices", "circles"] {
            fs::create_dir(at(inside)).unwrap();
        }
        let pipe = at("pipes/pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", at("devices/zero")).unwrap();
        for round in ["one", "two"] {
            std::os::unix::fs::symlink(".", at("circles").join(round)).unwrap();
        }
        let large = fs::File::create(at("large.zip")).unwrap();
        large.set_len(LENGTH_MAX + 1).unwrap();
        let special = "it is a socket, pipe or device, not a file";
        let rows = [
            (pipe, special),
            (at("pipes"), special),
            ("/dev/zero".into(), special),
            (at("devices"), special),
            (at("circles"), "cannot read the code"),
            (at("large.zip"), "larger than Lambda takes"),
        ];
        for (path, expected) in rows {
            let refused = Archive::read(&path).err().expect("refused").to_string();
            assert!(refused.contains(expected), "{}: {refused}", path.display());
        }
    }
}
