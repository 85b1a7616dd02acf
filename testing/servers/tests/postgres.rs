//! The PostgreSQL server of tests.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use trueup_test_servers::postgres::Postgres;

#[test]
fn a_server_that_is_killed_comes_back_with_all_that_was_committed_and_leaves_nothing_behind() {
    let Some(server) = Postgres::own() else { return };
    let database = server.new_database().unwrap();
    assert_eq!(server.sql(&database, "SHOW fsync").unwrap(), "on\n");
    server.sql(&database, "CREATE TABLE songs (title text); INSERT INTO songs VALUES ('first')").unwrap();
    server.kill().unwrap();
    let down = server.sql(&database, "SELECT 1").unwrap_err().to_string();
    assert!(down.contains("Connection refused"), "{down}");
    server.restart().unwrap();
    assert_eq!(server.sql(&database, "SELECT title FROM songs").unwrap(), "first\n");
    let folder = server.folder().to_owned();
    assert!(folder.join("data").exists());
    drop(server);
    assert!(!folder.exists());
}
