//! The example for PostgreSQL, deployed to a server by the program as people have it.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use trueup_cli_harness::{Folder, Told};
use trueup_test_servers::postgres::Postgres;

/// DRIFT-2, ADOPT-2, DELETE-1
#[test]
fn a_database_with_its_roles_is_deployed_watched_found_again_and_destroyed() {
    let Some(server) = Postgres::own() else { return };
    let folder = Folder::of(env!("CARGO_BIN_EXE_trueup"));
    let stack = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/postgres/main.tu.hcl");
    folder.write("main.tu.hcl", &std::fs::read_to_string(stack).unwrap());
    let port = server.port().to_string();
    let environment = [
        ("PGHOST", "127.0.0.1"),
        ("PGPORT", port.as_str()),
        ("PGUSER", "postgres"),
        ("PGDATABASE", "postgres"),
        ("TF_VAR_app_password", "correct horse"),
    ];
    let run = |arguments: &str| folder.run_with(arguments, &environment);
    let done = |arguments: &str| {
        let told: Told = run(arguments);
        assert_eq!(told.code, 0, "{arguments}: {told:?}");
        assert!(!format!("{told:?}").contains("correct horse"), "{told:?}");
        told.out + &told.err
    };
    let deployed = done("deploy --stage test --yes");
    assert!(deployed.contains("7 created"), "{deployed}");
    assert!(done("plan").contains("No changes"));
    server.sql("shop", "INSERT INTO app.songs VALUES ('first')").unwrap();

    server.sql("postgres", "ALTER ROLE app NOLOGIN").unwrap();
    let drifted = run("drift");
    assert_eq!(drifted.code, 3, "{drifted:?}");
    assert!(drifted.out.contains("login"), "{drifted:?}");
    done("deploy --yes");

    std::fs::remove_dir_all(folder.path().join(".trueup")).unwrap();
    let found = done("deploy --stage test --yes");
    assert!(!found.contains("created"), "{found}");
    assert!(done("plan").contains("No changes"));
    assert_eq!(server.sql("shop", "SELECT title FROM app.songs").unwrap(), "first\n");

    let destroyed = done("destroy --yes");
    assert!(destroyed.contains("7 deleted"), "{destroyed}");
    let left = "SELECT rolname FROM pg_roles WHERE rolname IN ('app', 'readers')";
    assert_eq!(server.sql("postgres", left).unwrap(), "");
}
