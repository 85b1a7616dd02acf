//! Writing so that nobody ever sees half of it: under another name in the same folder, made durable, then renamed.
//!
//! The other name is the resource's own and the same each time, so that what a killed run left there is overwritten by
//! the next one instead of piling up.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use trueup_provider::{Error, Result};

use super::failed;
use super::mode::Mode;

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Keep,
    Replace,
}

/// Writes a file with this content and mode, making the folders above it.
pub(crate) fn write_file(
    path: &Path,
    mut content: impl Read,
    mode: Mode,
    existing: Existing,
    unfinished_name: &str,
) -> Result<()> {
    let folder = folder_of(path)?;
    let unfinished = unfinished(&folder, unfinished_name)?;
    let written = (|| {
        // Only the owner can read it until it has the permissions it should have: it may be secret.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        io::copy(&mut content, &mut file)?;
        file.set_permissions(mode.permissions())?;
        file.sync_all()
    })();
    let placed = written.map_err(|error| failed("write", path, &error)).and_then(|()| match existing {
        Existing::Replace => fs::rename(&unfinished, path).map_err(|error| failed("write", path, &error)),
        Existing::Keep => rename_to_nothing(&unfinished, path),
    });
    if placed.is_err() {
        // The failure itself is what matters; the next attempt clears what cannot be cleared now.
        let _ = fs::remove_file(&unfinished);
    }
    placed?;
    sync_folder(&folder)
}

/// Makes a directory with this mode, and the folders above it. It appears with its mode or not at all.
pub(crate) fn make_directory(path: &Path, mode: Mode, unfinished_name: &str) -> Result<()> {
    let folder = folder_of(path)?;
    let unfinished = unfinished(&folder, unfinished_name)?;
    let made = DirBuilder::new().mode(0o700).create(&unfinished);
    let made = made.and_then(|()| fs::set_permissions(&unfinished, mode.permissions()));
    let placed = made
        .map_err(|error| failed("make", path, &error))
        .and_then(|()| rename_to_nothing(&unfinished, path));
    if placed.is_err() {
        let _ = fs::remove_dir(&unfinished);
    }
    placed?;
    sync_folder(&folder)
}

/// Makes what was renamed or removed in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| failed("make durable what was done in", folder, &error))
}

/// The folder in which something is to be made, which is made too.
fn folder_of(path: &Path) -> Result<PathBuf> {
    let (Some(folder), Some(_)) = (path.parent(), path.file_name()) else {
        return Err(Error::invalid(format!("`{}` is not the path of a file", path.display())).at("path"));
    };
    fs::create_dir_all(folder).map_err(|error| failed("make the folder", folder, &error))?;
    Ok(folder.to_owned())
}

/// The name under which something is made, free of what a killed run left there.
fn unfinished(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(format!(".{name}.unfinished"));
    let cleared = match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir(&path),
        Ok(_) => fs::remove_file(&path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    cleared.map_err(|error| failed("clear", &path, &error))?;
    Ok(path)
}

/// Renames, unless there is something already.
fn rename_to_nothing(from: &Path, to: &Path) -> Result<()> {
    let taken = || Error::already_exists(format!("there is something at `{}` already", to.display()));
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(taken()),
        // Some file systems cannot promise it: then looking first is as good as it gets.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match fs::symlink_metadata(to) {
            Ok(_) => Err(taken()),
            Err(_) => fs::rename(from, to).map_err(|error| failed("write", to, &error)),
        },
        Err(errno) => Err(failed("write", to, &errno.into())),
    }
}
