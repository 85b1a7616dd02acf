//! Which statements are to be run or undone, and running them.

use sha2::{Digest, Sha256};
use trueup_core::FailureClass;
use trueup_provider::{CallContext, Error, Result};

use super::Statement;
use super::ledger::Ledger;
use crate::fault;
use crate::session::{Session, column};

/// The digest by which a statement is known again. How its lines end does not count.
pub(super) fn digest(up: &str) -> String {
    let plain = up.replace("\r\n", "\n");
    Sha256::digest(plain.trim()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What is to be done: how many statements stay, and how each after them that was run is undone, the last first.
#[derive(Debug, PartialEq)]
pub(super) struct Steps<'a> {
    kept: usize,
    undone: Vec<&'a Statement>,
}

/// Compares what is wanted with what was run. `olds` are the statements as they were when they were run, if that is
/// known.
pub(super) fn steps<'a>(news: &[Statement], olds: &'a [Statement], applied: &[String]) -> Result<Steps<'a>> {
    let kept = news.len().min(applied.len());
    for (at, (new, was)) in news.iter().zip(applied).enumerate() {
        if digest(&new.up) != *was {
            let message = format!("{} was run already, and is no longer what was run", told(at, new));
            return Err(Error::invalid(message).at(format!("statements[{at}].up")).hint(
                "give it back the text it had, and add a statement at the end that makes the difference",
            ));
        }
    }
    let mut undone = Vec::new();
    for at in (kept..applied.len()).rev() {
        let old = olds.get(at).filter(|old| digest(&old.up) == applied[at]);
        let Some(old) = old.filter(|old| old.down.is_some()) else {
            let message = format!("statement {} was run, and nothing is known that undoes it", at + 1);
            return Err(Error::invalid(message).at("statements").hint(
                "put it back, and add a statement at the end that undoes it; or put it back with a `down`, deploy, \
                 and take it away then",
            ));
        };
        undone.push(old);
    }
    Ok(Steps { kept, undone })
}

/// Runs what was not run yet, after undoing what is no longer wanted.
pub(super) async fn run(
    news: &[Statement],
    olds: &[Statement],
    ledger: &mut Ledger,
    session: &Session,
    context: &CallContext,
) -> Result<()> {
    let Steps { kept, undone } = steps(news, olds, ledger.applied())?;
    for old in undone {
        undo(old, ledger, session, context).await?;
    }
    for (at, statement) in news.iter().enumerate().skip(kept) {
        continues(context)?;
        context.report_progress(&format!("running {} of {}", told(at, statement), news.len()));
        let mut applied = ledger.applied().to_vec();
        applied.push(digest(&statement.up));
        let change = Change {
            text: &statement.up,
            then: ledger.note(&applied),
            in_transaction: statement.transaction,
        };
        change.run(session).await.map_err(|error| explained(error, &told(at, statement)))?;
        ledger.noted(applied);
    }
    Ok(())
}

/// Undoes all that can be, and ends the notes.
pub(super) async fn undo_all(
    statements: &[Statement],
    ledger: &mut Ledger,
    session: &Session,
    context: &CallContext,
) -> Result<()> {
    while let Some(last) = ledger.applied().last() {
        let at = ledger.applied().len() - 1;
        let known = statements.get(at).filter(|statement| digest(&statement.up) == *last);
        match known.filter(|statement| statement.down.is_some()) {
            Some(statement) => undo(statement, ledger, session, context).await?,
            // What it did stays: nothing says how to undo it.
            None => ledger.noted(ledger.applied()[..at].to_vec()),
        }
    }
    session.run(&ledger.end()).await
}

/// Undoes the last statement that was run.
async fn undo(
    statement: &Statement,
    ledger: &mut Ledger,
    session: &Session,
    context: &CallContext,
) -> Result<()> {
    continues(context)?;
    let at = ledger.applied().len().saturating_sub(1);
    context.report_progress(&format!("undoing {}", told(at, statement)));
    let applied = ledger.applied()[..at].to_vec();
    let text = statement.down.as_deref().unwrap_or_default();
    let change = Change { text, then: ledger.note(&applied), in_transaction: statement.transaction };
    change
        .run(session)
        .await
        .map_err(|error| explained(error, &format!("undoing {}", told(at, statement))))?;
    ledger.noted(applied);
    Ok(())
}

/// A user's statement, and ours that notes it.
struct Change<'a> {
    text: &'a str,
    then: String,
    in_transaction: bool,
}

impl Change<'_> {
    async fn run(&self, session: &Session) -> Result<()> {
        if !self.in_transaction {
            session.run("RESET search_path").await?;
            session.run(self.text).await?;
            return session.run(&self.then).await;
        }
        session.begin_as("BEGIN; SET LOCAL search_path TO DEFAULT").await?;
        let before = transaction_id(session).await?;
        session.run(self.text).await?;
        if transaction_id(session).await? != before {
            return Err(Error::invalid("it ends the transaction it is run in")
                .hint("leave BEGIN, COMMIT and ROLLBACK out, or set `transaction = false`"));
        }
        session.run(&self.then).await?;
        session.commit().await
    }
}

async fn transaction_id(session: &Session) -> Result<i64> {
    let row = session.row("SELECT pg_catalog.txid_current() AS id", &[]).await?;
    row.map_or(Ok(0), |row| column(&row, "id"))
}

/// Stops between two statements if the run is to end.
fn continues(context: &CallContext) -> Result<()> {
    match context.cancellation.is_cancelled() {
        true => {
            Err(Error::retryable("the run is to end: what was run is noted, and the next deploy goes on"))
        }
        false => Ok(()),
    }
}

/// Says which statement failed. That something exists already is not said of the series itself.
fn explained(error: Error, which: &str) -> Error {
    let error = fault::of_class(error, &FailureClass::AlreadyExists, FailureClass::Conflict);
    let (mut failure, _) = error.into_parts();
    failure.message = format!("{which}: {}", failure.message);
    failure.into()
}

fn told(at: usize, statement: &Statement) -> String {
    match &statement.name {
        Some(name) => format!("statement {} (`{name}`)", at + 1),
        None => format!("statement {}", at + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(up: &str, down: Option<&str>) -> Statement {
        Statement { name: None, up: up.to_owned(), down: down.map(str::to_owned), transaction: true }
    }

    #[test]
    fn what_was_run_stays_what_is_new_is_run_and_what_is_gone_is_undone() {
        let all = [statement("a", Some("-a")), statement("b", Some("-b")), statement("c\r\nd", None)];
        let digests: Vec<String> = all.iter().map(|it| digest(&it.up)).collect();
        assert_eq!(steps(&all, &[], &[]).unwrap(), Steps { kept: 0, undone: vec![] });
        assert_eq!(steps(&all, &all[..2], &digests[..2]).unwrap(), Steps { kept: 2, undone: vec![] });
        let back = steps(&[], &all[..2], &digests[..2]).unwrap();
        assert_eq!(back, Steps { kept: 0, undone: vec![&all[1], &all[0]] });
        let lf = [all[0].clone(), all[1].clone(), statement("c\nd\n", None)];
        assert!(steps(&lf, &all, &digests).is_ok());
        let refused =
            |news: &[Statement], olds: &[Statement]| steps(news, olds, &digests).unwrap_err().to_string();
        assert!(
            refused(&all[..2], &all).contains("statement 3 was run, and nothing is known that undoes it")
        );
        assert!(refused(&all[..2], &[]).contains("nothing is known"));
        let changed = [all[0].clone(), statement("B", None), all[2].clone()];
        assert!(refused(&changed, &all).contains("statement 2 was run already"));
    }
}
