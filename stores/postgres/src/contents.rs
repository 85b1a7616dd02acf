//! What is read back, and what is forgotten.

use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt;
use tokio_postgres::Row;
use trueup_core::{Value, read_json};
use trueup_postgres_client::AnswerMeter;
use trueup_state::rows::{AddressPool, from_nanoseconds};
use trueup_state::{
    Entry, FencingToken, HistoryLine, Record, RecordId, RunSummary, Scope, Snapshot, StoreError, Version,
};

use crate::fault::Fault;
use crate::session::{Parameter, Session};

const RECORDS: &str = "
    SELECT address, version, body FROM records
    WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) ORDER BY id";

const OUTPUTS: &str = "
    SELECT body FROM outputs WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2)";

const CONFIGURATIONS: &str = "
    SELECT body FROM configurations WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2)";

const VERSIONS: &str = "
    SELECT id, version FROM records
    WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) ORDER BY id";

const JOURNAL: &str = "
    SELECT position, body FROM journal
    WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) AND id = $3 ORDER BY position";

const RUNS: &str = "
    SELECT run, started, (SELECT count(*) FROM history WHERE history.run = runs.position)
    FROM runs WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) ORDER BY position DESC";

const HISTORY: &str = "
    SELECT sequence, at, event FROM history WHERE run = (
        SELECT position FROM runs
        WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) AND run = $3
    ) ORDER BY sequence";

const PRUNE_RUNS: &str = "
    WITH gone AS (
        DELETE FROM runs WHERE position IN (
            SELECT position FROM runs WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2)
            ORDER BY position DESC OFFSET $3
        ) RETURNING position
    ) DELETE FROM history USING gone WHERE history.run = gone.position";

const PRUNE_JOURNAL: &str = "
    DELETE FROM journal WHERE scope = (SELECT id FROM scopes WHERE stack = $1 AND stage = $2) AND NOT EXISTS
        (SELECT 1 FROM records WHERE records.scope = journal.scope AND records.id = journal.id)";

/// One row if the lease is held; what precedes the last resealing of each record is deleted then. The step is known by
/// how entries begin: PostgreSQL cannot take JSON apart that has escaped zeros in it.
const FORGET_BEFORE_RESEALING: &str = r#"
    WITH ours AS (
        SELECT id FROM scopes WHERE stack = $1 AND stage = $2 AND held AND token = $3 FOR UPDATE
    ), resealed AS (
        SELECT id AS record, max(position) AS position FROM journal
        WHERE scope = (SELECT id FROM ours) AND body ~ '^[{]"id":"[^"]*","step":[{]"step":"resealed"' GROUP BY id
    ), forgotten AS (
        DELETE FROM journal USING resealed
        WHERE scope = (SELECT id FROM ours) AND id = resealed.record AND journal.position < resealed.position
    ) SELECT id FROM ours"#;

/// One row if the lease is held: whether there were no records. All else is deleted then. A scope's row stays, for its
/// version and token.
const FORGET: &str = "
    WITH ours AS (
        SELECT id FROM scopes WHERE stack = $1 AND stage = $2 AND held AND token = $3 FOR UPDATE
    ), bare AS (
        SELECT id FROM ours WHERE NOT EXISTS (SELECT 1 FROM records WHERE records.scope = ours.id)
    ), no_journal AS (
        DELETE FROM journal USING bare WHERE journal.scope = bare.id
    ), no_outputs AS (
        DELETE FROM outputs USING bare WHERE outputs.scope = bare.id
    ), no_configurations AS (
        DELETE FROM configurations USING bare WHERE configurations.scope = bare.id
    ), no_keyring AS (
        DELETE FROM keyrings USING bare WHERE keyrings.scope = bare.id
    ), no_runs AS (
        DELETE FROM runs USING bare WHERE runs.scope = bare.id RETURNING position
    ), no_history AS (
        DELETE FROM history USING no_runs WHERE history.run = no_runs.position
    ) SELECT EXISTS (SELECT 1 FROM bare) FROM ours";

const SCOPES: &str = "
    SELECT stack, stage FROM scopes
    WHERE EXISTS (SELECT 1 FROM records WHERE scope = scopes.id)
       OR EXISTS (SELECT 1 FROM journal WHERE scope = scopes.id)
       OR EXISTS (SELECT 1 FROM runs WHERE scope = scopes.id)
       OR EXISTS (SELECT 1 FROM outputs WHERE scope = scopes.id)
    ORDER BY stack, stage";

