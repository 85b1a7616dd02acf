//! Commits: a few statements, whatever the size of the batch, sent in one go; then the commit itself.
//!
//! The first statement is the fence: it finds the scope's row only if the lease is still ours, locks it until the end,
//! and leaves the name of this commit in it. All others find the scope by that name, so that a writer who was
//! superseded touches nothing. The name also tells what became of a commit when the connection was lost during it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};
use trueup_provider::BoxFuture;
use trueup_state::rows::{BatchRows, RecordChange, RecordRow, to_nanoseconds};
use trueup_state::{Cause, FencingToken, HistoryLine, Scope, StoreError, Version};

use crate::fault::Fault;
use crate::session::{Parameter, Session, pipelined};

const FENCE: &str = "
    UPDATE scopes SET version = version + 1, last_commit = $3
    WHERE stack = $1 AND stage = $2 AND held AND token = $4 RETURNING version";

const INSERT_RECORDS: &str = "
    INSERT INTO records (scope, id, address, version, body)
    SELECT scopes.id, new.id, new.address, scopes.version, new.body
    FROM scopes, unnest($4::text[], $5::text[], $6::text[]) AS new (id, address, body)
    WHERE stack = $1 AND stage = $2 AND last_commit = $3
    ON CONFLICT (scope, id) DO NOTHING";

const UPDATE_RECORDS: &str = "
    UPDATE records SET address = new.address, version = scopes.version, body = new.body
    FROM scopes, unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) AS new (id, address, body, expected)
    WHERE stack = $1 AND stage = $2 AND last_commit = $3
      AND records.scope = scopes.id AND records.id = new.id AND records.version = new.expected";

const DELETE_RECORDS: &str = "
    DELETE FROM records USING scopes, unnest($4::text[], $5::bigint[]) AS old (id, expected)
    WHERE stack = $1 AND stage = $2 AND last_commit = $3
      AND records.scope = scopes.id AND records.id = old.id AND records.version = old.expected";

/// Counts those that are not there, as the others count what they changed.
const ABSENT_RECORDS: &str = "
    SELECT new.id FROM scopes, unnest($4::text[]) AS new (id)
    WHERE stack = $1 AND stage = $2 AND last_commit = $3 AND NOT EXISTS
        (SELECT 1 FROM records WHERE records.scope = scopes.id AND records.id = new.id)";

const JOURNAL: &str = "
    INSERT INTO journal (scope, id, version, token, body)
    SELECT scopes.id, new.id, scopes.version, scopes.token, new.body
    FROM scopes, unnest($4::text[], $5::text[]) WITH ORDINALITY AS new (id, body, ordinal)
    WHERE stack = $1 AND stage = $2 AND last_commit = $3 ORDER BY ordinal";

const OUTPUTS: &str = "
    INSERT INTO outputs (scope, body)
    SELECT id, $4 FROM scopes WHERE stack = $1 AND stage = $2 AND last_commit = $3
    ON CONFLICT (scope) DO UPDATE SET body = excluded.body";

const CONFIGURATIONS: &str = "
    INSERT INTO configurations (scope, body)
    SELECT id, $4 FROM scopes WHERE stack = $1 AND stage = $2 AND last_commit = $3
    ON CONFLICT (scope) DO UPDATE SET body = excluded.body";

const HISTORY: &str = "
    WITH of AS (SELECT id FROM scopes WHERE stack = $1 AND stage = $2 AND last_commit = $3),
    known AS (SELECT position FROM of JOIN runs ON runs.scope = of.id AND runs.run = $4),
    fresh AS (
        INSERT INTO runs (scope, run, started)
        SELECT id, $4, $5 FROM of WHERE NOT EXISTS (SELECT 1 FROM known) RETURNING position
    )
    INSERT INTO history (run, sequence, at, event)
    SELECT it.position, line.sequence, line.at, line.event
    FROM (SELECT position FROM known UNION ALL SELECT position FROM fresh) AS it,
         unnest($6::bigint[], $7::bigint[], $8::text[]) AS line (sequence, at, event)
    ON CONFLICT (run, sequence) DO UPDATE SET at = excluded.at, event = excluded.event";

