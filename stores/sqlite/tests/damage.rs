//! Files that are not what they should be are refused, and left as they are.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::shop;

use std::fs;
use std::path::{Path, PathBuf};

use shop::{adopted, commit, lease, open, scope};
use tempfile::TempDir;
use trueup_state::{Store, StoreError};

/// What opening or loading says of a file, with its folder left out. The file must stay as it is.
async fn refusal(path: &Path) -> String {
    let before = fs::read(path).ok();
    let refused = match open(path).await {
        Ok(store) => store.load(&scope()).await.map(drop),
        Err(error) => Err(error),
    };
    assert_eq!(fs::read(path).ok(), before, "it was not touched");
    let folder = path.parent().unwrap().display().to_string();
    let Err(refused) = refused else { panic!("{} bytes are not refused", fs::read(path).unwrap().len()) };
    refused.to_string().replace(&format!("{folder}/"), "")
}

/// A database with some records, closed.
async fn filled() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let store = open(&path).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, (0..100).map(adopted).collect()).await.unwrap();
    store.release(&scope(), &lease).await.unwrap();
    (folder, path)
}

fn edit(path: &Path, statement: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(statement).unwrap();
}

/// STATE-7.
#[tokio::test]
async fn an_empty_file_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    fs::write(&path, "").unwrap();
    assert_eq!(
        refusal(&path).await,
        "the state at state.db is damaged: the file is empty; if nothing was in it, delete it; it was not touched"
    );
}

/// STATE-7.
#[tokio::test]
async fn a_file_that_is_no_database_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    for content in ["{}".to_owned(), "no database\n".repeat(10_000)] {
        fs::write(&path, content).unwrap();
        assert_eq!(
            refusal(&path).await,
            "the state at state.db is damaged: file is not a database; it was not touched"
        );
    }
}

/// STATE-7.
#[tokio::test]
async fn a_truncated_file_is_damage() {
    let (_folder, path) = filled().await;
    let whole = fs::read(&path).unwrap();
    for length in [1, 100, 4096, whole.len() / 2, whole.len() - 4096, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let refusal = refusal(&path).await;
        assert!(refusal.starts_with("the state at state.db is damaged: "), "{length} bytes: {refusal}");
    }
}

/// STATE-7.
#[tokio::test]
async fn a_database_of_something_else_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    edit(&path, "CREATE TABLE songs (title)");
    assert_eq!(
        refusal(&path).await,
        "the state at state.db is damaged: it is a database of something else than trueup; it was not touched"
    );
}

/// STATE-7.
#[tokio::test]
async fn an_older_format_is_brought_up_to_date() {
    let (_folder, path) = filled().await;
    edit(&path, "DROP TABLE keyrings; DROP TABLE configurations; UPDATE meta SET format = 1");
    let store = open(&path).await.unwrap();
    assert_eq!(
        store.load(&scope()).await.unwrap().records.len(),
        100,
        "all that was recorded should be there"
    );
    assert_eq!(store.replace_keyring(&scope(), None, "keys").await, Ok(true));
}

/// STATE-7.
#[tokio::test]
async fn a_newer_format_is_refused() {
    let (_folder, path) = filled().await;
    edit(&path, "UPDATE meta SET format = 5");
    assert_eq!(
        refusal(&path).await,
        "the state at state.db has format 5, this program knows up to 4: use a newer trueup"
    );
    edit(&path, "DELETE FROM meta");
    assert_eq!(
        refusal(&path).await,
        "the state at state.db is damaged: it says no format version; it was not touched"
    );
}

/// CRASH-8.
#[tokio::test]
async fn an_unreadable_record_or_entry_is_named() {
    let (_folder, path) = filled().await;
    edit(&path, "UPDATE records SET body = '{' WHERE address = 'std_file.n7'");
    edit(&path, "UPDATE journal SET body = '{}' WHERE position = 8");
    assert_eq!(
        refusal(&path).await,
        "the state at state.db is damaged: the record of std_file.n7 is unreadable: EOF while parsing an object at \
         line 1 column 1; it was not touched"
    );
    let id = adopted(7).entry.id;
    let journal = open(&path).await.unwrap().journal(&scope(), id).await.unwrap_err().to_string();
    assert!(journal.contains("entry 8 of the journal is unreadable: missing field `id`"), "{journal}");
}

/// A database that was taken away without its write-ahead log would otherwise be made anew and then filled from it.
#[tokio::test]
async fn a_log_without_its_database_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    fs::write(folder.path().join("state.db-wal"), "left behind").unwrap();
    assert_eq!(
        refusal(&path).await,
        "the state at state.db is damaged: state.db-wal is there without its database: bring that back, or delete \
         this; it was not touched"
    );
}

#[tokio::test]
async fn a_place_that_cannot_hold_a_file_is_unavailable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for (path, said) in [
        (file.join("state.db"), "cannot open the state at file/state.db: Not a directory (os error 20)"),
        (
            file.join("deep/state.db"),
            "cannot open the state at file/deep/state.db: Not a directory (os error 20)",
        ),
        (folder.path().to_owned(), "cannot open the state at "),
    ] {
        let error = open(&path).await.err().unwrap();
        assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
        let error = error.to_string().replace(&format!("{}/", folder.path().display()), "");
        assert!(error.starts_with(said), "{error}");
    }
}
