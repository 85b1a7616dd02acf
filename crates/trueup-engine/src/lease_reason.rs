//! The reasons for which leases are taken, as others who wait for them are told.

use crate::run_kind::RunKind;

/// Why a lease is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaseReason {
    /// A plan is carried out.
    Run(RunKind),
    /// Records take over what is observed.
    Refresh,
    /// `state mv`.
    StateMove,
    /// `state rm`.
    StateRemove,
    /// `state resolve`.
    StateResolve,
    /// `state unprotect`.
    StateUnprotect,
    /// `state import`.
    StateImport,
    /// `state rekey`.
    StateRekey,
    /// `stage delete`.
    StageDelete,
    /// `import-state`.
    ImportState,
}

impl LeaseReason {
    /// The word for it, which the store keeps.
    pub fn name(self) -> &'static str {
        match self {
            LeaseReason::Run(kind) => kind.name(),
            LeaseReason::Refresh => "refresh",
            LeaseReason::StateMove => "state mv",
            LeaseReason::StateRemove => "state rm",
            LeaseReason::StateResolve => "state resolve",
            LeaseReason::StateUnprotect => "state unprotect",
            LeaseReason::StateImport => "state import",
            LeaseReason::StateRekey => "state rekey",
            LeaseReason::StageDelete => "stage delete",
            LeaseReason::ImportState => "import-state",
        }
    }

    /// Whether a kept word is of a command that changes records alone, and so is over soon.
    pub fn is_of_state_command(name: &str) -> bool {
        name.starts_with("state ")
            || name == LeaseReason::StageDelete.name()
            || name == LeaseReason::ImportState.name()
    }
}
