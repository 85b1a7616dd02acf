//! References resolved from what is recorded, without asking any provider.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use trueup_core::{Address, Type, Value};
use trueup_program::{Reference, Scope};
use trueup_state::Snapshot;

/// What is recorded of each resource: inputs and outputs as one object.
pub(crate) struct RecordedScope(BTreeMap<Address, Value>);

impl RecordedScope {
    /// What this snapshot knows.
    pub(crate) fn new(snapshot: &Snapshot) -> Self {
        let records = snapshot.records.iter().filter_map(|(record, _)| {
            let object = record.current.as_ref()?.object.as_ref()?;
            let inputs = object.inputs.as_ref().map(|inputs| &inputs.effective);
            let entries = inputs.into_iter().chain([&object.outputs]).filter_map(Value::as_entries);
            // A name that is both an input and an output is one attribute: the output.
            let merged: BTreeMap<SmolStr, Value> = entries
                .flat_map(trueup_core::Entries::iter)
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            Some((record.address.clone(), Value::object(merged)))
        });
        RecordedScope(records.collect())
    }

    /// All of it.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }
}

impl Scope for RecordedScope {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        match self.0.get(&reference.address) {
            Some(object) if reference.path.is_root() => Some(object.clone()),
            Some(object) => object.at(&reference.path),
            // Not deployed yet.
            None => Some(Value::unknown(Type::Any)),
        }
    }
}
