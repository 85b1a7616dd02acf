//! `pg_database`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-2
#[test]
fn databases_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE kit_database_owner").unwrap();
    let subject = Subject {
        type_name: "pg_database",
        database: "postgres".to_owned(),
        inputs: value!({ name: "kit_songs", owner: "kit_database_owner", encoding: "UTF-8", connection_limit: 5 }),
        updated: value!({ name: "kit_songs_2", owner: "postgres", encoding: "utf8", is_template: true }),
        replaced: Some(
            value!({ name: "kit_songs", owner: "kit_database_owner", encoding: "LATIN1", locale: "C" }),
        ),
        tamper: "ALTER DATABASE kit_songs CONNECTION LIMIT 7",
        remove: &[
            "UPDATE pg_database SET datistemplate = false WHERE datname LIKE 'kit_songs%'",
            "DROP DATABASE IF EXISTS kit_songs",
            "DROP DATABASE IF EXISTS kit_songs_2",
        ],
        take: "CREATE DATABASE kit_songs",
        count:
            "SELECT count(*) FROM pg_database WHERE datname LIKE 'kit\\_songs%' OR datname LIKE 'trueup-%'"
                .to_owned(),
        secret: None,
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}
