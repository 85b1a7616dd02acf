//! Databases that are not what they should be are refused, and left as they are.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use trueup_state::Store;
use trueup_test_servers::postgres::Postgres;
use wire::{adopted, commit, id, lease, open, refusal, scope};

/// A database with some records.
async fn filled(server: &Postgres) -> (String, String) {
    let database = server.new_database().unwrap();
    let url = server.url(&database);
    let store = open(&url).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, (0..10).map(adopted).collect()).await.unwrap();
    store.release(&scope(), &lease).await.unwrap();
    (database, url)
}

/// What is said of a database, without where it is.
fn what(said: &str) -> &str {
    said.split_once("/test_").unwrap().1.split_once(' ').unwrap().1
}

/// STATE-7.
#[tokio::test]
async fn a_schema_of_something_else_is_damage() {
    let Some(server) = Postgres::shared() else { return };
    let foreign =
        "is damaged: the schema `trueup` holds something else than trueup's state; it was not touched";
    for statements in [
        "CREATE SCHEMA trueup; CREATE TABLE trueup.songs (title text)",
        "CREATE SCHEMA trueup; CREATE TABLE trueup.meta (title text)",
    ] {
        let database = server.new_database().unwrap();
        server.sql(&database, statements).unwrap();
        assert_eq!(what(&refusal(&server.url(&database)).await), foreign);
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'trueup'";
        assert_eq!(server.sql(&database, tables).unwrap(), "1\n");
    }
    // Beside it there is room for both.
    let database = server.new_database().unwrap();
    server.sql(&database, "CREATE SCHEMA trueup; CREATE TABLE trueup.songs (title text)").unwrap();
    let store = open(&format!("{}?schema=our%20state", server.url(&database))).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
}

/// STATE-7.
#[tokio::test]
async fn a_newer_format_is_refused() {
    let Some(server) = Postgres::shared() else { return };
    let (database, url) = filled(server).await;
    server.sql(&database, "UPDATE trueup.meta SET format = 99").unwrap();
    let newer = "has format 99, this program knows up to 3: use a newer trueup";
    assert_eq!(what(&refusal(&url).await), newer);
    for statement in ["UPDATE trueup.meta SET format = -1", "DELETE FROM trueup.meta"] {
        server.sql(&database, statement).unwrap();
        let none = "is damaged: it says no format version; it was not touched";
        assert_eq!(what(&refusal(&url).await), none);
    }
}

/// STATE-7.
#[tokio::test]
async fn an_encoding_that_cannot_hold_everything_is_refused() {
    let Some(server) = Postgres::shared() else { return };
    let name = "test_latin";
    server
        .sql("postgres", &format!("CREATE DATABASE {name} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"))
        .unwrap();
    let refused = refusal(&server.url(name)).await;
    assert!(refused.ends_with("the encoding of the database is LATIN1, and must be UTF8"), "{refused}");
}

/// CRASH-8.
#[tokio::test]
async fn an_unreadable_record_or_entry_is_named() {
    let Some(server) = Postgres::shared() else { return };
    let (database, url) = filled(server).await;
    server.sql(&database, "UPDATE trueup.records SET body = '{' WHERE address = 'std_file.n7'").unwrap();
    server.sql(&database, "UPDATE trueup.journal SET body = '{}' WHERE position = 8").unwrap();
    let store = open(&url).await.unwrap();
    assert_eq!(
        what(&store.load(&scope()).await.unwrap_err().to_string()),
        "is damaged: the record of std_file.n7 is unreadable: EOF while parsing an object at line 1 column 1; it was not \
         touched"
    );
    let journal = store.journal(&scope(), id(7)).await.unwrap_err().to_string();
    assert!(journal.contains("entry 8 of the journal is unreadable: missing field `id`"), "{journal}");
    assert_eq!(store.journal(&scope(), id(6)).await.unwrap().len(), 1, "the others can be read");

    server
        .sql(&database, "UPDATE trueup.records SET version = version + 1 WHERE address = 'std_file.n7'")
        .unwrap();
    let lease = lease(&store).await;
    let refused = commit(&store, &lease, vec![adopted(7)]).await.unwrap_err().to_string();
    assert_eq!(refused, "the record of std_file.n7 was changed by another run; nothing was written");
    server.sql(&database, "DROP TABLE trueup.records").unwrap();
    let gone = store.load(&scope()).await.unwrap_err().to_string();
    assert!(
        gone.contains("relation \"records\" does not exist: its tables are not those of its format"),
        "{gone}"
    );
}

/// STATE-7: whoever comes first lays the schema out, and nobody finds half of it.
#[tokio::test]
async fn several_may_open_a_new_database_at_once() {
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.new_database().unwrap());
    let opened = (0..8).map(|_| {
        tokio::spawn({
            let url = url.clone();
            async move { open(&url).await.map(drop) }
        })
    });
    for opened in opened.collect::<Vec<_>>() {
        opened.await.unwrap().unwrap();
    }
}

/// STATE-6: a commit is a handful of statements, whatever its size.
#[tokio::test]
async fn ten_thousand_records_load_as_they_were_written() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let store = open(&server.url(&database)).await.unwrap();
    let lease = lease(&store).await;
    let version = commit(&store, &lease, (0..10_000).map(adopted).collect()).await.unwrap();
    let expected: Vec<_> = (0..10_000).map(|number| (adopted(number).record.unwrap(), version)).collect();
    assert_eq!(store.load(&scope()).await.unwrap().records, expected);
}
