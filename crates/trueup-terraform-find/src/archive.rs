//! Packed packages: archives that are unpacked with care, since they come from elsewhere.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use trueup_files::Accept;
use zip::ZipArchive;

use crate::hash;
use crate::settings::PackageLimits;

/// What was in an archive, beside the place where it is to be. Dropped, it is gone.
pub(crate) struct Unpacked {
    /// The `h1:` of it.
    pub(crate) hash: String,
    beside: TempDir,
    place: PathBuf,
}

/// Unpacks an archive whose contents are to lie in a folder of their own.
pub(crate) fn unpack(archive: &Path, place: &Path, limits: PackageLimits) -> Result<Unpacked, String> {
    let told = |error: io::Error| format!("cannot unpack it to {}: {error}", place.display());
    let above = place.parent().ok_or("there is no place to unpack it to")?;
    let file = trueup_files::open(archive, Accept::Regular)
        .map_err(|error| format!("cannot read {}: {error}", archive.display()))?;
    let mut archive = open(file, limits)?;
    fs::create_dir_all(above).map_err(told)?;
    let beside = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(above).map_err(told)?;
    let hash = extract(&mut archive, beside.path(), limits)?;
    Ok(Unpacked { hash, beside, place: place.to_owned() })
}

impl Unpacked {
    /// Puts it in its place, which appears whole or not at all. Where the same lies there already, that stays.
    pub(crate) fn keep(self) -> io::Result<()> {
        let Unpacked { hash, beside, place } = self;
        if place.exists() {
            if hash::of_folder(&place).is_ok_and(|there| there == hash) {
                return Ok(());
            }
            // What lies there is damaged, or of another making.
            fs::remove_dir_all(&place)?;
        }
        #[cfg(unix)]
        fs::set_permissions(beside.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        fs::rename(beside.path(), &place)?;
        // It is no longer there, so there is nothing to remove.
        let _ = beside.keep();
        Ok(())
    }
}

/// Reads an archive's list of files, unless it says itself that there is more in it than any provider has.
fn open(mut file: File, limits: PackageLimits) -> Result<ZipArchive<File>, String> {
    let PackageLimits { packed_bytes_max, files_max, .. } = limits;
    let length = file.metadata().map_err(|error| damaged(&error))?.len();
    if length > packed_bytes_max {
        return Err(format!("the archive has {length} bytes; a package may have {packed_bytes_max}"));
    }
    // Before the list is read: it takes more room in memory than in the archive.
    let too_many = || format!("the archive holds more than {files_max} files");
    if counted_files(&mut file).map_err(|error| damaged(&error))? > files_max {
        return Err(too_many());
    }
    let archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
    if archive.len() as u64 > files_max {
        return Err(too_many());
    }
    let declared = archive.decompressed_size().unwrap_or_default();
    if declared > u128::from(limits.unpacked_bytes_max) {
        return Err(too_much(limits));
    }
    Ok(archive)
}

fn damaged(error: &dyn std::fmt::Display) -> String {
    format!("the archive is damaged: {error}")
}

fn too_much(limits: PackageLimits) -> String {
    format!("the archive holds more than the {} bytes that a package may have", limits.unpacked_bytes_max)
}

/// The largest number of files that an end of the archive's list declares. The list may be followed by a comment, so that
/// more than one place looks like its end.
fn counted_files(file: &mut File) -> io::Result<u64> {
    const END: [u8; 4] = *b"PK\x05\x06";
    const END_BYTES: u64 = 22;
    const COMMENT_BYTES_MAX: u64 = 0xffff;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END_BYTES + COMMENT_BYTES_MAX)))?;
    let mut tail = Vec::new();
    file.take(END_BYTES + COMMENT_BYTES_MAX).read_to_end(&mut tail)?;
    let ends = tail.windows(END_BYTES as usize).filter(|end| end.starts_with(&END));
    // A list of 65535 files or more has its number elsewhere; that many are too many anyway.
    Ok(ends.map(|end| u64::from(u16::from_le_bytes([end[10], end[11]]))).max().unwrap_or_default())
}

