//! The data sources.

use trueup_core::{Value, value};
use trueup_provider::{CallContext, DataRequest, InputValues, Provider, Registry};
use trueup_provider_pg::pg_provider;
use trueup_test_servers::postgres::Postgres;

use crate::kit::run;

/// What a data source gives, or how it fails.
fn read(server: &Postgres, source: &str, inputs: &Value) -> Result<Value, String> {
    run(async {
        let provider = pg_provider(|_| None);
        let config =
            provider.config_schema().await.unwrap().with_defaults(&value!({ url: (server.url("postgres")) }));
        let config = provider.configure(&config).await.unwrap();
        let handler = Registry::new().with(provider).data_source(source).await.unwrap();
        let inputs =
            InputValues { effective: handler.inputs().with_defaults(inputs), written: inputs.clone() };
        let context = CallContext::new("stack", "test", "pg_query.a".parse().unwrap());
        let request = DataRequest { config: &config, inputs: &inputs, context: &context };
        handler.read(request).await.map_err(|failure| failure.to_string())
    })
}

#[test]
fn a_query_gives_its_rows_as_values() {
    let Some(server) = Postgres::shared() else { return };
    let query = "SELECT $1::int + 1 AS n, 0.1::numeric AS exact, $2 AS text, NULL AS nothing, ARRAY[1, 2] AS list -- rows";
    let given = read(server, "pg_query", &value!({ query: query, parameters: ["41", "it's"] })).unwrap();
    assert_eq!(
        given.to_string(),
        r#"{ count = 1, rows = [{ exact = 0.1, list = [1, 2], n = 42, nothing = null, text = "it's" }] }"#
    );
    let secret =
        read(server, "pg_query", &value!({ query: "SELECT 'hunter2' AS password;", secret: true })).unwrap();
    assert!(!format!("{secret:?} {secret}").contains("hunter2"));
}

#[test]
fn a_query_changes_nothing_and_says_what_is_wrong_with_it() {
    let Some(server) = Postgres::shared() else { return };
    server
        .sql(
            "postgres",
            "CREATE TABLE kept (); CREATE FUNCTION meddle() RETURNS int LANGUAGE sql
                            AS 'INSERT INTO kept DEFAULT VALUES; SELECT 1'",
        )
        .unwrap();
    let refused = |query: &str| read(server, "pg_query", &value!({ query: query, timeout: 1 })).unwrap_err();
    assert!(
        refused("SELECT meddle()").starts_with("denied: cannot execute INSERT in a read-only transaction")
    );
    for several in ["SELECT 1) q; DROP TABLE kept; --", "SELECT 1; DROP TABLE kept", "DROP TABLE kept"] {
        let said = refused(several);
        assert!(said.starts_with("invalid: ") && said.contains("SQLSTATE 42601"), "{said}");
    }
    assert!(refused("SELECT * FROM nowhere").contains("relation \"nowhere\" does not exist"));
    assert!(refused("SELECT pg_sleep(60)").contains("statement timeout"));
    let many = refused("SELECT generate_series(1, 20000)");
    assert!(many.contains("more than 10000 rows"), "{many}");
    let large = read(
        server,
        "pg_query",
        &value!({ query: "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)" }),
    );
    assert_eq!(large.unwrap_err(), "fatal: the answer has more than 64 MiB");
    assert_eq!(server.sql("postgres", "SELECT count(*) FROM kept").unwrap(), "0\n");
}

#[test]
fn a_role_is_found_by_its_name() {
    let Some(server) = Postgres::shared() else { return };
    server
        .sql("postgres", "CREATE ROLE data_reader LOGIN VALID UNTIL '2040-01-01' IN ROLE pg_monitor")
        .unwrap();
    let given = read(server, "pg_role", &value!({ name: "data_reader" })).unwrap();
    assert_eq!(given.get("login"), Some(&value!(true)));
    assert_eq!(given.get("valid_until"), Some(&value!("2040-01-01T00:00:00.000000Z")));
    assert_eq!(given.get("member_of").unwrap().to_string(), r#"set["pg_monitor"]"#);
    let missing = read(server, "pg_role", &value!({ name: "data_nobody" })).unwrap_err();
    assert!(missing.contains("there is no role `data_nobody`"), "{missing}");
}
