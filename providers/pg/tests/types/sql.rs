//! `pg_sql`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-1: none is run twice, since each would
/// fail then.
#[test]
fn statements_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    server.sql(&database, "CREATE SCHEMA other").unwrap();
    let database = database.as_str();
    let subject = Subject {
        type_name: "pg_sql",
        inputs: value!({
            name: "songs", database: database,
            statements: [
                { up: "CREATE TABLE songs (title text)", down: "DROP TABLE songs" },
                { up: "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON songs (title)", transaction: false },
            ],
        }),
        updated: value!({
            name: "songs", database: database,
            statements: [
                { name: "songs", up: "CREATE TABLE songs (title text)", down: "DROP TABLE songs" },
                { up: "CREATE INDEX CONCURRENTLY IF NOT EXISTS i ON songs (title)", transaction: false },
                { up: "ALTER TABLE songs ADD year int", down: "ALTER TABLE songs DROP year" },
            ],
        }),
        replaced: Some(value!({
            name: "singers", database: database, statements: [{ up: "CREATE TABLE singers ()", down: "DROP TABLE singers" }],
        })),
        // As if an older state of the database had come back.
        tamper: "DROP INDEX i; DO $$ BEGIN EXECUTE format('COMMENT ON TYPE trueup_sql_songs IS %L', (SELECT regexp_replace(
            obj_description('trueup_sql_songs'::regtype, 'pg_type'), '^(.*?),\"[^\"]*\"\\]', '\\1]'))); END $$",
        remove: &["DROP TABLE songs; DROP TYPE trueup_sql_songs"],
        take: "CREATE TYPE trueup_sql_songs AS ()",
        count: "SELECT count(*) FROM pg_type WHERE typname LIKE 'trueup_sql_%' AND typtype = 'c'".to_owned(),
        secret: None,
        database: database.to_owned(),
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}
