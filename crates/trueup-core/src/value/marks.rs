//! Marks: who may see a value, and how long it may be kept.

use std::ops::{BitOr, BitOrAssign};

/// The marks of a position: a set, in one byte.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Marks(u8);

impl Marks {
    /// Everyone may see it.
    pub const NONE: Marks = Marks(0);
    /// Never shown.
    pub const SECRET: Marks = Marks(1);
    /// A secret whose content is a text that only whoever has the key can open.
    pub(crate) const SEALED: Marks = Marks(2);
    /// Of one run alone: neither shown nor recorded.
    pub const EPHEMERAL: Marks = Marks(4);
    /// All of these.
    pub(super) const ALL: Marks = Marks(7);
    /// No mark of a position, but something to know of those inside a value: one of them is unknown.
    pub(super) const UNKNOWN: Marks = Marks(8);

    /// Whether it belongs to one run alone.
    pub fn is_ephemeral(self) -> bool {
        self.0 & Marks::EPHEMERAL.0 != 0
    }

    /// Those of these marks that others are not.
    #[must_use]
    pub fn less(self, others: Marks) -> Marks {
        Marks(self.0 & !others.0)
    }
}

impl BitOr for Marks {
    type Output = Marks;

    fn bitor(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }
}

impl BitOrAssign for Marks {
    fn bitor_assign(&mut self, other: Marks) {
        *self = *self | other;
    }
}
