//! Where an observed object differs from its record.

use trueup_core::schema::{Block, ResourceSchema};
use trueup_core::{Change, Value, diff};

use super::Equivalence;
use super::forgotten::without_stand_ins;
use crate::state::State;

/// The outputs that drifted (DRIFT-3): every difference but volatile and informational ones, and mirrors of an input
/// whose observed value the type takes for the same.
pub(crate) fn drift(
    schema: &ResourceSchema,
    recorded: &State,
    observed: &State,
    equivalent: Equivalence<'_>,
) -> Vec<Change> {
    if recorded.outputs == observed.outputs {
        return Vec::new();
    }
    let watched = |outputs: &Value| schema.outputs.without(outputs, |it| it.volatile || it.informational);
    let mut changes = diff(&watched(&recorded.outputs), &watched(&observed.outputs));
    changes.retain(|change| !is_equivalent_mirror(schema, recorded, observed, change, equivalent));
    changes
}

fn is_equivalent_mirror(
    schema: &ResourceSchema,
    recorded: &State,
    observed: &State,
    change: &Change,
    equivalent: Equivalence<'_>,
) -> bool {
    let Some(output) = change.path.first_key() else { return false };
    let mirrored = schema.outputs.attributes.get(output).and_then(|attribute| attribute.mirrors.as_ref());
    let (Some(input), Some(inputs)) = (mirrored, &recorded.inputs) else { return false };
    let seen = observed.outputs.get(output).cloned().unwrap_or(Value::NULL);
    equivalent(input, &inputs.effective, &inputs.effective.with_entry(input, seen))
}

/// Observed outputs as they are recorded: what only the answer to the create could tell, and what identifies the
/// object, is never erased by a read (CRUD-14, APPLY-8).
pub(crate) fn refreshed(outputs: &Block, recorded: &Value, observed: Value) -> Value {
    let observed = without_stand_ins(outputs, recorded, observed);
    let lasting =
        outputs.attributes.iter().filter(|(_, attribute)| attribute.create_only || attribute.identity);
    lasting.fold(observed, |observed, (name, _)| match (recorded.get(name), observed.get(name)) {
        (Some(kept), None) => observed.with_entry(name, kept.clone()),
        _ => observed,
    })
}
