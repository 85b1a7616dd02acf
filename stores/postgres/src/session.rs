//! A connection, set up for this store, and the statements that were prepared on it.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Row, Statement};
use trueup_postgres_client::rows_within;
use trueup_provider::BoxFuture;

use crate::config::PostgresConfig;
use crate::fault::Fault;
use crate::schema;

/// A parameter of a statement.
pub(crate) type Parameter<'a> = &'a (dyn ToSql + Sync);

/// How the server is to treat this connection.
///
/// A client that is stopped in the middle of a transaction must not keep its locks, since nobody could take over its
/// lease: the server ends it. Statements name rows by their keys, so that plans that read whole tables, which the server
/// may choose while tables are small, are never right for long. Commits wait for the disk even where the database's
/// default is not to; where it is stricter than that it stays so.
const SETTINGS: &str = "
    SET idle_in_transaction_session_timeout = '3s';
    SET default_transaction_isolation = 'read committed';
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET jit = off;
    SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') IN ('off', 'local');
";

/// A connection. Dropping it ends it, and what was not committed on it.
pub(crate) struct Session {
    pub(crate) client: Client,
    statements: Mutex<BTreeMap<&'static str, Statement>>,
    /// The largest answer that is taken.
    pub(crate) answer_bytes_max: usize,
}

/// What a server answers, if it does so in time.
pub(crate) async fn in_time<T>(
    config: &PostgresConfig,
    answer: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let silent = |_| Err(Fault::Lost("the server does not answer".to_owned()));
    tokio::time::timeout(config.answer_time_max, answer).await.unwrap_or_else(silent)
}

impl Session {
    /// Connects. What the server sends unasked goes to `hear`.
    pub(crate) async fn connect(
        config: &PostgresConfig,
        mut hear: impl FnMut(AsyncMessage) + Send + 'static,
    ) -> Result<Session, Fault> {
        let (client, mut connection) = config.server.connect().await?;
        // Ends when the client is dropped or the connection lost; whoever waits for an answer is told by the client.
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|task| connection.poll_message(task)).await {
                hear(message);
            }
        });
        let path = format!("SET search_path = {};", schema::quoted(&config.schema));
        client.batch_execute(&(path + SETTINGS)).await?;
        Ok(Session { client, statements: Mutex::default(), answer_bytes_max: config.answer_bytes_max })
    }

    /// The statement, which is prepared the first time it is needed.
    pub(crate) async fn statement(&self, text: &'static str) -> Result<Statement, Fault> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(text).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let statement = self.client.prepare(text).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(text, statement.clone());
        Ok(statement)
    }

    /// The rows that a statement gives.
    pub(crate) async fn query(&self, text: &'static str, with: &[Parameter<'_>]) -> Result<Vec<Row>, Fault> {
        let statement = self.statement(text).await?;
        let rows = self.client.query_raw(&statement, with.iter().copied()).await?;
        Ok(rows_within(self.answer_bytes_max, rows).await?)
    }

    /// How many rows a statement changed.
    pub(crate) async fn execute(&self, text: &'static str, with: &[Parameter<'_>]) -> Result<u64, Fault> {
        Ok(self.client.execute(&self.statement(text).await?, with).await?)
    }
}

/// Sends requests one after the other without waiting for answers in between, and then waits for all of them.
pub(crate) async fn pipelined<T>(requests: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut answers: Vec<Option<T>> = requests.iter().map(|_| None).collect();
    let mut requests = requests;
    // Being polled for the first time is what sends a request, so the order of polling is that of sending.
    poll_fn(move |task| {
        let mut done = true;
        for (request, answer) in requests.iter_mut().zip(&mut answers).filter(|(_, answer)| answer.is_none())
        {
            match Pin::new(request).poll(task) {
                Poll::Ready(it) => *answer = Some(it),
                Poll::Pending => done = false,
            }
        }
        if done { Poll::Ready(answers.drain(..).flatten().collect()) } else { Poll::Pending }
    })
    .await
}
