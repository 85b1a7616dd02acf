//! The rows of an answer, up to a set size: a server may send more than there is memory (BOUND-2).

use std::pin::pin;

use futures_util::TryStreamExt;
use tokio_postgres::{Error, Row, RowStream};

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// There are too many, or they are too large.
    #[error("the answer has more than {0} bytes")]
    TooLarge(usize),
    /// The query failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// The size of an answer while its rows arrive.
#[derive(Debug)]
pub struct AnswerMeter {
    bytes: usize,
    bytes_max: usize,
}

impl AnswerMeter {
    /// A meter for one answer of at most this size.
    pub fn new(bytes_max: usize) -> Self {
        AnswerMeter { bytes: 0, bytes_max }
    }

    /// Counts a row, as it was sent and with what it takes to hold it.
    pub fn count(&mut self, row: &Row) -> Result<(), AnswerError> {
        self.bytes = self.bytes.saturating_add(row.raw_size_bytes()).saturating_add(size_of::<Row>());
        if self.bytes > self.bytes_max { Err(AnswerError::TooLarge(self.bytes_max)) } else { Ok(()) }
    }
}

/// All rows of an answer of at most this size.
pub async fn rows_within(bytes_max: usize, rows: RowStream) -> Result<Vec<Row>, AnswerError> {
    let (mut rows, mut meter, mut found) = (pin!(rows), AnswerMeter::new(bytes_max), Vec::new());
    while let Some(row) = rows.try_next().await? {
        meter.count(&row)?;
        found.push(row);
    }
    Ok(found)
}