const STORED: &str = "
    SELECT records.id, address, records.version FROM scopes JOIN records ON records.scope = scopes.id
    WHERE stack = $1 AND stage = $2 AND records.id = ANY ($3::text[])";

/// Waits for whoever holds the row, which may be this very commit on the lost connection.
const LOOK: &str = "
    SELECT token, version, last_commit FROM scopes WHERE stack = $1 AND stage = $2 FOR UPDATE";

const JOURNALLED: &str = "
    SELECT 1 FROM scopes JOIN journal ON journal.scope = scopes.id
    WHERE stack = $1 AND stage = $2 AND journal.id = $3 AND journal.version = $4 AND journal.token = $5";

/// A commit that is wanted.
pub(crate) struct Commit<'a> {
    stack: &'a str,
    stage: &'a str,
    token: FencingToken,
    /// Tells this commit from all others.
    name: String,
    records: &'a BTreeMap<String, RecordChange>,
    statements: Vec<Write<'a>>,
    /// The version with which the server was told to commit and has not answered; 0 if there is none.
    unanswered: AtomicU64,
}

/// A statement that writes.
struct Write<'a> {
    text: &'static str,
    /// What it is given besides the scope.
    columns: Vec<Column<'a>>,
    /// How many rows it must find as they are expected to be.
    expected: Option<usize>,
}

type Column<'a> = Box<dyn ToSql + Send + Sync + 'a>;

impl<'a> Commit<'a> {
    pub(crate) fn new(
        scope: &'a Scope,
        token: FencingToken,
        rows: &'a BatchRows,
        history: &'a [HistoryLine],
        name: String,
    ) -> Self {
        let mut statements = record_writes(&rows.records);
        if !rows.journal.is_empty() {
            let (ids, bodies): (Vec<&str>, Vec<&str>) =
                rows.journal.iter().map(|(id, body)| (id.as_str(), body.as_str())).unzip();
            statements.push(Write {
                text: JOURNAL,
                columns: vec![Box::new(ids), Box::new(bodies)],
                expected: None,
            });
        }
        if let Some(outputs) = &rows.outputs {
            statements.push(Write { text: OUTPUTS, columns: vec![Box::new(outputs)], expected: None });
        }
        if let Some(bodies) = &rows.configurations {
            statements.push(Write { text: CONFIGURATIONS, columns: vec![Box::new(bodies)], expected: None });
        }
        statements.extend(history.chunk_by(|left, right| left.run == right.run).map(history_write));
        let unanswered = AtomicU64::default();
        let (stack, stage) = (scope.stack.as_str(), scope.stage.as_str());
        Commit { stack, stage, token, name, records: &rows.records, statements, unanswered }
    }

    pub(crate) async fn run(&self, session: &Session) -> Result<Version, Fault> {
        // What the server was not told to commit did not take place.
        if let version @ 1.. = self.unanswered.load(Ordering::Relaxed)
            && let Some(version) = self.landed(session, Version(version)).await?
        {
            return Ok(version);
        }
        self.unanswered.store(0, Ordering::Relaxed);
        let version = match self.write(session).await? {
            Written::All(version) => version,
            Written::NotHeld => {
                session.client.batch_execute("ROLLBACK").await?;
                return Err(StoreError::Superseded.into());
            }
            Written::NotAsExpected => {
                session.client.batch_execute("ROLLBACK").await?;
                return Err(self.conflict(session).await?.into());
            }
        };
        self.unanswered.store(version.0, Ordering::Relaxed);
        let answer = session.client.batch_execute("COMMIT").await.map_err(Fault::from);
        if !matches!(answer, Err(Fault::Lost(_))) {
            self.unanswered.store(0, Ordering::Relaxed);
        }
        answer.map(|()| version)
    }

