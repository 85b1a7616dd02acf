//! `pg_database`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use trueup_workbench::{program, resource};

use crate::bench::bench;
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
            "SELECT count(*) FROM pg_database WHERE datname LIKE 'kit\\_songs%' OR datname LIKE 'trueup-conformance-%'"
                .to_owned(),
        secret: None,
        id: Some("kit_songs".to_owned()),
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}

/// RETRY-1: whoever is connected keeps a database from being dropped, unless it is said to be done by force.
#[test]
fn a_database_in_use_is_dropped_by_force_alone() {
    let Some(server) = Postgres::shared() else { return };
    let of = |force: bool| program([resource("pg_database.a", value!({ name: "kit_in_use", force: force }))]);
    let bench = bench(server);
    for force in [false, true] {
        bench.deployed(&of(force));
        let guest = std::thread::spawn(move || {
            server.sql("kit_in_use", "SELECT pg_advisory_lock(7); SELECT pg_sleep(600)")
        });
        let inside = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'kit_in_use'";
        while server.sql("postgres", inside).unwrap() != "1\n" {}
        if force {
            bench.destroyed();
        } else {
            let failed = bench.failed(&program([]));
            assert!(
                failed.contains("conflict: database \"kit_in_use\" is being accessed by other users"),
                "{failed}"
            );
            server
                .sql(
                    "postgres",
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'kit_in_use'",
                )
                .unwrap();
            bench.destroyed();
        }
        assert!(guest.join().unwrap().is_err());
    }
}
