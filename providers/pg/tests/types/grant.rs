//! `pg_grant`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use trueup_workbench::{program, resource};

use crate::bench::bench;
use crate::kit::Subject;

const HELD: &str = "FROM pg_class c, aclexplode(relacl) a JOIN pg_roles r ON r.oid = a.grantee";

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-1
#[test]
fn grants_on_a_table_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    server
        .sql(&database, "CREATE ROLE kit_reader; CREATE TABLE \"So ngs\" (); CREATE TABLE others ()")
        .unwrap();
    let grant = |name: &str, privileges: &[&str], option: bool| {
        let privileges = trueup_core::Value::list(privileges.iter().map(|it| (*it).into()));
        value!({
            role: "kit_reader", database: (database.as_str()), on: "table", schema: "public", name: name,
            privileges: (privileges), with_grant_option: option,
        })
    };
    let subject = Subject {
        type_name: "pg_grant",
        inputs: grant("So ngs", &["SELECT", "INSERT"], false),
        updated: grant("So ngs", &["SELECT", "UPDATE"], true),
        replaced: Some(grant("others", &["SELECT"], false)),
        tamper: "REVOKE INSERT ON \"So ngs\" FROM kit_reader; GRANT TRUNCATE ON \"So ngs\" TO kit_reader",
        remove: &["REVOKE ALL ON \"So ngs\" FROM kit_reader"],
        take: "GRANT DELETE ON \"So ngs\" TO kit_reader",
        count: format!("SELECT count(DISTINCT c.oid) {HELD} WHERE rolname = 'kit_reader'"),
        secret: None,
        id: None,
        database: database.clone(),
    };
    subject.keeps_the_contract(
        server,
        &["an_object_is_imported_by_its_id", "secrets_are_marked_and_never_told"],
    );
}

/// The same for all tables of a schema.
#[test]
fn grants_on_all_tables_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let made = "CREATE ROLE kit_all; CREATE TABLE songs (); CREATE VIEW views AS SELECT * FROM songs; CREATE SCHEMA other;
                CREATE TABLE other.singers ()";
    server.sql(&database, made).unwrap();
    let database = database.as_str();
    let subject = Subject {
        type_name: "pg_grant",
        inputs: value!({ role: "kit_all", database: database, on: "all_tables", schema: "public", privileges: ["SELECT"] }),
        updated: value!({ role: "kit_all", database: database, on: "all_tables", schema: "public", privileges: ["INSERT"] }),
        replaced: Some(
            value!({ role: "kit_all", database: database, on: "all_tables", schema: "other", privileges: ["SELECT"] }),
        ),
        tamper: "REVOKE SELECT ON views FROM kit_all",
        remove: &["REVOKE ALL ON ALL TABLES IN SCHEMA public FROM kit_all"],
        take: "GRANT DELETE ON songs TO kit_all",
        count: format!("SELECT count(DISTINCT c.relnamespace) {HELD} WHERE rolname = 'kit_all'"),
        secret: None,
        id: None,
        database: database.to_owned(),
    };
    subject.keeps_the_contract(
        server,
        &["an_object_is_imported_by_its_id", "secrets_are_marked_and_never_told"],
    );
}

