//! The tables, and the version of their format.
//!
//! All of them stand in one PostgreSQL schema, so that a database may hold other things beside them. Bodies are JSON as
//! text, as the types in `trueup-state` write them: PostgreSQL's own JSON knows neither all our numbers nor all our
//! texts. A row of `scopes` is what every write of its scope locks first: it holds the lease, the version, and what is
//! needed to tell whether a commit happened when the connection was lost during it. There are no foreign keys: nothing
//! removes scopes, and checking a key for each row costs more than writing it. Names sort by their bytes, as ours do.

use crate::fault::Fault;
use crate::session::Session;

/// What leads from each format to the next, from an empty schema on.
pub(crate) const MIGRATIONS: &[&str] = &[
    r#"
    CREATE TABLE meta (format bigint NOT NULL);
    INSERT INTO meta (format) VALUES (0);

    -- The time by which leases expire, in nanoseconds since 1970.
    CREATE FUNCTION store_clock() RETURNS bigint LANGUAGE sql VOLATILE AS
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000';

    CREATE TABLE scopes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        stack text COLLATE "C" NOT NULL,
        stage text COLLATE "C" NOT NULL,
        version bigint NOT NULL DEFAULT 0,
        last_commit text NOT NULL DEFAULT '',
        -- The lease. The rest of it stays when it is no longer held, so that tokens only grow.
        token bigint NOT NULL DEFAULT 0,
        held boolean NOT NULL DEFAULT false,
        run text NOT NULL DEFAULT '',
        holder text NOT NULL DEFAULT '',
        since bigint NOT NULL DEFAULT 0,
        expires bigint NOT NULL DEFAULT 0,
        claim text NOT NULL DEFAULT '',
        UNIQUE (stack, stage)
    ) WITH (fillfactor = 50);
    CREATE TABLE records (
        scope bigint NOT NULL,
        id text COLLATE "C" NOT NULL,
        address text NOT NULL,
        version bigint NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (scope, id)
    );
    CREATE TABLE journal (
        scope bigint NOT NULL,
        id text COLLATE "C" NOT NULL,
        position bigint GENERATED ALWAYS AS IDENTITY,
        version bigint NOT NULL,
        token bigint NOT NULL,
        body text NOT NULL,
        PRIMARY KEY (scope, id, position)
    );
    CREATE TABLE outputs (
        scope bigint PRIMARY KEY,
        body text NOT NULL
    );
    CREATE TABLE runs (
        position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        scope bigint NOT NULL,
        run text COLLATE "C" NOT NULL,
        started bigint NOT NULL,
        UNIQUE (scope, run)
    );
    CREATE TABLE history (
        run bigint NOT NULL,
        sequence bigint NOT NULL,
        at bigint NOT NULL,
        event text NOT NULL,
        PRIMARY KEY (run, sequence)
    );
    CREATE TABLE keyrings (
        scope bigint PRIMARY KEY,
        body text NOT NULL
    );
    "#,
    // Bodies leave out inputs with defaults where there are none: older programs cannot read that, we read both.
    "",
    // Generations name the configuration that they were made with: older programs would forget it.
    "
    CREATE TABLE configurations (
        scope bigint PRIMARY KEY,
        body text NOT NULL
    );
    ",
];

/// The newest format that these migrations lead to.
pub(crate) fn newest(migrations: &[&str]) -> u64 {
    migrations.len() as u64
}

