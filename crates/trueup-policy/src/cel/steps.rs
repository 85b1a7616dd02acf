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

/// No steps are left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exhausted;

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
        self.spend(count).map_err(|exhausted| self.error(at, exhausted))
    }

    /// The same inside an operation, whose node is not at hand.
    pub(super) fn spend(&self, count: u64) -> Result<(), Exhausted> {
        match self.left.get().checked_sub(count) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Exhausted)
            }
        }
    }

    #[cold]
    pub(super) fn error(&self, at: &Node, Exhausted: Exhausted) -> CelError {
        let message = format!("it takes more than {} steps", self.max);
        CelError::new(at.span, message)
            .out_of_steps()
            .hint("nested macros multiply: narrow the outer list with `filter` first")
    }
}

/// The cost of looking at the top of a value: its text, or the number of its elements. What is inside is shared, so that a
/// small value can hold more than anything could ever visit: operations that go inside pay as they go.
pub(super) fn width(value: &Value) -> u64 {
    match value {
        Value::String(text) => bytes(text.len()),
        Value::Bytes(octets) => bytes(octets.len()),
        Value::List(items) => 1 + items.len() as u64,
        Value::Map(map) => 1 + map.len() as u64,
        _ => 1,
    }
}

/// The cost of looking at this many bytes of text.
pub(super) fn bytes(length: usize) -> u64 {
    1 + (length / BYTES_PER_STEP) as u64
}
