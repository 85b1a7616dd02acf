//! `pg_grant`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

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
        database: database.clone(),
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
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
        database: database.to_owned(),
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}
