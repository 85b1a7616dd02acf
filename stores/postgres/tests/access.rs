//! Who may connect, by which way, and what is said to those who may not.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::wire;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use trueup_state::{Acquired, Batch, Store, StoreError};
use trueup_store_suite::conformance::shop::holder;
use trueup_test_servers::postgres::{Certificate, Postgres};
use wire::{adopted, commit, lease, open, refusal, scope};

const PASSWORD: &str = "hunter2-and-more";

/// What is said, with the port left out, and without the password in any case.
fn said(error: &str, server: &Postgres) -> String {
    assert!(!error.contains("hunter2"), "{error}");
    error.replace(&server.port().to_string(), "PORT")
}

/// SECRET-1.
#[tokio::test]
async fn a_wrong_user_password_or_database_is_named_without_the_password() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    server.sql(&database, &format!("CREATE ROLE ada LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    let check = "check the user and the password, in the address or in PGUSER and PGPASSWORD";
    for (user, name, expected) in [
        (
            "ada:hunter2-wrong",
            database.as_str(),
            format!("ada@127.0.0.1:PORT/{database}: password authentication failed for user \"ada\"; {check}"),
        ),
        (
            "eve:hunter2-wrong",
            &database,
            format!("eve@127.0.0.1:PORT/{database}: password authentication failed for user \"eve\"; {check}"),
        ),
        ("ada", &database, format!("ada@127.0.0.1:PORT/{database}: invalid configuration: password missing")),
        (
            "postgres:hunter2",
            "nowhere",
            "postgres@127.0.0.1:PORT/nowhere: database \"nowhere\" does not exist; create it, or name another in the \
             address"
                .to_owned(),
        ),
    ] {
        let refused = refusal(&server.url_of(user, name)).await;
        assert_eq!(said(&refused, server), format!("cannot open the state at postgres://{expected}"));
    }
}

/// STATE-5: whoever may only read can plan.
#[tokio::test]
async fn a_user_that_may_only_read_reads_and_is_refused_clearly() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let writer = open(&server.url(&database)).await.unwrap();
    let held = lease(&writer).await;
    commit(&writer, &held, vec![adopted(1)]).await.unwrap();
    server
        .sql(
            &database,
            &format!(
                "CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}';
                 GRANT USAGE ON SCHEMA trueup TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA trueup TO reader"
            ),
        )
        .unwrap();

    let reader = open(&server.url_of(&format!("reader:{PASSWORD}"), &database)).await.unwrap();
    assert_eq!(reader.load(&scope()).await, writer.load(&scope()).await);
    assert_eq!(reader.scopes().await.unwrap(), [scope()]);
    let denied =
        "permission denied for table scopes; the user may not do that: grant it, or connect as another user";
    let take = reader.acquire(&scope(), &holder("run-2"), held.term).await.unwrap_err();
    assert_eq!(
        said(&take.to_string(), server),
        format!(
            "cannot take the lease of the state at postgres://reader@127.0.0.1:PORT/{database}: {denied}"
        )
    );
    let write = reader.commit(&scope(), held.token, &Batch::default()).await.unwrap_err();
    assert!(said(&write.to_string(), server).ends_with(denied), "{write}");
    assert_eq!(reader.load(&scope()).await.unwrap().records.len(), 1, "it still reads");

    // A server that takes no writes at all, such as a standby.
    let standby = format!("{}?options=-c%20default_transaction_read_only%3Don", server.url(&database));
    let standby = open(&standby).await.unwrap();
    assert_eq!(standby.load(&scope()).await.unwrap().records.len(), 1);
    let refused = standby.renew(&scope(), &held).await.unwrap_err().to_string();
    assert!(refused.ends_with("connect to the primary, as a user that may write"), "{refused}");
}

