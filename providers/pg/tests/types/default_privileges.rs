//! `pg_default_privileges`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-1
#[test]
fn default_privileges_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    server.sql(&database, "CREATE ROLE kit_maker; CREATE ROLE kit_user; CREATE SCHEMA kit").unwrap();
    let database = database.as_str();
    let subject = Subject {
        type_name: "pg_default_privileges",
        inputs: value!({
            owner: "kit_maker", role: "kit_user", database: database, schema: "kit", on: "tables",
            privileges: ["SELECT"],
        }),
        updated: value!({
            owner: "kit_maker", role: "kit_user", database: database, schema: "kit", on: "tables",
            privileges: ["SELECT", "INSERT"], with_grant_option: true,
        }),
        replaced: Some(value!({
            owner: "kit_maker", role: "kit_user", database: database, on: "tables", privileges: ["SELECT"],
        })),
        tamper: "ALTER DEFAULT PRIVILEGES FOR ROLE kit_maker IN SCHEMA kit GRANT DELETE ON TABLES TO kit_user",
        remove: &["ALTER DEFAULT PRIVILEGES FOR ROLE kit_maker IN SCHEMA kit REVOKE ALL ON TABLES FROM kit_user"],
        take: "ALTER DEFAULT PRIVILEGES FOR ROLE kit_maker IN SCHEMA kit GRANT DELETE ON TABLES TO kit_user",
        count: "SELECT count(*) FROM pg_default_acl JOIN pg_roles r ON r.oid = defaclrole WHERE rolname = 'kit_maker'"
            .to_owned(),
        secret: None,
        id: None,
        database: database.to_owned(),
    };
    subject.keeps_the_contract(
        server,
        &["an_object_is_imported_by_its_id", "secrets_are_marked_and_never_told"],
    );
}