fn extract(archive: &mut ZipArchive<File>, into: &Path, limits: PackageLimits) -> Result<String, String> {
    // What an archive says of its files may be wrong, so what comes out is counted.
    let mut left = limits.unpacked_bytes_max;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| damaged(&error))?;
        let Some(name) = entry.enclosed_name() else {
            return Err("the archive holds a file that would lie outside of its folder".to_owned());
        };
        if entry.is_dir() {
            continue;
        }
        // Checksums are taken over lines of digests and names: with such a name, two packages could have the same.
        if name.to_string_lossy().contains(char::is_control) {
            return Err("the archive holds a file with a control character in its name".to_owned());
        }
        if !entry.is_file() {
            return Err(format!("the archive holds {}, which is no file", name.display()));
        }
        let path = into.join(&name);
        let content = &mut entry.by_ref().take(left.saturating_add(1));
        let digest = write_out(content, &path, &mut left)?.ok_or_else(|| too_much(limits))?;
        let runs = entry.unix_mode().is_none_or(|mode| mode & 0o111 != 0);
        set_mode(&path, runs).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        files.push((name.to_string_lossy().replace('\\', "/"), digest));
    }
    Ok(hash::of_files(files))
}

/// Writes a file and gives its digest; `None` if it is longer than what is left.
fn write_out(from: &mut impl Read, path: &Path, left: &mut u64) -> Result<Option<[u8; 32]>, String> {
    let told = |error: io::Error| format!("cannot unpack {}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(told)?;
    let mut file = File::create_new(path).map_err(told)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    loop {
        let length = from.read(&mut chunk).map_err(told)?;
        if length == 0 {
            file.sync_all().map_err(told)?;
            return Ok(Some(hasher.finalize().into()));
        }
        match left.checked_sub(length as u64) {
            Some(rest) => *left = rest,
            None => return Ok(None),
        }
        hasher.update(&chunk[..length]);
        file.write_all(&chunk[..length]).map_err(told)?;
    }
}

#[cfg(unix)]
fn set_mode(path: &Path, runs: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 }))
}

