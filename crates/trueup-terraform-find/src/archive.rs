//! Packed packages: archives that are unpacked with care, since they come from elsewhere.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use zip::ZipArchive;

use crate::hash;

/// The most that an archive may hold, in files and in bytes: no provider comes near it.
const FILES_MAX: usize = 10_000;
const BYTES_MAX: u64 = 8 << 30;

/// What was in an archive, beside the place where it is to be. Dropped, it is gone.
pub(crate) struct Unpacked {
    /// The `h1:` of it.
    pub(crate) hash: String,
    beside: TempDir,
    place: PathBuf,
}

/// Unpacks an archive whose contents are to lie in a folder of their own.
pub(crate) fn unpack(archive: &Path, place: &Path) -> Result<Unpacked, String> {
    let told = |error: io::Error| format!("cannot unpack it to {}: {error}", place.display());
    let above = place.parent().ok_or("there is no place to unpack it to")?;
    fs::create_dir_all(above).map_err(told)?;
    let beside = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(above).map_err(told)?;
    let hash = extract(archive, beside.path())?;
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

fn extract(archive: &Path, into: &Path) -> Result<String, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("the archive is damaged: {error}");
    let file = File::open(archive).map_err(|error| format!("cannot read {}: {error}", archive.display()))?;
    let mut archive = ZipArchive::new(file).map_err(|error| damaged(&error))?;
    if archive.len() > FILES_MAX {
        return Err(format!("the archive holds more than {FILES_MAX} files"));
    }
    let mut left = BYTES_MAX;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| damaged(&error))?;
        let Some(name) = entry.enclosed_name() else {
            return Err("the archive holds a file that would lie outside of its folder".to_owned());
        };
        if entry.is_dir() {
            continue;
        }
        if !entry.is_file() {
            return Err(format!("the archive holds {}, which is no file", name.display()));
        }
        let path = into.join(&name);
        let digest = write_out(&mut entry.by_ref().take(left.saturating_add(1)), &path, &mut left)?;
        let runs = entry.unix_mode().is_none_or(|mode| mode & 0o111 != 0);
        set_mode(&path, runs).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        files.push((name.to_string_lossy().replace('\\', "/"), digest));
    }
    Ok(hash::of_files(files))
}

fn write_out(from: &mut impl Read, path: &Path, left: &mut u64) -> Result<[u8; 32], String> {
    let told = |error: io::Error| format!("cannot unpack {}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(told)?;
    let mut file = File::create_new(path).map_err(told)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    loop {
        let length = from.read(&mut chunk).map_err(told)?;
        if length == 0 {
            file.sync_all().map_err(told)?;
            return Ok(hasher.finalize().into());
        }
        *left = left.checked_sub(length as u64).ok_or("the archive holds too much")?;
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
            let unpacked = unpack(&packed, &place).unwrap();
            let hash = unpacked.hash.clone();
            unpacked.keep().unwrap();
            assert_eq!(hash, hash::of_folder(&place).unwrap());
        };
        keep();
        // Again, over what is damaged, and not at all.
        keep();
        fs::write(place.join("docs/README"), "other").unwrap();
        keep();
        drop(unpack(&packed, &place).unwrap());
        assert_eq!(fs::read_dir(place.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn archives_that_reach_outside_or_are_none_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (packed, place) = (folder.path().join("a.zip"), folder.path().join("inside/place"));
        archive(&packed, &[("../../escaped", "x")]);
        let told = unpack(&packed, &place).err().unwrap();
        assert!(told.contains("outside of its folder"), "{told}");
        assert!(!folder.path().join("escaped").exists() && !place.exists());
        fs::write(&packed, "garbage").unwrap();
        assert!(unpack(&packed, &place).err().unwrap().starts_with("the archive is damaged"));
        archive(&packed, &[("terraform-provider-x", &"program ".repeat(5000))]);
        let whole = fs::read(&packed).unwrap();
        fs::write(&packed, &whole[..whole.len() / 2]).unwrap();
        assert!(unpack(&packed, &place).is_err());
        assert!(!place.exists());
    }
}
