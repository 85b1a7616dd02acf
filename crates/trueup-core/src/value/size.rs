//! The size of a value once it is written out.
//!
//! Values share their contents, so a short program can make one that takes no room in memory and no end to write: a list of
//! two of a list of two, and so on. Whoever walks a value walks all of that. So it is measured where values are made, by a
//! walk that ends at the limit.

use smol_str::SmolStr;

use super::{Kind, Value};

impl Value {
    /// How many positions a value may have, with all that it shares counted each time.
    pub const POSITIONS_MAX: usize = 4_000_000;

    /// How many bytes of text a value may hold, counted likewise.
    pub const BYTES_MAX: usize = 256 * 1024 * 1024;

    /// Why the value is too large to be used, if it is.
    pub fn excess(&self) -> Option<Excess> {
        Size::default().add(self, 1)
    }
}

/// What is too large about a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// It nests deeper than [`Value::DEPTH_MAX`].
    Depth,
    /// It has more than [`Value::POSITIONS_MAX`].
    Positions,
    /// It holds more than [`Value::BYTES_MAX`] of text.
    Bytes,
}

impl std::fmt::Display for Excess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Excess::Depth => write!(f, "nests deeper than {} levels", Value::DEPTH_MAX),
            Excess::Positions => write!(f, "holds more than {} values", Value::POSITIONS_MAX),
            Excess::Bytes => write!(f, "holds more than {} MiB of text", Value::BYTES_MAX / (1024 * 1024)),
        }
    }
}

#[derive(Default)]
struct Size {
    positions: usize,
    bytes: usize,
}

impl Size {
    fn add(&mut self, value: &Value, depth: usize) -> Option<Excess> {
        self.positions += 1;
        match value.kind() {
            Kind::String(text) => self.bytes += text.len(),
            Kind::Map(entries) | Kind::Object(entries) => {
                self.bytes += entries.keys().map(SmolStr::len).sum::<usize>();
            }
            Kind::List(_) | Kind::Set(_) => {}
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::Unknown(_) => {}
        }
        if depth > Value::DEPTH_MAX {
            return Some(Excess::Depth);
        }
        if self.positions > Value::POSITIONS_MAX {
            return Some(Excess::Positions);
        }
        if self.bytes > Value::BYTES_MAX {
            return Some(Excess::Bytes);
        }
        value.children().find_map(|child| self.add(child, depth + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BOUND-3
    #[test]
    fn what_is_shared_counts_each_time() {
        let doubled =
            |seed: Value, times: usize| (0..times).fold(seed, |value, _| Value::list([value.clone(), value]));
        let text = || Value::string("x".repeat(1024));
        let rows = [
            (doubled(Value::NULL, 20), None),
            (doubled(Value::NULL, 21), Some(Excess::Positions)),
            (doubled(Value::NULL, 60), Some(Excess::Positions)),
            (doubled(text(), 18), None),
            (Value::list([doubled(text(), 18), Value::string("x")]), Some(Excess::Bytes)),
            (doubled(text(), 19), Some(Excess::Bytes)),
            ((0..99).fold(Value::NULL, |value, _| Value::list([value])), None),
            ((0..100).fold(Value::NULL, |value, _| Value::list([value])), Some(Excess::Depth)),
        ];
        for (at, (value, expected)) in rows.into_iter().enumerate() {
            assert_eq!(value.excess(), expected, "row {at}");
        }
    }
}