/// Every kind of object: granted, seen, revoked.
#[test]
fn privileges_are_granted_on_every_kind_of_object() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let made = "CREATE ROLE kinds; CREATE SCHEMA \"s 1\"; SET search_path = \"s 1\"; CREATE SEQUENCE numbers;
        CREATE FUNCTION f(int, text) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE FUNCTION f(variadic int[]) RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TYPE mood AS ENUM ('sad');
        CREATE PROCEDURE \"p 1\"(a int DEFAULT 1) LANGUAGE sql AS 'SELECT 1';
        CREATE FOREIGN DATA WRAPPER wrapper; CREATE SERVER server FOREIGN DATA WRAPPER wrapper";
    server.sql(&database, made).unwrap();
    let bench = bench(server);
    let cases = [
        ("database", None, Some(database.as_str()), "TEMPORARY"),
        ("schema", None, Some("s 1"), "USAGE"),
        ("sequence", Some("s 1"), Some("numbers"), "UPDATE"),
        ("all_sequences", Some("s 1"), None, "USAGE"),
        ("function", Some("s 1"), Some("p 1"), "EXECUTE"),
        ("all_functions", Some("s 1"), None, "EXECUTE"),
        ("type", Some("s 1"), Some("mood"), "USAGE"),
        ("language", None, Some("sql"), "USAGE"),
        ("foreign_data_wrapper", None, Some("wrapper"), "USAGE"),
        ("foreign_server", None, Some("server"), "USAGE"),
        ("tablespace", None, Some("pg_default"), "CREATE"),
    ];
    for (on, schema, name, privilege) in cases {
        let text = |text: Option<&str>| text.map_or(trueup_core::Value::NULL, Into::into);
        let grant = value!({
            role: "kinds", database: (database.as_str()), on: on, schema: (text(schema)), name: (text(name)),
            privileges: [privilege],
        });
        let program = program([resource("pg_grant.a", grant)]);
        bench.deployed(&program);
        assert!(bench.plan(&program).ends_with("No changes"), "{on}");
        bench.destroyed();
    }
    let overloaded = |arguments: trueup_core::Value| {
        let grant = value!({
            role: "kinds", database: (database.as_str()), on: "function", schema: "s 1", name: "f",
            arguments: (arguments), privileges: ["EXECUTE"],
        });
        program([resource("pg_grant.a", grant)])
    };
    assert!(
        bench.refused(&overloaded(trueup_core::Value::NULL)).contains("there are 2 functions of this name")
    );
    bench.deployed(&overloaded(value!(["integer", "text"])));
    let may = "SELECT count(*) FROM pg_proc, aclexplode(proacl) a WHERE a.grantee = 'kinds'::regrole";
    assert_eq!(server.sql(&database, may).unwrap(), "1\n");
    bench.destroyed();
}

/// What everyone may do from the beginning is nobody's grant: it is taken away without being adopted.
#[test]
fn everyone_is_left_what_is_granted_and_nothing_else() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let of = |privileges: trueup_core::Value| {
        let grant =
            value!({ role: "public", on: "database", name: (database.as_str()), privileges: (privileges) });
        program([resource("pg_grant.a", grant)])
    };
    let bench = bench(server);
    bench.deployed(&of(value!(["CONNECT"])));
    let may = format!(
        "SELECT has_database_privilege('pg_monitor', '{database}', 'CONNECT'),
                              has_database_privilege('pg_monitor', '{database}', 'TEMPORARY')"
    );
    assert_eq!(server.sql("postgres", &may).unwrap(), "t|f\n");
    assert!(bench.plan(&of(value!(["CONNECT"]))).ends_with("No changes"));
}

#[test]
fn what_a_grant_is_about_has_to_be_said_and_to_be_there() {
    let Some(server) = Postgres::shared() else { return };
    let bench = bench(server);
    let of = |inputs: trueup_core::Value| program([resource("pg_grant.a", inputs)]);
    let refused = bench.refused(&of(value!({ role: "a", on: "table", name: "t", privileges: ["SELECT"] })));
    assert!(refused.contains("objects of this kind are in a schema"), "{refused}");
    let refused = bench
        .refused(&of(value!({ role: "a", on: "table", schema: "s", name: "t", privileges: ["select"] })));
    assert!(refused.contains("SELECT"), "{refused}");
    let failed =
        bench.failed(&of(value!({ role: "nobody", on: "schema", name: "public", privileges: ["USAGE"] })));
    assert!(failed.contains("invalid: there is no role `nobody`"), "{failed}");
    let failed =
        bench.failed(&of(value!({ role: "postgres", on: "schema", name: "nowhere", privileges: ["USAGE"] })));
    assert!(failed.contains("there is no object `nowhere` of this kind"), "{failed}");
    let failed = bench
        .failed(&of(value!({ role: "pg_monitor", on: "schema", name: "public", privileges: ["EXECUTE"] })));
    assert!(failed.contains("invalid privilege type EXECUTE for schema"), "{failed}");
}
