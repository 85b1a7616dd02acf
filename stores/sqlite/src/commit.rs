//! Commits: the rows are prepared by whoever commits, and written on the store's thread.

use rusqlite::{OptionalExtension, Transaction, params};
use trueup_state::rows::{BatchRows, RecordChange, RecordRow};
use trueup_state::{Batch, FencingToken, HistoryLine, Scope, StoreError, Version};

use crate::columns::{Count, Time};
use crate::fault::Fault;
use crate::lease;

/// A batch as rows.
pub(crate) struct Rows {
    rows: BatchRows,
    history: Vec<HistoryLine>,
}

impl Rows {
    pub(crate) fn of(batch: &Batch) -> Result<Rows, Fault> {
        let rows = BatchRows::of(batch).map_err(|error| Fault::System(error.into()))?;
        Ok(Rows { rows, history: batch.history.clone() })
    }
}

pub(crate) fn commit(
    transaction: &Transaction<'_>,
    scope: &Scope,
    token: FencingToken,
    Rows { rows, history }: &Rows,
) -> Result<Version, Fault> {
    let scope = lease::check_held(transaction, scope, token)?;
    let mut grow = transaction
        .prepare_cached("UPDATE scopes SET version = version + 1 WHERE id = ?1 RETURNING version")?;
    let Count(version) = grow.query_row([scope], |row| row.get(0))?;
    for (id, change) in &rows.records {
        write_record(transaction, scope, id, version, change)?;
    }
    let mut insert = transaction
        .prepare_cached("INSERT INTO journal (scope, id, version, body) VALUES (?1, ?2, ?3, ?4)")?;
    for (id, body) in &rows.journal {
        insert.execute(params![scope, id, Count(version), body])?;
    }
    write_history(transaction, scope, history)?;
    if let Some(outputs) = &rows.outputs {
        let mut upsert = transaction.prepare_cached(
            "INSERT INTO outputs (scope, body) VALUES (?1, ?2)
             ON CONFLICT (scope) DO UPDATE SET body = excluded.body",
        )?;
        upsert.execute(params![scope, outputs])?;
    }
    if let Some(configurations) = &rows.configurations {
        let mut upsert = transaction.prepare_cached(
            "INSERT INTO configurations (scope, body) VALUES (?1, ?2)
             ON CONFLICT (scope) DO UPDATE SET body = excluded.body",
        )?;
        upsert.execute(params![scope, configurations])?;
    }
    Ok(Version(version))
}

/// Writes what becomes of a record, if it is what was expected.
fn write_record(
    transaction: &Transaction<'_>,
    scope: i64,
    id: &str,
    version: u64,
    change: &RecordChange,
) -> Result<(), Fault> {
    // The row is looked up once: what it is expected to be is part of the statement that changes it.
    let changed = match (&change.after, change.expected) {
        (Some(RecordRow { address, body }), None) => {
            let mut insert = transaction.prepare_cached(
                "INSERT INTO records (scope, id, address, version, body) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (scope, id) DO NOTHING",
            )?;
            insert.execute(params![scope, id, address, Count(version), body])?
        }
        (Some(RecordRow { address, body }), Some(expected)) => {
            let mut update = transaction.prepare_cached(
                "UPDATE records SET address = ?3, version = ?4, body = ?5
                 WHERE scope = ?1 AND id = ?2 AND version = ?6",
            )?;
            update.execute(params![scope, id, address, Count(version), body, Count(expected.0)])?
        }
        (None, Some(expected)) => {
            let mut delete = transaction
                .prepare_cached("DELETE FROM records WHERE scope = ?1 AND id = ?2 AND version = ?3")?;
            delete.execute(params![scope, id, Count(expected.0)])?
        }
        // It came and went within the batch.
        (None, None) => usize::from(stored_address(transaction, scope, id)?.is_none()),
    };
    if changed == 1 {
        return Ok(());
    }
    let address = stored_address(transaction, scope, id)?.unwrap_or_else(|| change.subject.clone());
    Err(StoreError::Conflict { address }.into())
}

/// The address of a record, if there is one.
fn stored_address(transaction: &Transaction<'_>, scope: i64, id: &str) -> Result<Option<String>, Fault> {
    let mut query = transaction.prepare_cached("SELECT address FROM records WHERE scope = ?1 AND id = ?2")?;
    Ok(query.query_row(params![scope, id], |row| row.get(0)).optional()?)
}

fn write_history(transaction: &Transaction<'_>, scope: i64, lines: &[HistoryLine]) -> Result<(), Fault> {
    let mut upsert = transaction.prepare_cached(
        "INSERT INTO history (run, sequence, at, event) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (run, sequence) DO UPDATE SET at = excluded.at, event = excluded.event",
    )?;
    // The lines of a batch are nearly always of one run.
    for of_run in lines.chunk_by(|left, right| left.run == right.run) {
        let run = run_position(transaction, scope, &of_run[0])?;
        for HistoryLine { sequence, at, event, .. } in of_run {
            upsert.execute(params![run, Count(*sequence), Time(*at), event])?;
        }
    }
    Ok(())
}

/// The position of a line's run, which gets one if this is its first line.
fn run_position(transaction: &Transaction<'_>, scope: i64, line: &HistoryLine) -> Result<i64, Fault> {
    let mut find = transaction.prepare_cached("SELECT position FROM runs WHERE scope = ?1 AND run = ?2")?;
    let known: Option<i64> = find.query_row(params![scope, line.run], |row| row.get(0)).optional()?;
    if let Some(position) = known {
        return Ok(position);
    }
    let mut insert =
        transaction.prepare_cached("INSERT INTO runs (scope, run, started) VALUES (?1, ?2, ?3)")?;
    Ok(insert.insert(params![scope, line.run, Time(line.at)])?)
}
