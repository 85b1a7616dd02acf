//! A connection that one call has for itself, and its transactions.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row, RowStream};
use trueup_postgres_client::{AnswerError, rows_within};
use trueup_provider::{CallContext, Error, Result};

use crate::connections::Connections;
use crate::fault::{self, Doing};

/// The lock under which this provider changes a database's catalogue. PostgreSQL itself lets two that change the same row
/// there fail; and whoever waits for it knows that a call which was cut off is over.
const CATALOGUE_LOCK: i64 = 0x0074_7275_6575_7000;

/// How long to wait before a lock is asked for again, doubled each time, and for how long in all.
const LOCK_PAUSE_MIN: Duration = Duration::from_millis(5);
const LOCK_PAUSE_MAX: Duration = Duration::from_secs(1);
const LOCK_PATIENCE: Duration = Duration::from_secs(60);

/// The largest answer to a query.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// A parameter of a statement.
pub(crate) type Parameter<'a> = &'a (dyn ToSql + Sync);

/// A connection that one call has for itself.
pub(crate) struct Session {
    /// Taken when the session ends.
    client: Option<Client>,
    home: Connections,
    database: String,
    /// Whether a statement or transaction is under way, or was when its call was cut off.
    unsettled: AtomicBool,
    in_transaction: AtomicBool,
    /// Whether it has the lock that outlasts transactions.
    locked: AtomicBool,
    _permit: OwnedSemaphorePermit,
}

impl Session {
    pub(crate) fn new(
        client: Client,
        home: Connections,
        database: String,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Session {
            client: Some(client),
            home,
            database,
            unsettled: AtomicBool::new(false),
            in_transaction: AtomicBool::new(false),
            locked: AtomicBool::new(false),
            _permit: permit,
        }
    }

    /// Where it is connected to.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// The rows that a query gives.
    pub(crate) async fn rows(&self, query: &str, with: &[Parameter<'_>]) -> Result<Vec<Row>> {
        let client = self.begun()?;
        self.taken(client.query_raw(query, with.iter().copied()).await).await
    }

    /// The row that a query gives, if it gives one.
    pub(crate) async fn row(&self, query: &str, with: &[Parameter<'_>]) -> Result<Option<Row>> {
        Ok(self.rows(query, with).await?.into_iter().next())
    }

    /// The rows of a query whose parameters are texts, whatever they become in it.
    pub(crate) async fn rows_of_texts(&self, query: &str, texts: &[String]) -> Result<Vec<Row>> {
        let client = self.begun()?;
        let with = texts.iter().map(|it| (it as Parameter<'_>, Type::TEXT));
        self.taken(client.query_typed_raw(query, with).await).await
    }

    /// Runs statements. Outside of a transaction they take effect at once.
    pub(crate) async fn run(&self, statements: &str) -> Result<()> {
        let doing = match self.in_transaction.load(Ordering::Relaxed) {
            true => Doing::Harmless,
            false => Doing::Deciding,
        };
        let client = self.begun()?;
        self.ended(client.batch_execute(statements).await, doing)
    }

    /// Begins a transaction that changes the catalogue, alone.
    pub(crate) async fn begin(&self) -> Result<()> {
        self.begin_as("BEGIN").await?;
        self.run(&format!("SELECT pg_advisory_xact_lock({CATALOGUE_LOCK})")).await
    }

    /// Begins a transaction by this statement.
    pub(crate) async fn begin_as(&self, begin: &str) -> Result<()> {
        self.in_transaction.store(true, Ordering::Relaxed);
        self.run(begin).await
    }

    pub(crate) async fn commit(&self) -> Result<()> {
        self.end("COMMIT", Doing::Deciding).await
    }

    /// Undoes all since the beginning of the transaction.
    pub(crate) async fn roll_back(&self) -> Result<()> {
        self.end("ROLLBACK", Doing::Harmless).await
    }

    async fn end(&self, how: &str, doing: Doing) -> Result<()> {
        let client = self.begun()?;
        let outcome = client.batch_execute(how).await;
        self.in_transaction.store(false, Ordering::Relaxed);
        self.ended(outcome, doing)
    }

    /// Waits until nobody else changes the catalogue, for statements that no transaction can hold.
    pub(crate) async fn lock_catalogue(&self, context: &CallContext) -> Result<()> {
        self.lock(CATALOGUE_LOCK, context).await
    }

    pub(crate) async fn unlock_catalogue(&self) -> Result<()> {
        self.rows("SELECT pg_advisory_unlock($1)", &[&CATALOGUE_LOCK]).await?;
        self.locked.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Takes a lock that lasts until it is given back, or until the server is done with what a lost session left it. A
    /// session that still has it is not kept.
    ///
    /// It asks again and again rather than letting the server wait: a statement that waits holds a snapshot, for whose
    /// end others wait in turn, such as `CREATE INDEX CONCURRENTLY`.
    pub(crate) async fn lock(&self, key: i64, context: &CallContext) -> Result<()> {
        self.locked.store(true, Ordering::Relaxed);
        let begun = context.clock.now();
        let mut pause = LOCK_PAUSE_MIN;
        loop {
            let row = self.row("SELECT pg_try_advisory_lock($1) AS taken", &[&key]).await?;
            if row.map_or(Ok(false), |row| column(&row, "taken"))? {
                return Ok(());
            }
            if context.clock.now().duration_since(begun).unwrap_or_default() > LOCK_PATIENCE {
                return Err(Error::retryable("another session is still at work on it")
                    .hint("an earlier run may have left it: see pg_stat_activity"));
            }
            context.clock.sleep(pause).await;
            pause = (pause * 2).min(LOCK_PAUSE_MAX);
        }
    }

    fn begun(&self) -> Result<&Client> {
        self.unsettled.store(true, Ordering::Relaxed);
        self.client.as_ref().ok_or_else(|| Error::fatal("the session is closed"))
    }

    /// The rows of an answer. Of one that is too large, the rest is still to come, so its session is not kept.
    async fn taken(&self, rows: Result<RowStream, tokio_postgres::Error>) -> Result<Vec<Row>> {
        let rows = match rows {
            Ok(rows) => rows_within(ANSWER_BYTES_MAX, rows).await,
            Err(error) => Err(error.into()),
        };
        match rows {
            Err(AnswerError::TooLarge(_)) => Err(Error::fatal("the answer has more than 64 MiB")),
            Err(AnswerError::Failed(error)) => self.ended(Err(error), Doing::Harmless),
            Ok(rows) => self.ended(Ok(rows), Doing::Harmless),
        }
    }

    fn ended<T>(&self, outcome: Result<T, tokio_postgres::Error>, doing: Doing) -> Result<T> {
        self.unsettled.store(self.in_transaction.load(Ordering::Relaxed), Ordering::Relaxed);
        outcome.map_err(|error| fault::error(&error, doing))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let client = self.client.take().filter(|client| !client.is_closed());
        let settled = !self.unsettled.load(Ordering::Relaxed) && !self.locked.load(Ordering::Relaxed);
        if let Some(client) = client.filter(|_| settled) {
            self.home.keep(std::mem::take(&mut self.database), client);
        }
    }
}

/// A column of a row.
pub(crate) fn column<'a, T: FromSql<'a>>(row: &'a Row, name: &str) -> Result<T> {
    row.try_get(name).map_err(|error| fault::error(&error, Doing::Harmless))
}
