//! The two kinds of runs.

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// Brings all that is declared to where it should be.
    Deploy,
    /// Deletes all that is recorded (DELETE-4).
    Destroy,
}

impl RunKind {
    /// The word for it, in events and leases.
    pub fn name(self) -> &'static str {
        match self {
            RunKind::Deploy => "deploy",
            RunKind::Destroy => "destroy",
        }
    }

    /// Whether all that is recorded is deleted.
    pub fn is_destroy(self) -> bool {
        self == RunKind::Destroy
    }
}
