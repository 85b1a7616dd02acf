//! Records that have another address than in the store (MOVE-1).

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use trueup_core::Address;
use trueup_state::{Record, RecordId};

use crate::plan::PlannedMove;

/// What moving came to.
#[derive(Default)]
pub(crate) struct Relocation {
    pub(crate) moves: Vec<PlannedMove>,
    /// Records as they are stored, where moving changed them.
    pub(crate) originals: IndexMap<RecordId, Original>,
}

/// A record as it is in the store, and which of the addresses that it names have moved.
pub(crate) struct Original {
    pub(crate) record: Arc<Record>,
    pub(crate) relinked: Vec<(Address, Address)>,
}

impl Relocation {
    /// A record as it stands in the store.
    pub(crate) fn as_stored(&self, mut record: Arc<Record>) -> Arc<Record> {
        if let Some(original) = self.originals.get(&record.id) {
            let moved_back: IndexMap<Address, Address> =
                original.relinked.iter().map(|(from, to)| (to.clone(), from.clone())).collect();
            let stored = Arc::make_mut(&mut record);
            stored.address = original.record.address.clone();
            rewrite_dependencies(stored, &moved_back);
        }
        record
    }

    /// The type under which a record is stored, if moving changed it (PLAN-20).
    pub(crate) fn former_type(&self, record: &Record) -> Option<&str> {
        let former = self.originals.get(&record.id)?.record.address.type_name();
        (former != record.address.type_name()).then_some(former)
    }
}

pub(crate) fn rewrite_dependencies(
    record: &mut Record,
    targets: &IndexMap<Address, Address>,
) -> Vec<(Address, Address)> {
    let mut relinked = BTreeMap::new();
    for dependencies in record.dependencies_mut() {
        for dependency in dependencies.iter_mut() {
            if let Some(target) = targets.get(dependency) {
                relinked.insert(std::mem::replace(dependency, target.clone()), target.clone());
            }
        }
        dependencies.sort();
    }
    relinked.into_iter().collect()
}
