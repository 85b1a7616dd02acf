//! Where inputs differ in a way that matters.

use trueup_core::schema::ResourceSchema;
use trueup_core::{Change, Path, Step, Value, diff};

use super::Equivalence;
use crate::state::InputValues;

/// The differences that matter: canonical ones, less those that only a new default makes (PLAN-9), those between
/// nothing and empty where the schema says so (PLAN-6), and those the type declares equivalent (CRUD-8).
pub(crate) fn input_changes(
    schema: &ResourceSchema,
    prior: &InputValues,
    current: &InputValues,
    equivalent: Equivalence<'_>,
) -> Vec<Change> {
    let mut changes = diff(&prior.effective, &current.effective);
    if changes.is_empty() {
        return changes;
    }
    changes.retain(|change| is_written(change, prior, current));
    let empty_is_absent = schema.inputs.paths_where(|attribute| attribute.empty_is_absent);
    let tolerant = |path: &Path| {
        empty_is_absent.iter().any(|own| own.steps().len() == path.steps().len() && own.covers(path))
    };
    changes.retain(|change| !(tolerant(&change.path) && is_empty_or_absent(change)));
    let candidate = without_unknowns(&current.effective, &prior.effective);
    changes.retain(|change| {
        let Some(field) = change.path.first_key() else { return true };
        let known = current.effective.get(field).is_none_or(Value::is_wholly_known);
        !(known && equivalent(field, &prior.effective, &candidate))
    });
    changes
}

/// Whether the program says or said something about the position, so that the change is not just another default.
fn is_written(change: &Change, prior: &InputValues, current: &InputValues) -> bool {
    // The elements of a set have no position: then the set as a whole counts.
    let steps = change.path.steps().iter().take_while(|step| **step != Step::Any);
    let path: Path = steps.cloned().collect();
    let at = |value: &Value| value.at(&path).filter(|value| !value.is_null());
    let (before, after) = (at(&prior.written), at(&current.written));
    if path == change.path {
        before.is_some() || after.is_some()
    } else {
        let (before, after) = (before.unwrap_or(Value::NULL), after.unwrap_or(Value::NULL));
        !diff(&before, &after).is_empty()
    }
}

fn is_empty_or_absent(change: &Change) -> bool {
    let nothing = |value: &Option<Value>| match value {
        None => true,
        Some(value) if value.is_unknown() => false,
        Some(value) => {
            value.as_str().is_some_and(str::is_empty)
                || value.as_items().is_some_and(<[Value]>::is_empty)
                || value.as_entries().is_some_and(trueup_core::Entries::is_empty)
        }
    };
    nothing(&change.before) && nothing(&change.after)
}

/// The current inputs with the prior value in each field that is not wholly known, so that they decode: a type that
/// judges one field must not fail because another is still unknown.
fn without_unknowns(current: &Value, prior: &Value) -> Value {
    let Some(entries) = current.as_entries() else { return current.clone() };
    if current.is_wholly_known() {
        return current.clone();
    }
    let settled = entries.iter().map(|(name, value)| {
        let value = if value.is_wholly_known() { Some(value) } else { prior.get(name) };
        (name.clone(), value.cloned().unwrap_or(Value::NULL))
    });
    Value::object(settled)
}
