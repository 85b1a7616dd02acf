//! Deploying with the PostgreSQL store over the loopback interface, beside a bare client that writes the same rows in the
//! same transactions, and the cost of a step with few and with many records.
//!
//! The bare client has tables with a number for a key and a body, and sends each transaction in one go: no scopes,
//! versions or checks, no JSON to write, no answer to wait for before the commit.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::try_join_all;
use tokio_postgres::{Client, Error, NoTls, Statement};
use trueup_engine::Cancellation;
use trueup_provider::{BoxFuture, Clock, RuntimeClock};
use trueup_state::{RecordId, Store};
use trueup_store_postgres::{PostgresConfig, PostgresStore};
use trueup_test_servers::postgres::Postgres;

use crate::figures::{median, milliseconds};
use crate::trace::{Commit, Traced, steps};
use crate::watch::Watch;
use crate::{block_on, deploy, step, trivial};

/// How many resources give 10,000 steps and more.
const RESOURCES: usize = 5_000;

pub(crate) fn times(sizes: &[usize], rounds: usize) {
    let Some(server) = Postgres::shared() else { return };
    println!(
        "\ndeploy of {RESOURCES} resources with the PostgreSQL store; the limit writes the same rows bare"
    );
    println!(
        "{:>8} {:>10} {:>10} {:>8} {:>8} {:>8} {:>10} {:>14} {:>14}",
        "", "ms", "in store", "commits", "steps", "rows", "limit ms", "store/limit", "deploy/limit"
    );
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        ratios.push(block_on(round(server)));
    }
    println!("median of store/limit {:.2}", median(ratios));

    step::heading("PostgreSQL");
    for &size in sizes {
        block_on(async {
            let (store, clock) = open(server).await;
            step::measure(store, clock, size).await;
        });
    }
}

async fn open(server: &Postgres) -> (Arc<dyn Store>, Arc<dyn Clock>) {
    let url = server.url(&server.new_database().expect("a database can be made"));
    let config = PostgresConfig::parse(&url, |_| None).expect("the address is sound");
    let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
    let store = PostgresStore::open(config, clock.clone()).await.expect("the server runs");
    (Arc::new(store), clock)
}

/// A deploy, and the bare client on what it wrote; how many times as long the store took.
async fn round(server: &Postgres) -> f64 {
    let (store, clock) = open(server).await;
    let store = Arc::new(Traced::new(store));
    let reconciler = trivial::reconciler(store.clone(), clock);
    let watch = Watch::start();
    let run =
        reconciler.deploy(&trivial::program(RESOURCES), &trivial::options(), &Cancellation::new()).await;
    deploy::assert_done(run, RESOURCES);
    let ms = milliseconds(watch.elapsed());
    let trace = store.take();
    let store_ms: f64 = trace.iter().map(|it| milliseconds(it.took)).sum();
    let limit_ms = milliseconds(replay(server, &trace).await.expect("the server runs"));
    println!(
        "{:>8} {ms:>10.0} {store_ms:>10.0} {:>8} {:>8} {:>8} {limit_ms:>10.0} {:>14.2} {:>14.2}",
        "deploy",
        trace.len(),
        steps(&trace),
        trace.iter().map(Commit::rows).sum::<usize>(),
        store_ms / limit_ms,
        ms / limit_ms
    );
    store_ms / limit_ms
}

const TABLES: &str = "
    CREATE TABLE records (id bigint PRIMARY KEY, body text NOT NULL);
    CREATE TABLE journal (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL);
    CREATE TABLE history (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text NOT NULL);
";

/// Writes what commits wrote, and says how long that took.
async fn replay(server: &Postgres, commits: &[Commit]) -> Result<Duration, Error> {
    let url = server.url(&server.new_database().expect("a database can be made"));
    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute(TABLES).await?;
    let upsert = "INSERT INTO records SELECT * FROM unnest($1::bigint[], $2::text[])
                  ON CONFLICT (id) DO UPDATE SET body = excluded.body";
    let statements = [
        client.prepare(upsert).await?,
        client.prepare("INSERT INTO journal (body) SELECT unnest($1::text[])").await?,
        client.prepare("INSERT INTO history (body) SELECT unnest($1::text[])").await?,
    ];
    let text = "x".repeat(commits.iter().flat_map(Commit::sizes).max().unwrap_or(0));
    let mut numbers = std::collections::BTreeMap::new();
    let batches: Vec<_> = commits.iter().map(|commit| Bare::of(commit, &text, &mut numbers)).collect();
    let watch = Watch::start();
    for batch in &batches {
        batch.write(&client, &statements).await?;
    }
    Ok(watch.elapsed())
}

/// What one commit wrote, as columns.
struct Bare<'a> {
    ids: Vec<i64>,
    records: Vec<&'a str>,
    journal: Vec<&'a str>,
    history: Vec<&'a str>,
}

impl<'a> Bare<'a> {
    fn of(
        commit: &Commit,
        text: &'a str,
        numbers: &mut std::collections::BTreeMap<RecordId, i64>,
    ) -> Bare<'a> {
        let mut number = |id: &RecordId| {
            let next = numbers.len() as i64;
            *numbers.entry(*id).or_insert(next)
        };
        Bare {
            ids: commit.records.iter().map(|(id, _)| number(id)).collect(),
            records: commit.records.iter().map(|(_, bytes)| &text[..*bytes]).collect(),
            journal: commit.journal.iter().map(|bytes| &text[..*bytes]).collect(),
            history: commit.history.iter().map(|bytes| &text[..*bytes]).collect(),
        }
    }

    async fn write(
        &self,
        client: &Client,
        [records, journal, history]: &[Statement; 3],
    ) -> Result<(), Error> {
        let mut requests: Vec<BoxFuture<'_, Result<u64, Error>>> = Vec::new();
        requests.push(Box::pin(async { client.batch_execute("BEGIN").await.map(|()| 0) }));
        if !self.ids.is_empty() {
            requests.push(Box::pin(async { client.execute(records, &[&self.ids, &self.records]).await }));
        }
        for (statement, rows) in [(journal, &self.journal), (history, &self.history)] {
            if !rows.is_empty() {
                requests.push(Box::pin(async move { client.execute(statement, &[rows]).await }));
            }
        }
        requests.push(Box::pin(async { client.batch_execute("COMMIT").await.map(|()| 0) }));
        // So few are polled, and therefore sent, in order.
        try_join_all(requests).await.map(drop)
    }
}
