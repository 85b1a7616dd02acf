//! Files that are there whole or not at all (OUTPUT-5): written beside their place, onto the disk, and then put in place.
//!
//! Whatever fails on the way, a file that was there before stays as it was, and nothing else is left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Readers {
    /// Its owner alone.
    Owner,
    /// Whoever could read the file in whose place it comes; else as the user's other files.
    Same,
}

/// Makes a file where there is none; fails with [`ErrorKind::AlreadyExists`] if there is one.
pub(crate) fn create(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let draft = write_draft(path, bytes, readers)?;
    let placed = match fs::hard_link(&draft, path) {
        // A file system without links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists && fs::symlink_metadata(path).is_err() => {
            fs::rename(&draft, path)
        }
        linked => linked,
    };
    // After a rename it is gone already.
    let _ = fs::remove_file(&draft);
    placed?;
    sync_folder(path);
    Ok(())
}

/// Makes a file, or replaces the one that is there. A link is followed; a pipe or device is written to as it is.
pub(crate) fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let there = fs::metadata(path).ok();
    if there.as_ref().is_some_and(|it| !it.is_file() && !it.is_dir()) {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let path = if there.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let draft = write_draft(&path, bytes, readers)?;
    let placed = match (&there, readers) {
        (Some(there), Readers::Same) => fs::set_permissions(&draft, there.permissions()),
        _ => Ok(()),
    };
    if let Err(error) = placed.and_then(|()| fs::rename(&draft, &path)) {
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    sync_folder(&path);
    Ok(())
}

/// A file beside the path with these bytes, on the disk.
fn write_draft(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<PathBuf> {
    let (draft, mut file) = open_draft(path, readers)?;
    match file.write_all(bytes).and_then(|()| file.sync_all()) {
        Ok(()) => Ok(draft),
        Err(error) => {
            let _ = fs::remove_file(&draft);
            Err(error)
        }
    }
}

fn open_draft(path: &Path, readers: Readers) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "it names no file"))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut attempt = 0_u64;
    loop {
        let draft = format!(".{}.{}-{attempt}.new", name.to_string_lossy(), std::process::id());
        let draft = path.with_file_name(draft);
        match options.open(&draft) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            opened => return opened.map(|file| (draft, file)),
        }
    }
}

/// Makes the name durable. Where a folder cannot be opened the file is whole all the same.
fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// OUTPUT-5.
    #[test]
    fn what_is_there_stays_or_is_replaced_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        create(&path, b"one", Readers::Owner).unwrap();
        assert_eq!(create(&path, b"two", Readers::Owner).unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        replace(&path, b"two", Readers::Same).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        fs::create_dir(folder.path().join("inside")).unwrap();
        replace(&folder.path().join("inside"), b"x", Readers::Owner).unwrap_err();
        fs::remove_dir(folder.path().join("inside")).unwrap();
        assert_eq!(names(folder.path()), ["file"], "nothing else is left");
    }

    #[cfg(unix)]
    #[test]
    fn rights_and_links_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        create(&path, b"one", Readers::Owner).unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        replace(&link, b"two", Readers::Same).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o640));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        replace(Path::new("/dev/full"), b"x", Readers::Owner).unwrap_err();
        replace(Path::new("/dev/null"), b"x", Readers::Owner).unwrap();
    }
}
