//! What is read back, and what is forgotten.

use std::sync::Arc;

use rusqlite::{OptionalExtension, Transaction, params};
use trueup_core::{Value, read_json};
use trueup_state::rows::AddressPool;
use trueup_state::{
    Entry, FencingToken, HistoryLine, Record, RecordId, RunSummary, Scope, Snapshot, Version,
};

use crate::columns::{Count, Time};
use crate::fault::Fault;
use crate::{lease, scope};

pub(crate) fn load(transaction: &Transaction<'_>, scope: &Scope) -> Result<Snapshot, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(Snapshot::default()) };
    let mut query = transaction
        .prepare_cached("SELECT address, version, body FROM records WHERE scope = ?1 ORDER BY id")?;
    let mut rows = query.query([scope])?;
    let mut records = Vec::new();
    let mut addresses = AddressPool::default();
    while let Some(row) = rows.next()? {
        let Count(version) = row.get("version")?;
        let mut record: Record = read_json(row.get_ref("body")?.as_str().map_err(rusqlite::Error::from)?)
            .map_err(|error| {
                let address = row.get::<_, String>("address").unwrap_or_default();
                Fault::unreadable(&format!("the record of {address}"), error)
            })?;
        addresses.share(&mut record);
        records.push((Arc::new(record), Version(version)));
    }
    let mut query = transaction.prepare_cached("SELECT body FROM outputs WHERE scope = ?1")?;
    let outputs: Option<String> = query.query_row([scope], |row| row.get(0)).optional()?;
    let outputs = outputs.map(|body| Value::from_json(&body)).transpose();
    let outputs = outputs.map_err(|error| Fault::unreadable("the stack's outputs", error))?;
    let mut query = transaction.prepare_cached("SELECT body FROM configurations WHERE scope = ?1")?;
    let configurations: Option<String> = query.query_row([scope], |row| row.get(0)).optional()?;
    let configurations = configurations.map(|body| read_json(&body)).transpose();
    let configurations =
        configurations.map_err(|error| Fault::unreadable("the configurations of providers", error))?;
    Ok(Snapshot { records, outputs, configurations: configurations.unwrap_or_default() })
}

pub(crate) fn versions(
    transaction: &Transaction<'_>,
    scope: &Scope,
) -> Result<Vec<(RecordId, Version)>, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(Vec::new()) };
    let mut query =
        transaction.prepare_cached("SELECT id, version FROM records WHERE scope = ?1 ORDER BY id")?;
    let mut rows = query.query([scope])?;
    let mut versions = Vec::new();
    while let Some(row) = rows.next()? {
        let Count(version) = row.get("version")?;
        let id = row.get_ref("id")?.as_str().map_err(rusqlite::Error::from)?;
        let id = id.parse().map_err(|error| Fault::Garbled(format!("the id of a record: {error}").into()))?;
        versions.push((id, Version(version)));
    }
    Ok(versions)
}

pub(crate) fn journal(
    transaction: &Transaction<'_>,
    scope: &Scope,
    id: RecordId,
) -> Result<Vec<Entry>, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(Vec::new()) };
    let mut query = transaction.prepare_cached(
        "SELECT position, body FROM journal WHERE scope = ?1 AND id = ?2 ORDER BY position",
    )?;
    let mut rows = query.query(params![scope, id.to_string()])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let (position, body): (i64, String) = (row.get("position")?, row.get("body")?);
        let what = || format!("entry {position} of the journal");
        entries.push(read_json(&body).map_err(|error| Fault::unreadable(&what(), error))?);
    }
    Ok(entries)
}

pub(crate) fn runs(transaction: &Transaction<'_>, scope: &Scope) -> Result<Vec<RunSummary>, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(Vec::new()) };
    let mut query = transaction.prepare_cached(
        "SELECT run, started, (SELECT COUNT(*) FROM history WHERE history.run = runs.position) AS lines
         FROM runs WHERE scope = ?1 ORDER BY position DESC",
    )?;
    let runs = query.query_map([scope], |row| {
        let (Time(started), Count(lines)) = (row.get("started")?, row.get("lines")?);
        Ok(RunSummary { run: row.get("run")?, started, lines })
    })?;
    Ok(runs.collect::<Result<_, _>>()?)
}

pub(crate) fn history(
    transaction: &Transaction<'_>,
    scope: &Scope,
    run: &str,
) -> Result<Vec<HistoryLine>, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(Vec::new()) };
    let mut query = transaction.prepare_cached(
        "SELECT sequence, at, event FROM history
         WHERE run = (SELECT position FROM runs WHERE scope = ?1 AND run = ?2) ORDER BY sequence",
    )?;
    let lines = query.query_map(params![scope, run], |row| {
        let (Count(sequence), Time(at)) = (row.get("sequence")?, row.get("at")?);
        Ok(HistoryLine { run: run.to_owned(), sequence, at, event: row.get("event")? })
    })?;
    Ok(lines.collect::<Result<_, _>>()?)
}

/// Lines of history go with their runs, by the foreign key.
pub(crate) fn prune(transaction: &Transaction<'_>, scope: &Scope, keep_runs: usize) -> Result<(), Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(()) };
    let keep = i64::try_from(keep_runs).unwrap_or(i64::MAX);
    transaction.execute(
        "DELETE FROM runs WHERE position IN
             (SELECT position FROM runs WHERE scope = ?1 ORDER BY position DESC LIMIT -1 OFFSET ?2)",
        params![scope, keep],
    )?;
    forget_gone(transaction, scope)
}

pub(crate) fn forget_before_resealing(
    transaction: &Transaction<'_>,
    scope: &Scope,
    token: FencingToken,
) -> Result<(), Fault> {
    let scope = lease::check_held(transaction, scope, token)?;
    transaction.execute(
        "DELETE FROM journal WHERE scope = ?1 AND position < (
             SELECT MAX(later.position) FROM journal AS later
             WHERE later.scope = journal.scope AND later.id = journal.id
                 AND json_extract(later.body, '$.step.step') = 'resealed')",
        [scope],
    )?;
    forget_gone(transaction, scope)
}

/// Forgets the journal of records that no longer exist.
fn forget_gone(transaction: &Transaction<'_>, scope: i64) -> Result<(), Fault> {
    transaction.execute(
        "DELETE FROM journal WHERE scope = ?1 AND NOT EXISTS
             (SELECT 1 FROM records WHERE records.scope = journal.scope AND records.id = journal.id)",
        [scope],
    )?;
    Ok(())
}
