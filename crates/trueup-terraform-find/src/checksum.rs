//! Checksums of unpacked packages, reckoned once: a provider may have half a gigabyte, and each run asks again.
//!
//! What is remembered is named by what the files look like (names, lengths, times, inodes), so it is never out of date; it
//! lies in a folder of the user's own, because whoever can write it can vouch for packages.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::hash;

/// The `h1:` of an unpacked package, from the memory in this folder if it is there.
pub(crate) fn of_package(folder: &Path, memory: Option<&Path>) -> io::Result<String> {
    let Some(memory) = memory else { return hash::of_folder(folder) };
    let place = memory.join(likeness(folder)?);
    if let Ok(known) = fs::read_to_string(&place)
        && known.starts_with("h1:")
    {
        return Ok(known);
    }
    let hash = hash::of_folder(folder)?;
    // Without it, the next run reads the package again, and nothing else happens.
    let _ = fs::create_dir_all(memory).and_then(|()| {
        let beside = tempfile::NamedTempFile::new_in(memory)?;
        fs::write(beside.path(), &hash)?;
        beside.persist(&place).map_err(io::Error::from)
    });
    Ok(hash)
}

/// Whether these checksums vouch for a package with this `h1:`: it is among them, or one is that of the archive from which
/// we unpacked such a package.
pub(crate) fn vouch(hashes: &BTreeSet<String>, package: &str, memory: Option<&Path>) -> bool {
    let unpacked = |archive: &String| {
        memory.is_some_and(|memory| unpacked_from(archive, memory).is_some_and(|known| known == package))
    };
    hashes.contains(package) || hashes.iter().any(unpacked)
}

/// The `h1:` of what we unpacked from an archive of this checksum.
pub(crate) fn unpacked_from(archive: &str, memory: &Path) -> Option<String> {
    fs::read_to_string(memory.join(archive_name(archive)?)).ok()
}

/// Remembers what was unpacked from an archive. Without it, the package is fetched again for the next folder, and nothing
/// else happens.
pub(crate) fn remember_archive(archive: &str, package: &str, memory: &Path) {
    let Some(name) = archive_name(archive) else { return };
    let _ = fs::create_dir_all(memory).and_then(|()| fs::write(memory.join(name), package));
}

fn archive_name(archive: &str) -> Option<String> {
    let digest = archive.strip_prefix("zh:")?;
    let sound = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    sound.then(|| format!("archive-{digest}"))
}

/// A name for all that can be seen of a package without reading it.
fn likeness(folder: &Path) -> io::Result<String> {
    let folder = folder.canonicalize()?;
    let mut seen = folder.to_string_lossy().into_owned();
    for path in hash::files_below(&folder)? {
        let meta = fs::metadata(&path)?;
        let modified = meta.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        // Text, so that nothing can fail.
        let _ = write!(seen, "\n{} {} {modified:?} {}", path.display(), meta.len(), inode(&meta));
    }
    Ok(hash::hex(&Sha256::digest(seen.as_bytes())))
}

#[cfg(unix)]
fn inode(meta: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt;
    // The time of the last change of anything, which nobody can set.
    format!("{}:{} {}.{}", meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn inode(_meta: &fs::Metadata) -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_package_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let (package, memory) = (folder.path().join("package"), folder.path().join("memory"));
        fs::create_dir(&package).unwrap();
        fs::write(package.join("program"), "one").unwrap();
        let first = of_package(&package, Some(&memory)).unwrap();
        assert_eq!(of_package(&package, Some(&memory)).unwrap(), first);
        assert_eq!(fs::read_dir(&memory).unwrap().count(), 1);
        fs::write(package.join("program"), "two").unwrap();
        assert_eq!(of_package(&package, Some(&memory)).unwrap(), hash::of_folder(&package).unwrap());
        assert_ne!(of_package(&package, Some(&memory)).unwrap(), first);
    }
}
