//! `pg_extension`

use trueup_core::value;
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, REPLACE-2
#[test]
fn extensions_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    let (database, other) = (server.new_database().unwrap(), server.new_database().unwrap());
    server.sql(&database, "CREATE SCHEMA kit").unwrap();
    let subject = Subject {
        type_name: "pg_extension",
        inputs: value!({ name: "hstore", database: (database.as_str()), version: "1.7", schema: "public" }),
        updated: value!({ name: "hstore", database: (database.as_str()), version: "1.8", schema: "kit" }),
        replaced: Some(value!({ name: "hstore", database: (other) })),
        tamper: "ALTER EXTENSION hstore SET SCHEMA kit",
        remove: &["DROP EXTENSION IF EXISTS hstore"],
        take: "CREATE EXTENSION hstore VERSION '1.7' SCHEMA kit",
        count: "SELECT count(*) FROM pg_extension WHERE extname = 'hstore'".to_owned(),
        secret: None,
        id: Some(format!("{database}/hstore")),
        database,
    };
    subject.keeps_the_contract(server, &["secrets_are_marked_and_never_told"]);
}
