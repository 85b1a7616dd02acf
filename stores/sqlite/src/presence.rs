//! Notices that a file of the open database was removed, replaced or renamed, and saves what the connection still reads.
//!
//! An operating system lets a process write to a file that no path leads to any more. SQLite then commits as if nothing
//! had happened, and everything is gone when the process ends. So each commit is followed by a look at the paths, and
//! what was committed to a lost file is copied to where people find it.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use trueup_state::Cause;

use crate::fault::Fault;
use crate::file::{beside, create_private, folder_of};

/// The files of an open database, by path and identity.
pub(crate) struct Presence {
    path: PathBuf,
    files: Vec<WatchedFile>,
}

struct WatchedFile {
    path: PathBuf,
    /// `None` until the file is first seen: SQLite makes some of them later.
    identity: Option<Identity>,
}

impl Presence {
    /// Remembers the files of a database that was just opened.
    pub(crate) fn of(path: &Path) -> Self {
        let paths = [path.to_owned(), beside(path, "-wal"), beside(path, "-shm")];
        let files = paths.map(|path| WatchedFile { identity: Identity::at(&path).ok(), path });
        Presence { path: path.to_owned(), files: files.into() }
    }

    /// Fails if a path leads to another file than the open one, after saving what the connection reads.
    pub(crate) fn check(&mut self, connection: &Connection) -> Result<(), Fault> {
        let Some(what) = self.missing() else { return Ok(()) };
        let copy = save_copy(connection, &self.path);
        let copy = copy.map(|path| path.display().to_string()).map_err(Cause::from);
        Err(Fault::TakenAway { what, copy })
    }

    /// Keeps SQLite from deleting, when it closes the database, files of another one that are at the same paths now.
    pub(crate) fn before_close(&mut self, connection: &Connection) {
        if self.missing().is_some() {
            let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }

    /// What happened to the first file that is no longer the open one.
    fn missing(&mut self) -> Option<String> {
        let folder = folder_of(&self.path);
        for WatchedFile { path, identity } in &mut self.files {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            match (Identity::at(path), *identity) {
                (Ok(found), Some(known)) if found == known => {}
                (Ok(_), Some(_)) => return Some(format!("{name} was replaced by another file")),
                (Ok(found), None) => *identity = Some(found),
                (Err(error), Some(_))
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
                {
                    let what = if folder.exists() { name } else { folder.to_string_lossy() };
                    return Some(format!("{what} was removed or renamed"));
                }
                // A path that cannot be looked at says nothing about the file.
                (Err(_), _) => {}
            }
        }
        None
    }
}

/// Writes everything that a connection reads to a file of its own in the nearest folder that exists, durably. A later
/// copy takes the place of an earlier one.
fn save_copy(connection: &Connection, path: &Path) -> Result<PathBuf, Fault> {
    let folder = folder_of(path).ancestors().find(|it| it.is_dir()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let copy = folder.join(format!("{name}.rescued-{}", std::process::id()));
    let draft = beside(&copy, ".new");
    let _ = fs::remove_file(&draft);
    create_private(&draft)?;
    let written = connection
        .execute("VACUUM INTO ?1", [draft.to_string_lossy()])
        .map_err(Fault::from)
        .and_then(|_| Ok(File::open(&draft)?.sync_all()?))
        .and_then(|()| Ok(fs::rename(&draft, &copy)?));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map(|()| copy)
}

/// What tells a file from every other, for as long as somebody has it open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|found| Identity::of(&found))
    }

    #[cfg(unix)]
    pub(crate) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Identity { device: found.dev(), inode: found.ino() }
    }

    /// Elsewhere an open file can be neither removed nor replaced.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Self {
        Identity { device: 0, inode: 0 }
    }
}
