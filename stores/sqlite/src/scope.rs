//! Scopes and their numbers.

use rusqlite::{OptionalExtension, Transaction, params};
use trueup_state::{FencingToken, Scope};

use crate::fault::Fault;
use crate::lease;

/// The number of a scope, if it has one.
pub(crate) fn number(transaction: &Transaction<'_>, scope: &Scope) -> Result<Option<i64>, Fault> {
    let mut query = transaction.prepare_cached("SELECT id FROM scopes WHERE stack = ?1 AND stage = ?2")?;
    let number = query.query_row(params![scope.stack.as_str(), scope.stage.as_str()], |row| row.get(0));
    Ok(number.optional()?)
}

/// The number of a scope, which it gets if it has none.
pub(crate) fn number_or_new(transaction: &Transaction<'_>, scope: &Scope) -> Result<i64, Fault> {
    if let Some(number) = number(transaction, scope)? {
        return Ok(number);
    }
    let mut insert = transaction.prepare_cached("INSERT INTO scopes (stack, stage) VALUES (?1, ?2)")?;
    Ok(insert.insert(params![scope.stack.as_str(), scope.stage.as_str()])?)
}

/// The scopes that hold anything but a lease, in order.
pub(crate) fn all(transaction: &Transaction<'_>) -> Result<Vec<Scope>, Fault> {
    let mut query = transaction.prepare_cached(
        "SELECT stack, stage FROM scopes
         WHERE EXISTS (SELECT 1 FROM records WHERE scope = scopes.id)
            OR EXISTS (SELECT 1 FROM journal WHERE scope = scopes.id)
            OR EXISTS (SELECT 1 FROM runs WHERE scope = scopes.id)
            OR EXISTS (SELECT 1 FROM outputs WHERE scope = scopes.id)
         ORDER BY stack, stage",
    )?;
    let scopes = query.query_map([], |row| {
        Ok(Scope::new(row.get::<_, String>("stack")?, row.get::<_, String>("stage")?))
    })?;
    Ok(scopes.collect::<Result<_, _>>()?)
}

/// Forgets what is kept of a scope without records; `false` if it has some. Its row and that of its lease stay, for their
/// version and token.
pub(crate) fn forget(
    transaction: &Transaction<'_>,
    scope: &Scope,
    token: FencingToken,
) -> Result<bool, Fault> {
    let scope = lease::check_held(transaction, scope, token)?;
    let records = "SELECT EXISTS (SELECT 1 FROM records WHERE scope = ?1)";
    if transaction.query_row(records, [scope], |row| row.get(0))? {
        return Ok(false);
    }
    // Lines of history go with their runs, by the foreign key.
    for table in ["journal", "outputs", "configurations", "runs", "keyrings"] {
        transaction.execute(&format!("DELETE FROM {table} WHERE scope = ?1"), [scope])?;
    }
    Ok(true)
}