#[cfg(not(unix))]
fn set_mode(_path: &Path, _runs: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(path: &Path, files: &[(&str, &str)]) {
        let mut writer = ZipWriter::new(File::create(path).unwrap());
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn what_is_unpacked_has_the_hash_of_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (packed, place) = (folder.path().join("a.zip"), folder.path().join("deep/place"));
        archive(&packed, &[("terraform-provider-x", "program"), ("docs/README", "read")]);
        let keep = || {
            let unpacked = unpack(&packed, &place, PackageLimits::default()).unwrap();
            let hash = unpacked.hash.clone();
            unpacked.keep().unwrap();
            assert_eq!(hash, hash::of_folder(&place).unwrap());
        };
        keep();
        // Again, over what is damaged, and not at all.
        keep();
        fs::write(place.join("docs/README"), "other").unwrap();
        keep();
        drop(unpack(&packed, &place, PackageLimits::default()).unwrap());
        assert_eq!(fs::read_dir(place.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn archives_that_reach_outside_or_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (packed, place) = (folder.path().join("a.zip"), folder.path().join("inside/place"));
        archive(&packed, &[("../../escaped", "x")]);
        let told = unpack(&packed, &place, PackageLimits::default()).err().unwrap();
        assert!(told.contains("outside of its folder"), "{told}");
        assert!(!folder.path().join("escaped").exists() && !place.exists());
        archive(&packed, &[("a\n0123  b", "x")]);
        let told = unpack(&packed, &place, PackageLimits::default()).err().unwrap();
        assert!(told.contains("control character") && !place.exists(), "{told}");
        fs::write(&packed, "garbage").unwrap();
        assert!(
            unpack(&packed, &place, PackageLimits::default())
                .err()
                .unwrap()
                .starts_with("the archive is damaged")
        );
        archive(&packed, &[("terraform-provider-x", &"program ".repeat(5000))]);
        let whole = fs::read(&packed).unwrap();
        fs::write(&packed, &whole[..whole.len() / 2]).unwrap();
        assert!(unpack(&packed, &place, PackageLimits::default()).is_err());
        assert!(!place.exists());
    }

    /// What is told of an archive, within limits of this test: 1000 bytes packed, 5000 unpacked, 10 files.
    fn told(content: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let (packed, place) = (folder.path().join("a.zip"), folder.path().join("inside/place"));
        fs::write(&packed, content).unwrap();
        let limits = PackageLimits { packed_bytes_max: 1000, unpacked_bytes_max: 5000, files_max: 10 };
        let told = unpack(&packed, &place, limits).err().unwrap_or_default();
        let left = fs::read_dir(place.parent().unwrap()).into_iter().flatten().count();
        assert_eq!(left, 0, "something is left behind: {told}");
        told
    }

    fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        archive(&folder.path().join("a.zip"), files);
        fs::read(folder.path().join("a.zip")).unwrap()
    }

    /// An archive with a link, and a file below it.
    fn linked(target: &str) -> Vec<u8> {
        let mut writer = ZipWriter::new(io::Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        writer.add_symlink("link", target, options).unwrap();
        writer.start_file("link/escaped", options).unwrap();
        writer.finish().unwrap().into_inner()
    }

    /// BOUND-4: whatever its files are called, and wherever its links lead.
    #[test]
    fn archives_that_mean_no_good_are_refused_and_leave_nothing() {
        let outside = "the archive holds a file that would lie outside of its folder";
        let long = "n".repeat(300);
        let rows = [
            ("above", zipped(&[("../escaped", "x")]), outside),
            ("above, by way of a folder", zipped(&[("a/../../escaped", "x")]), outside),
            ("a zero in a name", zipped(&[("a\0b", "x")]), outside),
            ("a link to the root", linked("/"), "the archive holds link, which is no file"),
            ("a link to above", linked("../.."), "the archive holds link, which is no file"),
            ("a link to itself", linked("link"), "the archive holds link, which is no file"),
            ("a file as a folder", zipped(&[("a", "x"), ("a/b", "x")]), "cannot unpack"),
            ("a long name", zipped(&[(&long, "x")]), "cannot unpack"),
            ("an escape in a name", zipped(&[("a\u{1b}[2J", "x")]), "control character"),
        ];
        for (what, content, expected) in rows {
            let told = told(&content);
            assert!(told.contains(expected), "{what}: {told}");
        }
    }

    /// BOUND-4
    #[test]
    fn archives_beyond_the_limits_are_refused_and_leave_nothing() {
        let bomb = zipped(&[("a", &"0".repeat(3000)), ("b", &"0".repeat(3000))]);
        let too_much = "the archive holds more than the 5000 bytes that a package may have";
        // The same with small sizes declared: 3000 is 0x0bb8, in the headers of the files and in the list.
        let lying: Vec<u8> = {
            let mut lying = bomb.clone();
            for at in 0..lying.len() - 3 {
                if lying[at..at + 4] == [0xb8, 0x0b, 0, 0] {
                    lying[at] = 1;
                    lying[at + 1] = 0;
                }
            }
            lying
        };
        let names: Vec<String> = (0..11).map(|at| at.to_string()).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
        let empty_end = |count: u16| {
            let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
            end.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
            end.extend([0; 10]);
            end
        };
        let rows = [
            ("declared", bomb, too_much),
            ("more files", zipped(&many), "the archive holds more than 10 files"),
            ("files that are only declared", empty_end(50_000), "the archive holds more than 10 files"),
            ("a list too long for its number", empty_end(0xffff), "the archive holds more than 10 files"),
            ("packed", vec![0; 1001], "the archive has 1001 bytes; a package may have 1000"),
        ];
        for (what, content, expected) in rows {
            assert_eq!(told(&content), expected, "{what}");
        }
        let told = told(&lying);
        assert!(told.contains("larger than its declared"), "a lie about sizes does not get past: {told}");
    }
}
