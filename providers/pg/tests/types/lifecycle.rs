//! A whole stack through the engine: from nothing to nothing, with everything in between.

use trueup_core::{Value, value};
use trueup_program::{Program, Reference};
use trueup_test_servers::postgres::Postgres;
use trueup_workbench::{Workbench, address, program, reference, resource, secret};

use crate::bench::{bench, given, resource_of};

/// What changes from deploy to deploy.
#[derive(Clone, Copy)]
struct Shop {
    password: &'static str,
    connection_limit: i64,
    encoding: &'static str,
    statements: usize,
    privileges: &'static [&'static str],
}

const SHOP: Shop = Shop {
    password: "hunter2-and-more",
    connection_limit: 10,
    encoding: "UTF8",
    statements: 1,
    privileges: &["SELECT"],
};

impl Shop {
    /// Two roles, a database, and in it a schema, an extension, tables by migration, grants and default privileges.
    #[expect(clippy::too_many_lines, reason = "a program as it would be written")]
    fn program(self) -> Program {
        let in_database = || reference("pg_database.shop", "name");
        let statements = [
            value!({ up: "CREATE TABLE app.songs (title text)", down: "DROP TABLE app.songs" }),
            value!({ up: "CREATE TABLE app.singers (name text)", down: "DROP TABLE app.singers" }),
        ];
        let statements = Value::list(statements.into_iter().take(self.statements));
        let privileges = || given(Value::list(self.privileges.iter().map(|it| Value::from(*it))));
        let mut grant = resource_of(
            "pg_grant.tables",
            [
                ("database", in_database()),
                ("role", reference("pg_role.reader", "name")),
                ("on", given("all_tables")),
                ("schema", reference("pg_schema.app", "name")),
                ("privileges", privileges()),
            ],
        );
        grant.depends_on.push("pg_sql.tables".parse().unwrap());
        let mut tables = resource_of(
            "pg_sql.tables",
            [("database", in_database()), ("name", given("tables")), ("statements", given(statements))],
        );
        tables.depends_on.push("pg_schema.app".parse().unwrap());
        let mut program = program([
            resource("pg_role.reader", value!({ name: "reader" })),
            resource(
                "pg_role.app",
                value!({
                    name: "app", login: true, password: (secret(self.password)),
                    connection_limit: (self.connection_limit),
                }),
            ),
            resource_of(
                "pg_database.shop",
                [
                    ("name", given("shop")),
                    ("owner", reference("pg_role.app", "name")),
                    ("encoding", given(self.encoding)),
                    ("locale", given("C")),
                ],
            ),
            resource_of(
                "pg_schema.app",
                [
                    ("database", in_database()),
                    ("name", given("app")),
                    ("owner", reference("pg_role.app", "name")),
                ],
            ),
            resource_of(
                "pg_extension.hstore",
                [
                    ("database", in_database()),
                    ("name", given("hstore")),
                    ("schema", reference("pg_schema.app", "name")),
                ],
            ),
            tables,
            grant,
            resource_of(
                "pg_grant.connect",
                [
                    ("name", in_database()),
                    ("role", reference("pg_role.reader", "name")),
                    ("on", given("database")),
                    ("privileges", given(value!(["CONNECT"]))),
                ],
            ),
            resource_of(
                "pg_default_privileges.tables",
                [
                    ("database", in_database()),
                    ("owner", reference("pg_role.app", "name")),
                    ("role", reference("pg_role.reader", "name")),
                    ("schema", reference("pg_schema.app", "name")),
                    ("on", given("tables")),
                    ("privileges", privileges()),
                ],
            ),
        ]);
        // What is in the database goes with it.
        let database = Reference { address: address("pg_database.shop"), path: "oid".parse().unwrap() };
        for inside in program.resources.iter_mut().skip(3) {
            inside.replace_triggered_by.push(database.clone());
        }
        program
    }
}

/// All that a server has besides what is in its databases.
fn contents(server: &Postgres) -> String {
    let query = "SELECT rolname, rolconnlimit FROM pg_roles ORDER BY 1;
                 SELECT datname, datdba, datacl FROM pg_database ORDER BY 1;
                 SELECT * FROM pg_shdescription ORDER BY 1, 2; SELECT * FROM pg_auth_members ORDER BY 1, 2;
                 SELECT extname FROM pg_extension; SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1";
    server.sql("postgres", query).unwrap()
}

fn in_shop(server: &Postgres, query: &str) -> String {
    server.sql("shop", query).unwrap().trim().replace('\n', " ")
}

#[track_caller]
fn settled(bench: &Workbench, shop: Shop) {
    bench.deployed(&shop.program());
    let plan = bench.plan(&shop.program());
    assert!(plan.ends_with("No changes"), "{plan}");
}

/// PLAN-1, PLAN-2, PLAN-3, PLAN-4, DRIFT-2, DRIFT-3, ADOPT-1, ADOPT-2, DELETE-1, SECRET-1
#[test]
fn a_stack_lives_from_nothing_to_nothing() {
    let Some(server) = Postgres::own() else { return };
    let before = contents(&server);
    let mut bench = bench(&server);
    settled(&bench, SHOP);
    let may = "SELECT has_table_privilege('reader', 'app.songs', 'SELECT'),
                      has_table_privilege('reader', 'app.songs', 'INSERT'),
                      has_database_privilege('reader', 'shop', 'CONNECT')";
    assert_eq!(in_shop(&server, may), "t|f|t");
    assert_eq!(
        in_shop(
            &server,
            "SELECT current_setting('server_encoding'), nspowner::regrole FROM pg_namespace
                                 WHERE nspname = 'app'"
        ),
        "UTF8|app"
    );

    // Drift: by hand, in many places.
    server.sql("postgres", "ALTER ROLE app CONNECTION LIMIT 3 PASSWORD 'other'").unwrap();
    server
        .sql(
            "shop",
            "REVOKE SELECT ON app.songs FROM reader; ALTER SCHEMA app OWNER TO postgres;
                        ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA app GRANT DELETE ON TABLES TO reader",
        )
        .unwrap();
    let plan = bench.plan(&SHOP.program());
    for drifted in ["pg_role.app", "pg_schema.app", "pg_default_privileges.tables"] {
        assert!(plan.contains(&format!("~ {drifted} (drift)")), "{plan}");
    }
    assert!(plan.contains("connection_limit: 10 <- 3"), "{plan}");
    settled(&bench, SHOP);
    assert_eq!(in_shop(&server, may), "t|f|t");

    // Update: another password, a new statement, more privileges, on the new table too.
    let shop =
        Shop { password: "hunter3-and-more", statements: 2, privileges: &["SELECT", "INSERT"], ..SHOP };
    settled(&bench, shop);
    assert_eq!(in_shop(&server, may), "t|t|t");
    assert_eq!(in_shop(&server, "SELECT has_table_privilege('reader', 'app.singers', 'INSERT')"), "t");

    // State loss: all is found again, and nothing made twice.
    bench.forget();
    let plan = bench.plan(&shop.program());
    assert!(!plan.contains("to create"), "{plan}");
    settled(&bench, shop);

    // Replacement: another encoding takes another database, and all that is in it with it.
    let other = Shop { encoding: "LATIN1", ..shop };
    let plan = bench.plan(&other.program());
    assert!(plan.contains("encoding"), "{plan}");
    settled(&bench, other);
    assert_eq!(in_shop(&server, "SHOW server_encoding"), "LATIN1");
    assert_eq!(in_shop(&server, may), "t|t|t");

    bench.destroyed();
    assert_eq!(contents(&server), before);
    assert!(!bench.told().contains("-and-more"));
}