/// Makes the schema ready: lays it out where there is none, brings an older format up to date, as a whole or not at
/// all; refuses what is not ours or newer than we know, and changes nothing then (STATE-7). Where all is as it should be
/// nothing is written, so that whoever may only read can plan.
pub(crate) async fn make_ready(session: &Session, schema: &str, migrations: &[&str]) -> Result<(), Fault> {
    if format(session, schema, migrations).await? == newest(migrations) {
        return Ok(());
    }
    let encoding: String = session.client.query_one("SHOW server_encoding", &[]).await?.try_get(0)?;
    if encoding != "UTF8" {
        let cause = format!("the encoding of the database is {encoding}, and must be UTF8");
        return Err(Fault::Unusable(cause));
    }
    session.client.batch_execute("BEGIN").await?;
    // Another process may be at it, or have been faster: the lock is held until the transaction ends.
    session.client.execute("SELECT pg_advisory_xact_lock(hashtext('trueup ' || $1))", &[&schema]).await?;
    let known = format(session, schema, migrations).await?;
    // Whoever may not make schemas may have been given one.
    let there =
        session.client.query_one("SELECT to_regnamespace($1) IS NOT NULL", &[&quoted(schema)]).await?;
    if !there.try_get::<_, bool>(0)? {
        session.client.batch_execute(&format!("CREATE SCHEMA {}", quoted(schema))).await?;
    }
    let known = usize::try_from(known).unwrap_or(usize::MAX);
    for migration in migrations.iter().skip(known) {
        session.client.batch_execute(migration).await?;
    }
    let newest = newest(migrations).cast_signed();
    session.client.execute("UPDATE meta SET format = $1", &[&newest]).await?;
    session.client.batch_execute("COMMIT").await?;
    Ok(())
}

/// The format of what is there: 0 if nothing is.
async fn format(session: &Session, schema: &str, migrations: &[&str]) -> Result<u64, Fault> {
    let tables = "SELECT count(*) FILTER (WHERE relname = 'meta'), count(*) FROM pg_class
                  JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = $1";
    let row = session.client.query_one(tables, &[&schema]).await?;
    let (ours, all): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    if ours == 0 && all == 0 {
        return Ok(0);
    }
    let foreign =
        || Fault::Garbled(format!("the schema `{schema}` holds something else than trueup's state").into());
    if ours == 0 {
        return Err(foreign());
    }
    // By its full name: who may not look into the schema is then told so.
    let meta = format!("SELECT format FROM {}.meta", quoted(schema));
    let found = session.client.query_opt(&meta, &[]).await;
    let found = match found {
        Err(error) if error.code() == Some(&tokio_postgres::error::SqlState::UNDEFINED_COLUMN) => {
            return Err(foreign());
        }
        found => found?,
    };
    let found: Option<i64> = found.map(|row| row.try_get(0)).transpose()?;
    match found.and_then(|found| u64::try_from(found).ok()) {
        Some(found) if found > newest(migrations) => Err(Fault::Newer { found }),
        Some(found @ 1..) => Ok(found),
        _ => Err(Fault::Garbled("it says no format version".into())),
    }
}

/// A name as statements write it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use trueup_test_servers::postgres::Postgres;

    use super::*;
    use crate::config::PostgresConfig;

    /// STATE-7.
    #[tokio::test]
    async fn an_older_format_is_brought_up_to_date_as_a_whole() {
        let Some(server) = Postgres::shared() else { return };
        let url = server.url(&server.new_database().unwrap());
        let config = PostgresConfig::parse(&url, |_| None).unwrap();
        let session = Session::connect(&config, drop).await.unwrap();
        let ready = async |migrations: &[&str]| make_ready(&session, "trueup", migrations).await;
        let current = &MIGRATIONS[..1];
        let newer =
            [MIGRATIONS[0], "ALTER TABLE scopes ADD COLUMN colour text", "CREATE TABLE songs (title text)"];
        let broken = [newer[0], newer[1], "CREATE TABLE scopes (title text)"];

        ready(current).await.unwrap();
        session
            .client
            .batch_execute("INSERT INTO scopes (stack, stage) VALUES ('shop', 'prod')")
            .await
            .unwrap();
        let failed = ready(&broken).await.unwrap_err();
        assert!(
            matches!(&failed, Fault::Unusable(cause) if cause == "relation \"scopes\" already exists"),
            "{failed:?}"
        );
        session.client.batch_execute("ROLLBACK").await.unwrap();
        ready(current).await.expect("nothing of a migration that fails is left");

        ready(&newer).await.unwrap();
        let row = session.client.query_one("SELECT stack, colour FROM scopes", &[]).await.unwrap();
        assert_eq!((row.get(0), row.get(1)), ("shop", None::<&str>), "what was recorded should be there");
        ready(&newer).await.unwrap();
        let refused = ready(current).await.unwrap_err();
        assert!(matches!(refused, Fault::Newer { found: 3 }), "{refused:?}");
    }
}
