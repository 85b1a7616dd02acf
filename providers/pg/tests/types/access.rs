//! What the server refuses, and servers that go away.

use std::sync::Arc;

use trueup_core::{Value, value};
use trueup_test_servers::postgres::Postgres;
use trueup_workbench::{program, resource, secret};

use crate::bench::{bench, bench_of};

/// SECRET-1: the class, what is wrong and what to do, without the password.
#[test]
fn a_wrong_password_is_denied() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE access_ada LOGIN PASSWORD 'right'").unwrap();
    let bench = bench_of(server, "access_ada", "hunter2-wrong");
    let refused = bench.refused(&program([resource("pg_role.a", value!({ name: "access_a" }))]));
    assert!(refused.contains("password authentication failed for user \"access_ada\""), "{refused}");
    assert!(refused.contains("check the user and the password"), "{refused}");
    assert!(!bench.told().contains("hunter2"));
}

/// RETRY-1
#[test]
fn what_the_user_may_not_do_is_denied_with_what_to_do() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE access_eve LOGIN PASSWORD 'right'").unwrap();
    let bench = bench_of(server, "access_eve", "right");
    let failed = bench.failed(&program([resource("pg_role.a", value!({ name: "access_b" }))]));
    assert!(failed.contains("denied: permission denied to create role (SQLSTATE 42501)"), "{failed}");
    let database = program([resource("pg_database.a", value!({ name: "access_b" }))]);
    let failed = bench.failed(&database);
    assert!(failed.contains("denied: permission denied to create database"), "{failed}");
}

/// Whoever may create roles and no more can do so, though nobody lets them look at passwords.
#[test]
fn a_user_that_is_no_superuser_manages_roles() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE access_dba LOGIN CREATEROLE CREATEDB PASSWORD 'right'").unwrap();
    let bench = bench_of(server, "access_dba", "right");
    let of = |password: &str, limit: i64| {
        let role = value!({ name: "access_app", login: true, password: (secret(password)), connection_limit: limit });
        program([
            resource("pg_role.app", role),
            resource("pg_database.app", value!({ name: "access_app", connection_limit: limit })),
        ])
    };
    bench.deployed(&of("hunter2-one", 1));
    assert!(bench.plan(&of("hunter2-one", 1)).ends_with("No changes"));
    let verifier = "SELECT rolpassword FROM pg_authid WHERE rolname = 'access_app'";
    let before = server.sql("postgres", verifier).unwrap();
    assert!(before.starts_with("SCRAM-SHA-256$4096:"), "{before}");
    bench.deployed(&of("hunter2-one", 2));
    assert_eq!(server.sql("postgres", verifier).unwrap(), before);
    bench.deployed(&of("hunter2-two", 2));
    assert_ne!(server.sql("postgres", verifier).unwrap(), before);
    bench.destroyed();
    assert!(!bench.told().contains("hunter2"));
}

/// ADOPT-2
#[test]
fn a_name_that_someone_else_has_is_not_taken() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE access_taken").unwrap();
    server.sql("postgres", "CREATE DATABASE access_taken").unwrap();
    let mut bench = bench(server);
    let program = program([
        resource("pg_role.a", value!({ name: "access_taken", connection_limit: 3 })),
        resource("pg_database.a", value!({ name: "access_taken" })),
    ]);
    let refused = bench.refused(&program);
    assert!(refused.contains("pg_role.a") && refused.contains("pg_database.a"), "{refused}");
    bench.options.plan.adopt = true;
    bench.deployed(&program);
    let query = "SELECT rolconnlimit, shobj_description(oid, 'pg_authid') LIKE '%pg_role.a%' FROM pg_roles
                 WHERE rolname = 'access_taken'";
    assert_eq!(server.sql("postgres", query).unwrap(), "3|t\n");
    bench.destroyed();
}

