//! The data source `pg_query`: the rows that a query gives.

use trueup_core::{Marked, Value};
use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::connections::Connections;
use crate::placement::database_of;
use crate::session::column;

/// More rows than any program should rest on.
const ROWS_MAX: usize = 10_000;

/// The rows that a query gives. It is run at every plan, in a transaction that may only read. The answer
/// has at most 10,000 rows and 64 MiB.
#[derive(Inputs)]
pub struct Query {
    /// The database it is run in; if it is not set, that of the provider's configuration.
    database: Option<String>,
    /// The query: one `SELECT` or `VALUES`.
    #[trueup(length(min = 1))]
    query: String,
    /// What `$1`, `$2` and so on stand for. They are texts: write `$1::int` for a number.
    #[trueup(default)]
    parameters: Vec<Marked<String>>,
    /// Whether what it gives is secret.
    #[trueup(default)]
    secret: bool,
    /// How long to wait for it, in seconds.
    #[trueup(default = 30.0, range(min = 0.001, max = 86400))]
    timeout: f64,
}

/// The rows that a query gave.
#[derive(Outputs)]
pub struct QueryOutput {
    /// The rows, each an object with an entry for each column.
    rows: Value,
    /// How many there are.
    count: u64,
}

impl DataSource for Query {
    type Output = QueryOutput;
    type Config = Connections;

    async fn read(&self, context: &Context<Connections>) -> Result<QueryOutput> {
        let config = context.config();
        let session = config.to_change(database_of(self.database.as_ref(), config)).await?;
        let timeout = (self.timeout * 1000.0).ceil();
        let begin = format!(
            "BEGIN READ ONLY; SET LOCAL search_path TO DEFAULT; SET LOCAL statement_timeout = '{timeout}ms'"
        );
        session.begin_as(&begin).await?;
        let query = self.query.trim_end_matches(|last: char| last == ';' || last.is_whitespace());
        // The line break ends a comment at the end.
        let wrapped =
            format!("SELECT pg_catalog.to_json(q)::text AS row FROM ({query}\n) q LIMIT {}", ROWS_MAX + 1);
        let texts: Vec<String> = self.parameters.iter().map(|it| it.expose().clone()).collect();
        let rows = session.rows_of_texts(&wrapped, &texts).await.map_err(|error| error.at("query"))?;
        session.roll_back().await?;
        if rows.len() > ROWS_MAX {
            let message = format!("the query gives more than {ROWS_MAX} rows");
            return Err(Error::invalid(message).at("query").hint("narrow it down, or let it count"));
        }
        let secret = self.secret || self.parameters.iter().any(Marked::is_secret);
        let value = |row: &tokio_postgres::Row| -> Result<Value> {
            let text: String = column(row, "row")?;
            let value = Value::from_plain_json(&text).map_err(|error| {
                Error::invalid(format!("a row cannot become a value: {error}")).at("query")
            })?;
            Ok(value)
        };
        let values = rows.iter().map(value).collect::<Result<Vec<Value>>>()?;
        Ok(QueryOutput { count: values.len() as u64, rows: Value::list(values).into_secret_if(secret) })
    }
}
