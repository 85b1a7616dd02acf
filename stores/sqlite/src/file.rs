//! The file: how it comes to be, and how it is opened.
//!
//! A new database is laid out under another name and then linked into place, so that under its own name it is always
//! whole (STATE-7). SQLite itself would begin with an empty file, and take any empty file for a new database; here one
//! is damage. An existing file is never made over, with one exception: earlier versions linked half a database into place
//! when the disk was full. One that provably never held a record is replaced.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::fault::Fault;
use crate::schema;

/// What every SQLite database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How long a commit waits for one of another process; each takes milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The size of a database without records.
const EMPTY_BYTES: u64 = 16 * PAGE_BYTES;

const PAGE_BYTES: u64 = 4096;

/// The pages up to and including the table of scopes: all others are about a scope. If these are as they were made,
/// nothing was ever recorded.
const PROOF_BYTES: u64 = 3 * PAGE_BYTES;

/// What SQLite keeps beside the file while it is in use.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Opens the database at a path, which is made with its folder if nothing is there.
pub(crate) fn open(path: &Path) -> Result<Connection, Fault> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() < EMPTY_BYTES && found.len() > 0 => finish(path)?,
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
        return Err(Fault::Garbled("the file is empty; if nothing was in it, delete it".into()));
    }
    let torn = length > PAGE_MIN && !length.is_multiple_of(PAGE_MIN) && !beside(path, "-wal").exists();
    if torn && is_database(path)? { Err(Fault::Garbled("the file is cut off".into())) } else { Ok(()) }
}

/// Replaces a file that is shorter than any database of ours, if it is the beginning of one that was never written to.
fn finish(path: &Path) -> Result<(), Fault> {
    let in_use = COMPANIONS.iter().any(|suffix| beside(path, suffix).exists());
    // Not of a file in use, as below: closing it would take away the locks of others.
    let found = if in_use { Vec::new() } else { fs::read(path)? };
    let length = fs::metadata(path)?.len();
    if !is_cut_off(&found) {
        return check_length(path, length);
    }
    let draft = create_draft(path)?;
    let finished = lay_out(&draft).and_then(|()| {
        if !is_beginning(&found, &fs::read(&draft)?) {
            return check_length(path, length);
        }
        if length < PROOF_BYTES {
            let what = "only the beginning of the file is there, without its records; if nothing was ever deployed with it, \
                        delete it";
            return Err(Fault::Garbled(what.into()));
        }
        fs::rename(&draft, path)?;
        Ok(sync_folder(folder_of(path))?)
    });
    discard(&draft);
    finished
}

/// Whether a database is shorter than its header says.
fn is_cut_off(found: &[u8]) -> bool {
    let pages = found.get(28..32).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
    found.starts_with(MAGIC) && (found.len() as u64) < u64::from(pages) * PAGE_BYTES
}

/// Whether a file is the beginning of another database, apart from the header's counters and SQLite's version.
fn is_beginning(found: &[u8], whole: &[u8]) -> bool {
    const VARYING: [std::ops::Range<usize>; 2] = [24..28, 92..100];
    let same = |(at, byte): (usize, &u8)| {
        whole.get(at) == Some(byte) || VARYING.iter().any(|range| range.contains(&at))
    };
    found.len() < whole.len() && found.iter().enumerate().all(same)
}

/// Only for a file without a log beside it, which no connection of this process has open: closing any handle on a file
/// would take away the locks of all others.
fn is_database(path: &Path) -> io::Result<bool> {
    let mut magic = [0; 16];
    File::open(path)?.read_exact(&mut magic)?;
    Ok(&magic == MAGIC)
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
        return Err(Fault::Garbled(what.into()));
    }
    let draft = create_draft(path)?;
    let placed = lay_out(&draft).and_then(|()| Ok(place(&draft, path)?));
    discard(&draft);
    placed?;
    Ok(sync_folder(folder)?)
}

/// Removes what is left of a draft: its second name, or nothing, or something useless.
fn discard(draft: &Path) {
    let _ = fs::remove_file(draft);
    for suffix in COMPANIONS {
        let _ = fs::remove_file(beside(draft, suffix));
    }
}

/// An empty file of its own beside the path, for nobody else to read.
fn create_draft(path: &Path) -> io::Result<PathBuf> {
    let name =
        path.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "the path names no file"))?;
    let mut attempt = 0u64;
    loop {
        let draft = format!(".{}.{}-{attempt}.new", name.to_string_lossy(), std::process::id());
        let draft = folder_of(path).join(draft);
        match create_private(&draft) {
            Ok(()) => return Ok(draft),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A new, empty file that only its owner may read.
pub(crate) fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Makes a whole database of an empty file, durably.
///
/// The tables are written without a write-ahead log: they would get from there into the file when it is closed, and
/// SQLite does not say so when that fails, as it does on a full disk.
fn lay_out(draft: &Path) -> Result<(), Fault> {
    let mut connection = connect(draft)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    schema::create(&mut connection)?;
    make_durable(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    let file = File::open(draft)?;
    file.sync_all()?;
    let length = file.metadata()?.len();
    if length != EMPTY_BYTES {
        let what = format!("a new database has {length} bytes instead of {EMPTY_BYTES}");
        return Err(Fault::System(io::Error::other(what)));
    }
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

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
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

    /// A database as earlier versions made it: its tables get into the file when it is closed, as far as there is room.
    fn lay_out_through_log(path: &Path) -> Vec<u8> {
        create_private(path).unwrap();
        let mut connection = connect(path).unwrap();
        make_durable(&connection).unwrap();
        schema::create(&mut connection).unwrap();
        drop(connection);
        fs::read(path).unwrap()
    }

    /// STATE-15: what earlier versions left on a full disk.
    #[test]
    fn a_database_that_was_never_finished_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let whole = lay_out_through_log(&path);
        assert_eq!(whole.len() as u64, EMPTY_BYTES);
        for pages in 3..15 {
            fs::write(&path, &whole[..pages * 4096]).unwrap();
            let connection = open(&path).unwrap_or_else(|fault| panic!("{pages} pages: {fault:?}"));
            assert_eq!(asked::<String>(&connection, "integrity_check"), "ok", "{pages} pages");
        }
        for pages in 1..3 {
            fs::write(&path, &whole[..pages * 4096]).unwrap();
            let refused = open(&path).unwrap_err();
            assert!(
                matches!(&refused, Fault::Garbled(what) if what.to_string().contains("delete it")),
                "{refused:?}"
            );
            assert_eq!(fs::read(&path).unwrap(), whole[..pages * 4096], "it may have held records");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    /// STATE-15: a file that may have held a record is left alone.
    #[test]
    fn a_database_that_held_anything_is_never_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        open(&path)
            .unwrap()
            .execute("INSERT INTO scopes (stack, stage) VALUES ('shop', 'prod')", [])
            .unwrap();
        let whole = fs::read(&path).unwrap();
        for pages in 1..15 {
            fs::write(&path, &whole[..pages * 4096]).unwrap();
            assert!(open(&path).is_err(), "{pages} pages");
            assert_eq!(fs::read(&path).unwrap(), whole[..pages * 4096], "{pages} pages");
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