#[tokio::test]
async fn a_user_that_may_not_make_the_schema_is_told() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    server.sql(&database, &format!("CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    let url = server.url_of(&format!("guest:{PASSWORD}"), &database);
    let refused = refusal(&url).await;
    assert!(refused.contains(&format!("permission denied for database {database}")), "{refused}");
    // Where it was made for the user, the rest follows.
    server.sql(&database, "CREATE SCHEMA trueup AUTHORIZATION guest").unwrap();
    let store = open(&url).await.unwrap();
    let lease = lease(&store).await;
    commit(&store, &lease, vec![adopted(1)]).await.unwrap();
    // That there is a schema does not mean that one may look into it.
    server.sql(&database, &format!("CREATE ROLE stranger LOGIN PASSWORD '{PASSWORD}'")).unwrap();
    let refused = refusal(&server.url_of(&format!("stranger:{PASSWORD}"), &database)).await;
    assert!(refused.contains("permission denied for schema trueup; the user may not do that"), "{refused}");
}

#[tokio::test]
async fn a_socket_needs_neither_port_nor_password() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let folder = server.folder().display();
    let url =
        format!("postgres://postgres@/{database}?host={folder}&port={}&sslmode=verify-full", server.port());
    let store = open(&url).await.unwrap();
    let location = said(&store.location(), server);
    assert_eq!(location, format!("postgres://postgres@{folder}:PORT/{database}"));
    assert_eq!(store.scopes().await, Ok(vec![]));
}

/// A root, and the certificate of a server that it vouches for.
fn certificates(issuer: &str, name: &str) -> (String, Certificate) {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.distinguished_name.push(DnType::CommonName, issuer);
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &root).unwrap();
    (root.pem(), Certificate { certificate: server.pem(), key: key.serialize_pem() })
}

#[tokio::test]
async fn encrypted_connections_check_as_much_as_was_asked_for() {
    let ((root, certificate), (other_root, _)) =
        (certificates("ours", "localhost"), certificates("theirs", "localhost"));
    let Some(server) = Postgres::with_tls(&certificate) else { return };
    let database = server.new_database().unwrap();
    let [root, other_root] = [("root.pem", root), ("other.pem", other_root)]
        .map(|(name, pem)| server.write(name, &pem).unwrap().display().to_string());
    let url =
        |host: &str, query: &str| format!("postgres://postgres@{host}:{}/{database}?{query}", server.port());
    let encrypted = "SELECT bool_or(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'trueup' AND state IS NOT NULL";
    for (host, query, expected) in [
        ("127.0.0.1", "sslmode=disable".to_owned(), "f\n"),
        ("127.0.0.1", String::new(), "t\n"),
        ("127.0.0.1", "sslmode=prefer".to_owned(), "t\n"),
        ("127.0.0.1", "sslmode=require".to_owned(), "t\n"),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={root}"), "t\n"),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={root}"), "t\n"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={root}"), "t\n"),
    ] {
        let store = open(&url(host, &query)).await.unwrap();
        assert_eq!(store.scopes().await, Ok(vec![]));
        assert_eq!(server.sql(&database, encrypted).unwrap(), expected, "{query}");
        drop(store);
        while server.sql(&database, encrypted).unwrap() != "\n" {
            tokio::task::yield_now().await;
        }
    }
    for (host, query, expected) in [
        ("127.0.0.1", format!("sslmode=verify-full&sslrootcert={root}"), "not valid for name"),
        ("localhost", format!("sslmode=verify-full&sslrootcert={other_root}"), "UnknownIssuer"),
        ("localhost", "sslmode=verify-full".to_owned(), "UnknownIssuer"),
        ("127.0.0.1", format!("sslmode=verify-ca&sslrootcert={other_root}"), "UnknownIssuer"),
        ("127.0.0.1", format!("sslmode=require&sslrootcert={other_root}"), "UnknownIssuer"),
    ] {
        let refused = refusal(&url(host, &query)).await;
        assert!(refused.contains("error performing TLS handshake: invalid peer certificate: "), "{refused}");
        assert!(refused.contains(expected), "{query}: {refused}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_refused_where_it_is_required() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.new_database().unwrap();
    let refused = refusal(&format!("{}?sslmode=require", server.url(&database))).await;
    assert!(refused.ends_with("error performing TLS handshake: server does not support TLS"), "{refused}");
    let plain = open(&server.url(&database)).await.unwrap();
    let taken = plain.acquire(&scope(), &holder("run-1"), std::time::Duration::MAX).await;
    assert!(matches!(taken, Ok(Acquired::Lease(_))), "a lease without end can be had: {taken:?}");
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_unavailable() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = open(&format!("postgres://ada:hunter2@127.0.0.1:{free}/infra")).await.err().unwrap();
    assert!(matches!(error, StoreError::Unavailable { attempted: "open", .. }));
    let said = format!(
        "cannot open the state at postgres://ada@127.0.0.1:{free}/infra: error connecting to server: "
    );
    assert!(error.to_string().starts_with(&said), "{error}");
}
