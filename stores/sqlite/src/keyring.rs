//! Keyrings, which the store keeps and cannot read.

use rusqlite::{OptionalExtension, Transaction, params};
use trueup_state::Scope;

use crate::fault::Fault;
use crate::scope;

pub(crate) fn get(transaction: &Transaction<'_>, scope: &Scope) -> Result<Option<String>, Fault> {
    let Some(scope) = scope::number(transaction, scope)? else { return Ok(None) };
    let mut query = transaction.prepare_cached("SELECT body FROM keyrings WHERE scope = ?1")?;
    Ok(query.query_row([scope], |row| row.get(0)).optional()?)
}

/// Whether the expected keyring was there and has been replaced.
pub(crate) fn replace(
    transaction: &Transaction<'_>,
    scope: &Scope,
    expected: Option<&str>,
    keyring: &str,
) -> Result<bool, Fault> {
    if get(transaction, scope)?.as_deref() != expected {
        return Ok(false);
    }
    let scope = scope::number_or_new(transaction, scope)?;
    transaction
        .execute("INSERT OR REPLACE INTO keyrings (scope, body) VALUES (?1, ?2)", params![scope, keyring])?;
    Ok(true)
}
