//! Searching the board.

use trueup::{Context, DataSource, Inputs, Outputs, Result};

use crate::board::Board;
use crate::note::KIND;

/// The notes whose titles begin with something.
#[derive(Inputs)]
pub struct Search {
    /// What the titles begin with.
    #[trueup(default)]
    prefix: String,
}

/// What was found.
#[derive(Outputs)]
pub struct SearchOutput {
    /// The titles, in order.
    titles: Vec<String>,
}

impl DataSource for Search {
    type Output = SearchOutput;
    type Config = Board;

    async fn read(&self, context: &Context<Board>) -> Result<SearchOutput> {
        let mut titles = context.config().names(KIND)?;
        titles.retain(|title| title.starts_with(&self.prefix));
        Ok(SearchOutput { titles })
    }
}
