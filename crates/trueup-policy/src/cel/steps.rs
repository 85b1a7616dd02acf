//! The budget of an evaluation, in steps.
//!
//! Macros nest, so a short expression can visit a plan's resources once for each combination of them. Every node costs a
//! step, and so does every part of a value that an operation has to look at or copy.

use std::cell::Cell;

use super::compile::Node;
use super::error::CelError;
use super::value::Value;

/// How many bytes of text an operation looks at for one step.
const BYTES_PER_STEP: usize = 16;

/// How many steps an evaluation may still take.
#[derive(Debug)]
pub struct Steps {
    max: u64,
    left: Cell<u64>,
}

impl Steps {
    /// What one evaluation may take: about half a second.
    pub const DEFAULT_MAX: u64 = 10_000_000;

    /// A budget of this many steps.
    pub fn new(max: u64) -> Self {
        Steps { max, left: Cell::new(max) }
    }

    /// The steps that were taken.
    pub fn taken(&self) -> u64 {
        self.max - self.left.get()
    }

    pub(super) fn take(&self, at: &Node, count: u64) -> Result<(), CelError> {
        match self.left.get().checked_sub(count) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(self.exhausted(at)),
        }
    }

    #[cold]
    fn exhausted(&self, at: &Node) -> CelError {
        self.left.set(0);
        let message = format!("it takes more than {} steps", self.max);
        CelError::new(at.span, message)
            .out_of_steps()
            .hint("nested macros multiply: narrow the outer list with `filter` first")
    }
}

/// What it costs to look at all of a value.
pub(super) fn weight(value: &Value) -> u64 {
    match value {
        Value::String(text) => bytes(text.len()),
        Value::Bytes(octets) => bytes(octets.len()),
        Value::List(items) => 1 + items.iter().map(weight).sum::<u64>(),
        Value::Map(map) => 1 + map.values().map(weight).sum::<u64>(),
        Value::Optional(Some(inner)) => 1 + weight(inner),
        _ => 1,
    }
}

/// What it costs to look at the top of a value alone: the text itself, or the number of elements.
pub(super) fn width(value: &Value) -> u64 {
    match value {
        Value::List(items) => 1 + items.len() as u64,
        Value::Map(map) => 1 + map.len() as u64,
        other => weight(other),
    }
}

fn bytes(length: usize) -> u64 {
    1 + (length / BYTES_PER_STEP) as u64
}
