//! `pg_schema`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-1
#[test]
fn schemas_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let (database, other) = (server.new_database().unwrap(), server.new_database().unwrap());
    server.sql("postgres", "CREATE ROLE kit_schema_owner").unwrap();
    let subject = Subject {
        type_name: "pg_schema",
        inputs: value!({ name: "kit", database: (database.as_str()), owner: "kit_schema_owner" }),
        updated: value!({ name: "k\"it", database: (database.as_str()), owner: "postgres", drop_cascade: true }),
        replaced: Some(value!({ name: "kit", database: (other), owner: "kit_schema_owner" })),
        tamper: "ALTER SCHEMA kit OWNER TO postgres; ALTER SCHEMA kit RENAME TO other",
        remove: &["DROP SCHEMA IF EXISTS kit; DROP SCHEMA IF EXISTS \"k\"\"it\""],
        take: "CREATE SCHEMA kit",
        count: "SELECT count(*) FROM pg_namespace WHERE nspname IN ('kit', 'k\"it', 'other')".to_owned(),
        secret: None,
        id: Some(format!("{database}/kit")),
        database,
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}
