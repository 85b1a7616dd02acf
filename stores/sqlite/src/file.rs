//! The file: how it comes to be, and how it is opened.
//!
//! A new database is laid out under another name and then linked into place, so that under its own name it is always
//! whole (STATE-7). SQLite itself would begin with an empty file, and take any empty file for a new database; here one
//! is damage. An existing file is never made over.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::fault::Fault;
use crate::schema;

/// How long a commit waits for one of another process; each takes milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// What SQLite keeps beside the file while it is in use.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Opens the database at a path, which is made with its folder if nothing is there.
pub(crate) fn open(path: &Path) -> Result<Connection, Fault> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => check_length(path, found.len())?,
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => create(path)?,
        Err(error) => return Err(error.into()),
    }
    let mut connection = connect(path)?;
    schema::migrate(&mut connection)?;
    make_durable(&connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Refuses what SQLite would silently take for a new database, or for one with zeros at its end.
fn check_length(path: &Path, length: u64) -> Result<(), Fault> {
    // Pages are larger, but always a multiple of this. With a log beside it the file may be in the middle of growing.
    const PAGE_MIN: u64 = 512;
    if length == 0 {
        return Err(Fault::Garbled("the file is empty; if nothing was in it, delete it".to_owned()));
    }
    let torn = length > PAGE_MIN && !length.is_multiple_of(PAGE_MIN) && !beside(path, "-wal").exists();
    if torn && is_database(path)? { Err(Fault::Garbled("the file is cut off".to_owned())) } else { Ok(()) }
}

/// Only for a file without a log beside it, which no connection of this process has open: closing any handle on a file
/// would take away the locks of all others.
fn is_database(path: &Path) -> io::Result<bool> {
    let mut magic = [0; 16];
    File::open(path)?.read_exact(&mut magic)?;
    Ok(&magic == b"SQLite format 3\0")
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    // Neither SQLITE_OPEN_CREATE, since an empty database is none of ours, nor SQLITE_OPEN_URI, since a path is a path.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Without this, each new value for a parameter makes SQLite plan some queries anew, for every commit.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Makes each commit wait until the disk has it.
fn make_durable(connection: &Connection) -> Result<(), Fault> {
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let why = format!("this file system supports no write-ahead log, only `{mode}`");
        return Err(Fault::System(io::Error::new(ErrorKind::Unsupported, why)));
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    // On macOS only this reaches the disk; elsewhere it does nothing.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(())
}

/// Makes a database at a path where there is none.
fn create(path: &Path) -> Result<(), Fault> {
    let folder = folder_of(path);
    create_folder(folder)?;
    if let Some(companion) = COMPANIONS.map(|suffix| beside(path, suffix)).iter().find(|it| it.exists()) {
        if path.exists() {
            return Ok(()); // Another process was faster, and is using it.
        }
        let companion = companion.display();
        let what = format!("{companion} is there without its database: bring that back, or delete this");
        return Err(Fault::Garbled(what));
    }
    let draft = create_draft(path)?;
    let placed = lay_out(&draft).and_then(|()| Ok(place(&draft, path)?));
    // What is left of the draft is its second name, or nothing, or useless.
    let _ = fs::remove_file(&draft);
    for suffix in COMPANIONS {
        let _ = fs::remove_file(beside(&draft, suffix));
    }
    placed?;
    Ok(sync_folder(folder)?)
}

/// An empty file of its own beside the path, for nobody else to read.
fn create_draft(path: &Path) -> io::Result<PathBuf> {
    let name =
        path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path names no file"))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut attempt = 0u64;
    loop {
        let draft = format!(".{}.{}-{attempt}.new", name.to_string_lossy(), std::process::id());
        let draft = folder_of(path).join(draft);
        match options.open(&draft) {
            Ok(_) => return Ok(draft),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

fn lay_out(draft: &Path) -> Result<(), Fault> {
    let mut connection = connect(draft)?;
    make_durable(&connection)?;
    schema::create(&mut connection)?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(draft)?.sync_all()?;
    Ok(())
}

/// Gives a draft its name, unless another process has made a database there in the meantime: that one stays.
fn place(draft: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A file system without links; there, two processes that begin at the same instant are not kept apart.
        Err(_) if !path.exists() => fs::rename(draft, path),
        Err(error) => Err(error),
    }
}

/// Makes a folder and those above it, durably.
fn create_folder(folder: &Path) -> io::Result<()> {
    let missing: Vec<_> =
        folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists()).collect();
    fs::create_dir_all(folder)?;
    missing.into_iter().map(folder_of).try_for_each(sync_folder)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    // Windows opens no folders, and needs no such thing.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked<T: rusqlite::types::FromSql>(connection: &Connection, pragma: &str) -> T {
        connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).unwrap()
    }

    /// APPLY-6, APPLY-7: what is committed is on the disk.
    #[test]
    fn each_commit_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        for _ in ["new", "known"] {
            let connection = open(&path).unwrap();
            assert_eq!(asked::<String>(&connection, "journal_mode"), "wal");
            assert_eq!(asked::<i64>(&connection, "synchronous"), 2, "2 is FULL");
            assert_eq!(asked::<i64>(&connection, "fullfsync"), 1);
            assert_eq!(asked::<i64>(&connection, "checkpoint_fullfsync"), 1);
            assert_eq!(asked::<i64>(&connection, "foreign_keys"), 1);
            assert_eq!(asked::<i64>(&connection, "busy_timeout"), 10_000);
        }
    }

    /// STATE-7.
    #[test]
    fn the_first_of_two_that_create_at_once_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let late = create_draft(&path).unwrap();
        open(&path).unwrap().execute("UPDATE meta SET format = 7", []).unwrap();
        lay_out(&late).unwrap();
        place(&late, &path).unwrap();
        assert!(matches!(open(&path), Err(Fault::Newer { found: 7 })), "the first one's is still there");
    }
}
