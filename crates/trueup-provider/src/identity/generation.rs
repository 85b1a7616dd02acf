//! Generations of a resource: their numbers, and the slots that their names follow from.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a generation, counted up from 0: one more for each replacement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GenerationNumber(pub u64);

impl GenerationNumber {
    /// The number of a resource's first generation.
    pub const FIRST: Self = GenerationNumber(0);

    /// The number after this one. The last number is followed by itself.
    #[must_use]
    pub const fn next(self) -> Self {
        GenerationNumber(self.0.saturating_add(1))
    }
}

impl fmt::Display for GenerationNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Which of its possible names an object bears. Generations that exist side by side have different slots.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u64);

impl Slot {
    /// The slot of a resource's first generation.
    pub const FIRST: Self = Slot(0);
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