/// DELETE-3: what others need is not deleted, and the message says what that is.
#[test]
fn what_others_depend_on_is_kept_until_it_is_said_what_becomes_of_it() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let role = |more: Value| {
        let name = value!({ name: "access_owner" });
        let more = more
            .as_entries()
            .unwrap()
            .iter()
            .map(|(name, it)| (name.clone(), it.clone()))
            .collect::<Vec<_>>();
        let role = more.into_iter().fold(name, |role, (name, it)| role.with_entry(&name, it));
        resource("pg_role.owner", role)
    };
    let schema = |cascade: bool| {
        let inputs = value!({ name: "access", database: (database.as_str()), drop_cascade: cascade });
        resource("pg_schema.s", inputs)
    };
    let bench = bench(server);
    bench.deployed(&program([role(value!({})), schema(false)]));
    let tables = "CREATE TABLE access.songs (); CREATE TABLE public.songs (); ALTER TABLE public.songs OWNER TO access_owner;
                  GRANT SELECT ON access.songs TO access_owner";
    server.sql(&database, tables).unwrap();
    let failed = bench.failed(&program([]));
    assert!(
        failed
            .contains("conflict: role \"access_owner\" cannot be dropped because some objects depend on it"),
        "{failed}"
    );
    assert!(bench.told().contains("reassign_owned_to") && bench.told().contains("drop_cascade"));
    assert!(
        failed.contains("conflict: cannot drop schema access")
            && failed.contains("table access.songs depends"),
        "{failed}"
    );
    server.sql(&database, "DROP TABLE access.songs; DROP TABLE public.songs").unwrap();
    bench.destroyed();

    server.sql("postgres", "CREATE ROLE access_heir").unwrap();
    bench.deployed(&program([role(value!({ reassign_owned_to: "access_heir" })), schema(true)]));
    server.sql(&database, tables).unwrap();
    bench.destroyed();
    let owner =
        server.sql(&database, "SELECT relowner::regrole FROM pg_class WHERE relname = 'songs'").unwrap();
    assert_eq!(owner, "access_heir\n");

    bench.deployed(&program([role(value!({ drop_owned: true }))]));
    server.sql(&database, "ALTER TABLE public.songs OWNER TO access_owner").unwrap();
    bench.destroyed();
    assert_eq!(
        server.sql(&database, "SELECT count(*) FROM pg_class WHERE relname = 'songs'").unwrap(),
        "0\n"
    );
}

/// RETRY-1, CRASH-1: a statement that was in a transaction did nothing; the next run goes on where it was.
#[test]
fn a_server_that_goes_down_in_the_middle_loses_and_repeats_nothing() {
    let Some(server) = Postgres::own() else { return };
    let server = Arc::new(server);
    let bench = bench(&server);
    let of = |wait: &str| {
        let series = value!({
            name: "series",
            statements: [
                { up: "CREATE TABLE first ()", down: "DROP TABLE first" },
                { up: (format!("CREATE TABLE second (); {wait}")), down: "DROP TABLE second" },
            ],
        });
        program([resource("pg_sql.a", series), resource("pg_role.a", value!({ name: "a" }))])
    };
    // The statement waits for a lock that nobody gives back.
    let waiting = of("SELECT pg_advisory_xact_lock(1)");
    let holder = std::thread::spawn({
        let server = server.clone();
        move || server.sql("postgres", "SELECT pg_advisory_lock(1); SELECT pg_sleep(600)")
    });
    let count = |server: &Postgres, query: &str| {
        server.sql("postgres", query).unwrap().trim().parse::<u64>().unwrap()
    };
    let locks = |which: &str| {
        format!("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND {which}")
    };
    while count(&server, &locks("granted")) == 0 {}
    let killer = std::thread::spawn({
        let server = server.clone();
        move || {
            while count(&server, &locks("NOT granted")) == 0 {}
            server.kill().unwrap();
        }
    });
    let failed = bench.failed(&waiting);
    killer.join().unwrap();
    assert!(holder.join().unwrap().is_err());
    assert!(failed.contains("pg_sql.a") && failed.contains("cannot connect to"), "{failed}");
    server.restart().unwrap();
    assert_eq!(count(&server, "SELECT count(*) FROM pg_class WHERE relname IN ('first', 'second')"), 1);
    bench.deployed(&waiting);
    assert_eq!(count(&server, "SELECT count(*) FROM pg_class WHERE relname IN ('first', 'second')"), 2);
    assert!(bench.plan(&waiting).ends_with("No changes"));
    bench.destroyed();
    assert_eq!(count(&server, "SELECT count(*) FROM pg_class WHERE relname IN ('first', 'second')"), 0);
}