    /// Says in an error what is not known any more.
    pub(crate) fn explained(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Unavailable { attempted, location, cause }
                if self.unanswered.load(Ordering::Relaxed) > 0 =>
            {
                let unknown = "the connection was lost during a commit, and whether it took place could not be found out";
                StoreError::Unavailable { attempted, location, cause: Cause::about(unknown, cause) }
            }
            error => error,
        }
    }

    /// Begins a transaction and writes everything.
    async fn write(&self, session: &Session) -> Result<Written, Fault> {
        let fence = session.statement(FENCE).await?;
        let mut prepared = Vec::with_capacity(self.statements.len());
        for write in &self.statements {
            prepared.push((session.statement(write.text).await?, self.parameters(&write.columns)));
        }
        let token: Column<'_> = Box::new(self.token.0.cast_signed());
        let token = [token];
        let token = self.parameters(&token);

        let client = &session.client;
        let mut requests: Vec<BoxFuture<'_, Result<Answer, Error>>> = Vec::with_capacity(prepared.len() + 2);
        requests.push(Box::pin(async { client.batch_execute("BEGIN").await.map(|()| Answer::Begun) }));
        requests.push(Box::pin(async { client.query_opt(&fence, &token).await.map(Answer::Fenced) }));
        for (statement, parameters) in &prepared {
            requests.push(Box::pin(async { client.execute(statement, parameters).await.map(Answer::Wrote) }));
        }
        // The first error is the cause of all others.
        let answers: Vec<Answer> = pipelined(requests).await.into_iter().collect::<Result<_, _>>()?;
        let Some(Answer::Fenced(Some(fenced))) = answers.get(1) else { return Ok(Written::NotHeld) };
        let version: i64 = fenced.try_get("version")?;
        let as_expected = answers[2..].iter().zip(&self.statements).all(|(answer, write)| match answer {
            Answer::Wrote(rows) => write.expected.is_none_or(|expected| *rows == expected as u64),
            Answer::Begun | Answer::Fenced(_) => false,
        });
        Ok(if as_expected { Written::All(Version(version.cast_unsigned())) } else { Written::NotAsExpected })
    }

    /// The scope, the name of this commit, and what else a statement is given.
    fn parameters<'p>(&'p self, columns: &'p [Column<'_>]) -> Vec<Parameter<'p>> {
        let scope: [Parameter<'p>; 3] = [&self.stack, &self.stage, &self.name];
        scope.into_iter().chain(columns.iter().map(|column| &**column as Parameter<'p>)).collect()
    }

    /// What became of this commit, when the connection was lost during it: its version if it took place.
    async fn landed(&self, session: &Session, version: Version) -> Result<Option<Version>, Fault> {
        let found = session.query(LOOK, &[&self.stack, &self.stage]).await?;
        let Some(row) = found.first() else { return Ok(None) };
        if row.try_get::<_, &str>("last_commit")? == self.name {
            return Ok(Some(version));
        }
        let token = self.token.0.cast_signed();
        if row.try_get::<_, i64>("token")? == token {
            // Nobody else commits with our token.
            return Ok(None);
        }
        // Others have written since then. The journal remembers; a batch that leaves nothing there is not worth more.
        let Some(id) = self.records.keys().next() else {
            return Err(Fault::Unusable("other runs have written since then".to_owned()));
        };
        let version_number = version.0.cast_signed();
        let parameters: [Parameter<'_>; 5] = [&self.stack, &self.stage, id, &version_number, &token];
        let journalled = !session.query(JOURNALLED, &parameters).await?.is_empty();
        Ok(journalled.then_some(version))
    }

    /// Which record was not what it was expected to be.
    async fn conflict(&self, session: &Session) -> Result<StoreError, Fault> {
        let ids: Vec<&str> = self.records.keys().map(String::as_str).collect();
        let found = session.query(STORED, &[&self.stack, &self.stage, &ids]).await?;
        let mut stored: BTreeMap<&str, (&str, Version)> = BTreeMap::new();
        for row in &found {
            let version: i64 = row.try_get(2)?;
            stored.insert(row.try_get(0)?, (row.try_get(1)?, Version(version.cast_unsigned())));
        }
        let known = |id: &str| stored.get(id).map(|(_, version)| *version);
        let changed = self.records.iter().find(|(id, change)| known(id) != change.expected);
        let address = changed.map(|(id, change)| {
            stored
                .get(id.as_str())
                .map_or_else(|| change.subject.clone(), |(address, _)| (*address).to_owned())
        });
        Ok(StoreError::Conflict { address: address.unwrap_or_else(|| "a resource".to_owned()) })
    }
}

/// What a transaction came to, before it is committed.
enum Written {
    /// All of it, as this version.
    All(Version),
    /// The lease is no longer ours.
    NotHeld,
    /// A record is not what it was expected to be.
    NotAsExpected,
}

/// What the server answers to one of the statements.
enum Answer {
    Begun,
    Fenced(Option<Row>),
    Wrote(u64),
}

/// The statements that bring the records from what is expected to what they become.
fn record_writes(records: &BTreeMap<String, RecordChange>) -> Vec<Write<'_>> {
    let (mut inserts, mut updates, mut deletes, mut absent) =
        (Rows::default(), Rows::default(), Rows::default(), Rows::default());
    for (id, change) in records {
        let rows = match (&change.after, change.expected) {
            (Some(_), None) => &mut inserts,
            (Some(_), Some(_)) => &mut updates,
            (None, Some(_)) => &mut deletes,
            // It came and went within the batch.
            (None, None) => &mut absent,
        };
        rows.ids.push(id);
        rows.expected.extend(change.expected.map(|version| version.0.cast_signed()));
        if let Some(RecordRow { address, body }) = &change.after {
            rows.addresses.push(address);
            rows.bodies.push(body);
        }
    }
    [
        (INSERT_RECORDS, inserts),
        (UPDATE_RECORDS, updates),
        (DELETE_RECORDS, deletes),
        (ABSENT_RECORDS, absent),
    ]
    .into_iter()
    .filter(|(_, rows)| !rows.ids.is_empty())
    .map(|(text, rows)| rows.write(text))
    .collect()
}

/// Records that the same becomes of, as columns. Those that are not needed stay empty.
#[derive(Default)]
struct Rows<'a> {
    ids: Vec<&'a str>,
    addresses: Vec<&'a str>,
    bodies: Vec<&'a str>,
    expected: Vec<i64>,
}