/// All from one moment.
pub(crate) async fn load(session: &Session, scope: &Scope) -> Result<Snapshot, Fault> {
    let parameters: [Parameter<'_>; 2] = [&scope.stack.as_str(), &scope.stage.as_str()];
    session.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let outputs = session.query(OUTPUTS, &parameters).await?;
    let outputs = outputs.first().map(|row| row.try_get::<_, &str>(0)).transpose()?;
    let outputs = outputs.map(Value::from_json).transpose();
    let outputs = outputs.map_err(|error| Fault::unreadable("the stack's outputs", error))?;

    let configurations = session.query(CONFIGURATIONS, &parameters).await?;
    let configurations = configurations.first().map(|row| row.try_get::<_, &str>(0)).transpose()?;
    let configurations = configurations.map(read_json).transpose();
    let configurations =
        configurations.map_err(|error| Fault::unreadable("the configurations of providers", error))?;

    let statement = session.statement(RECORDS).await?;
    let mut rows = pin!(session.client.query_raw(&statement, parameters).await?);
    let (mut records, mut meter) = (Vec::new(), AnswerMeter::new(session.answer_bytes_max));
    let mut addresses = AddressPool::default();
    while let Some(row) = rows.try_next().await? {
        meter.count(&row)?;
        let mut record: Record = read_json(row.try_get("body")?).map_err(|error| {
            let address: &str = row.try_get("address").unwrap_or_default();
            Fault::unreadable(&format!("the record of {address}"), error)
        })?;
        addresses.share(&mut record);
        records.push((Arc::new(record), version(&row)?));
    }
    session.client.batch_execute("COMMIT").await?;
    Ok(Snapshot { records, outputs, configurations: configurations.unwrap_or_default() })
}

pub(crate) async fn versions(session: &Session, scope: &Scope) -> Result<Vec<(RecordId, Version)>, Fault> {
    let rows = session.query(VERSIONS, &[&scope.stack.as_str(), &scope.stage.as_str()]).await?;
    let entry = |row: &Row| {
        let id = row.try_get::<_, &str>("id")?.parse();
        let id = id.map_err(|error| Fault::Garbled(format!("the id of a record: {error}").into()))?;
        Ok((id, version(row)?))
    };
    rows.iter().map(entry).collect()
}

pub(crate) async fn journal(session: &Session, scope: &Scope, id: RecordId) -> Result<Vec<Entry>, Fault> {
    let id = id.to_string();
    let rows = session.query(JOURNAL, &[&scope.stack.as_str(), &scope.stage.as_str(), &id]).await?;
    let entry = |row: &Row| {
        let position: i64 = row.try_get("position")?;
        let what = || format!("entry {position} of the journal");
        read_json(row.try_get("body")?).map_err(|error| Fault::unreadable(&what(), error))
    };
    rows.iter().map(entry).collect()
}

pub(crate) async fn runs(session: &Session, scope: &Scope) -> Result<Vec<RunSummary>, Fault> {
    let rows = session.query(RUNS, &[&scope.stack.as_str(), &scope.stage.as_str()]).await?;
    let summary = |row: &Row| {
        let lines: i64 = row.try_get(2)?;
        let started = from_nanoseconds(row.try_get("started")?).ok_or_else(impossible_time)?;
        Ok(RunSummary { run: row.try_get("run")?, started, lines: lines.cast_unsigned() })
    };
    rows.iter().map(summary).collect()
}

pub(crate) async fn history(session: &Session, scope: &Scope, run: &str) -> Result<Vec<HistoryLine>, Fault> {
    let rows = session.query(HISTORY, &[&scope.stack.as_str(), &scope.stage.as_str(), &run]).await?;
    let line = |row: &Row| {
        let sequence: i64 = row.try_get("sequence")?;
        let at = from_nanoseconds(row.try_get("at")?).ok_or_else(impossible_time)?;
        let event = row.try_get("event")?;
        Ok(HistoryLine { run: run.to_owned(), sequence: sequence.cast_unsigned(), at, event })
    };
    rows.iter().map(line).collect()
}

pub(crate) async fn prune(session: &Session, scope: &Scope, keep_runs: usize) -> Result<(), Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let keep = i64::try_from(keep_runs).unwrap_or(i64::MAX);
    session.execute(PRUNE_RUNS, &[&stack, &stage, &keep]).await?;
    session.execute(PRUNE_JOURNAL, &[&stack, &stage]).await?;
    Ok(())
}

pub(crate) async fn forget_before_resealing(
    session: &Session,
    scope: &Scope,
    token: FencingToken,
) -> Result<bool, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let ours = session.query(FORGET_BEFORE_RESEALING, &[&stack, &stage, &token.0.cast_signed()]).await?;
    if ours.is_empty() {
        return Err(StoreError::Superseded.into());
    }
    session.execute(PRUNE_JOURNAL, &[&stack, &stage]).await?;
    Ok(true)
}

pub(crate) async fn forget(session: &Session, scope: &Scope, token: FencingToken) -> Result<bool, Fault> {
    let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
    let rows = session.query(FORGET, &[&stack, &stage, &token.0.cast_signed()]).await?;
    rows.first().map_or(Err(StoreError::Superseded.into()), |row| Ok(row.try_get(0)?))
}

/// The scopes that hold anything but a lease or a keyring, in order.
pub(crate) async fn scopes(session: &Session) -> Result<Vec<Scope>, Fault> {
    let rows = session.query(SCOPES, &[]).await?;
    let scope = |row: &Row| {
        let (stack, stage): (&str, &str) = (row.try_get("stack")?, row.try_get("stage")?);
        Ok(Scope::new(stack, stage))
    };
    rows.iter().map(scope).collect()
}

fn version(row: &Row) -> Result<Version, Fault> {
    let version: i64 = row.try_get("version")?;
    Ok(Version(version.cast_unsigned()))
}

fn impossible_time() -> Fault {
    Fault::Garbled("the history has an impossible time".into())
}
