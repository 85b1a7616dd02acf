//! `pg_sql`

use trueup_core::{Value, value};
use trueup_program::Program;
use trueup_test_servers::postgres::Postgres;

use trueup_workbench::{program, resource};

use crate::bench::bench;
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
        id: None,
        database: database.to_owned(),
    };
    subject.keeps_the_contract(
        server,
        &["an_object_is_imported_by_its_id", "secrets_are_marked_and_never_told"],
    );
}

fn series(statements: Value) -> Program {
    program([resource("pg_sql.a", value!({ name: "rules", statements: (statements) }))])
}

/// What was run stays as it was run: a plan says what to do instead. What is taken away is undone, the last first.
#[test]
fn what_was_run_must_not_change_and_is_undone_when_it_goes() {
    let Some(server) = Postgres::own() else { return };
    let bench = bench(&server);
    let first = value!({ up: "CREATE TABLE a ()", down: "DROP TABLE a" });
    let second = value!({ name: "second", up: "CREATE TABLE b ()", down: "DROP TABLE b" });
    let last = value!({ up: "CREATE TABLE c ()" });
    let all = Value::list([first.clone(), second.clone(), last.clone()]);
    bench.deployed(&series(all.clone()));
    let changed = value!({ name: "second", up: "CREATE TABLE b (x int)" });
    let refused = bench.refused(&series(Value::list([first.clone(), changed])));
    assert!(
        refused.contains("statement 2 (`second`) was run already, and is no longer what was run"),
        "{refused}"
    );
    assert!(refused.contains("add a statement at the end"), "{refused}");
    let refused = bench.refused(&series(Value::list([first.clone(), second.clone()])));
    assert!(refused.contains("statement 3 was run, and nothing is known that undoes it"), "{refused}");
    let with_down = last.with_entry("down", value!("DROP TABLE c"));
    bench.deployed(&series(Value::list([first.clone(), second, with_down])));
    bench.deployed(&series(Value::list([first])));
    let tables =
        "SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relname IN ('a', 'b', 'c')";
    assert_eq!(server.sql("postgres", tables).unwrap(), "a\n");
    bench.destroyed();
    assert_eq!(server.sql("postgres", tables).unwrap(), "\n");
}

/// RETRY-1, CRASH-2: the statements before the one that failed are noted, and not run again.
#[test]
fn a_statement_that_fails_is_named_and_those_before_it_stay() {
    let Some(server) = Postgres::own() else { return };
    let bench = bench(&server);
    let of = |second: &str| {
        let second = value!({ name: "second", up: second });
        series(Value::list([value!({ up: "CREATE TABLE a ()", down: "DROP TABLE a" }), second]))
    };
    let failed = bench.failed(&of("CREATE TABLE b (); SELEC 1"));
    assert!(
        failed
            .contains("invalid: statement 2 (`second`): syntax error at or near \"SELEC\", at character 20"),
        "{failed}"
    );
    let failed = bench.failed(&of("CREATE TABLE a ()"));
    assert!(failed.contains("conflict: statement 2 (`second`): relation \"a\" already exists"), "{failed}");
    let failed = bench.failed(&of("CREATE TABLE b (); COMMIT; BEGIN; SELECT 1"));
    assert!(failed.contains("it ends the transaction it is run in"), "{failed}");
    server.sql("postgres", "DROP TABLE b").unwrap();
    bench.deployed(&of("CREATE TABLE b ()"));
    assert!(bench.plan(&of("CREATE TABLE b ()")).ends_with("No changes"));
}