impl<'a> Rows<'a> {
    fn write(self, text: &'static str) -> Write<'a> {
        let expected = Some(self.ids.len());
        let mut columns: Vec<Column<'a>> = vec![Box::new(self.ids)];
        if !self.bodies.is_empty() {
            columns.extend([Box::new(self.addresses) as Column<'a>, Box::new(self.bodies)]);
        }
        if !self.expected.is_empty() {
            columns.push(Box::new(self.expected));
        }
        Write { text, columns, expected }
    }
}

/// The statement for the lines of one run. Of lines with the same sequence the last counts.
fn history_write(lines: &[HistoryLine]) -> Write<'_> {
    let unique: BTreeMap<u64, &HistoryLine> = lines.iter().map(|line| (line.sequence, line)).collect();
    let sequences: Vec<i64> = unique.keys().map(|sequence| sequence.cast_signed()).collect();
    let times: Vec<i64> = unique.values().map(|line| to_nanoseconds(line.at)).collect();
    let events: Vec<&str> = unique.values().map(|line| line.event.as_str()).collect();
    let first = &lines[0];
    let columns: Vec<Column<'_>> = vec![
        Box::new(first.run.as_str()),
        Box::new(to_nanoseconds(first.at)),
        Box::new(sequences),
        Box::new(times),
        Box::new(events),
    ];
    Write { text: HISTORY, columns, expected: None }
}
