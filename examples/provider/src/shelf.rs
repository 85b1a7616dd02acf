//! Shelves, by the convergent contract: lists of titles.

use std::collections::BTreeSet;

use trueup::{Context, Converge, Current, FailureClass, Inputs, Outputs, Result, Sightings};

use crate::board::Board;

const KIND: &str = "shelf";

/// A shelf with notes on it.
#[derive(Inputs)]
pub struct Shelf {
    /// Tells shelves apart.
    #[trueup(identity, replace)]
    name: String,
    /// The titles of the notes on it.
    #[trueup(default)]
    notes: BTreeSet<String>,
    /// What is written above it.
    heading: Option<String>,
}

/// A shelf as it is.
#[derive(Outputs)]
pub struct ShelfOutput {
    #[trueup(mirrors = "name")]
    name: String,
    #[trueup(mirrors = "notes")]
    notes: BTreeSet<String>,
    #[trueup(mirrors = "heading")]
    heading: Option<String>,
    /// How many notes are on it.
    count_of_notes: u64,
}

impl Converge for Shelf {
    type Output = ShelfOutput;
    type Config = Board;

    async fn reconcile(&self, context: &Context<Board>, _: &Current<Self>) -> Result<ShelfOutput> {
        let shelf = ShelfOutput {
            name: self.name.clone(),
            notes: self.notes.clone(),
            heading: self.heading.clone(),
            count_of_notes: self.notes.len() as u64,
        };
        context.config().put(KIND, &self.name, &shelf)?;
        Ok(shelf)
    }

    async fn read(
        &self,
        context: &Context<Board>,
        prior: Option<&ShelfOutput>,
    ) -> Result<Sightings<ShelfOutput>> {
        let name = prior.map_or(&self.name, |prior| &prior.name);
        match context.config().get(KIND, name) {
            Ok(shelf) => Ok(Sightings::owned(shelf)),
            Err(error) if *error.class() == FailureClass::NotFound => Ok(Sightings::absent()),
            Err(error) => Err(error),
        }
    }

    async fn delete(&self, context: &Context<Board>, output: &ShelfOutput) -> Result<()> {
        context.config().remove(KIND, &output.name)
    }

    async fn import(&self, context: &Context<Board>, id: &str) -> Result<ShelfOutput> {
        context.config().get(KIND, id)
    }
}
