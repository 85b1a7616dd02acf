//! The nodes that a run is about (TARGET-1).

use crate::index::{NodeIndex, PerNode};

/// What a run is about.
#[derive(Default)]
pub(crate) struct Selection {
    /// For each node, whether it is left out; empty if nothing is.
    pub(crate) left_out: PerNode<bool>,
    /// Whether the run was told to leave something out.
    pub(crate) partial: bool,
}

impl Selection {
    /// Whether the run is about this node.
    pub(crate) fn contains(&self, at: NodeIndex) -> bool {
        !self.left_out.get(at).copied().unwrap_or(false)
    }

    /// Whether the run was told to leave something out. What a saved plan does not look at again, because it concerns
    /// none of its actions, is not left out in this sense.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial
    }
}
