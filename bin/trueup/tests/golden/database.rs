//! A PostgreSQL database as a text of SQL, one statement after the other.

use std::process::Command;

use trueup_test_servers::postgres::Postgres;

/// Statements of at most this length are run together: they are an argument of `psql`.
const LENGTH_MAX: usize = 64 * 1024;

/// The store's schema as statements, without what depends on the version of PostgreSQL.
pub(crate) fn dump(url: &str) -> String {
    let mut command = Command::new("pg_dump");
    command.args(["--no-owner", "--no-privileges", "--inserts", "--schema=trueup", url]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let settings = ["--", "SET ", "SELECT pg_catalog.set_config", "\\"];
    let kept =
        text.lines().filter(|line| !line.is_empty() && !settings.iter().any(|it| line.starts_with(it)));
    kept.map(|line| format!("{line}\n")).collect()
}

/// Runs the statements of a dump in an empty database.
pub(crate) fn restore(server: &Postgres, database: &str, dump: &str) {
    let mut together = String::new();
    for statement in dump.split_inclusive(";\n") {
        if together.len() + statement.len() > LENGTH_MAX && !together.is_empty() {
            server.sql(database, &together).unwrap();
            together.clear();
        }
        together.push_str(statement);
    }
    server.sql(database, &together).unwrap();
}
