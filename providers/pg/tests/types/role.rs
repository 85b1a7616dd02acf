//! `pg_role`

use trueup_core::{Value, value};
use trueup_test_servers::postgres::Postgres;

use crate::kit::Subject;

fn secret(text: &str) -> Value {
    Value::from(text).into_secret()
}

/// CRUD-2, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, CRASH-1, CRASH-3, CRASH-7, SECRET-1, SECRET-5
#[test]
fn roles_keep_the_contract() {
    let Some(server) = Postgres::shared() else { return };
    server.sql("postgres", "CREATE ROLE kit_readers; CREATE ROLE kit_writers").unwrap();
    let subject = Subject {
        type_name: "pg_role",
        database: "postgres".to_owned(),
        inputs: value!({
            name: "kit_app", login: true, password: (secret("hunter2-canary")), valid_until: "2040-01-01",
            connection_limit: 5, member_of: ["kit_readers"],
        }),
        updated: value!({
            name: "kit_\"app'2", login: true, password: (secret("hunter3-canary")), createdb: true,
            member_of: ["kit_writers"],
        }),
        replaced: None,
        tamper: "ALTER ROLE kit_app PASSWORD 'other' CONNECTION LIMIT 7",
        remove: &["DROP ROLE IF EXISTS kit_app; DROP ROLE IF EXISTS \"kit_\"\"app'2\""],
        take: "CREATE ROLE kit_app",
        count: "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'kit\\_%app%'".to_owned(),
        secret: Some("-canary"),
        id: Some("kit_app".to_owned()),
    };
    subject.keeps_the_contract(server, &["a_replacement_makes_another_object"]);
}
