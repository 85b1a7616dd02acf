//! Positions whose changes do not count (PLAN-21): they keep the recorded value.

use trueup_core::{Kind, Path, Step, Value};

/// The inputs with the recorded value at each ignored position.
pub(crate) fn with_ignored(inputs: &Value, recorded: &Value, ignored: &[Path]) -> Value {
    ignored.iter().fold(inputs.clone(), |inputs, path| keep(&inputs, recorded, path.steps()))
}

fn keep(value: &Value, recorded: &Value, steps: &[Step]) -> Value {
    let Some((step, rest)) = steps.split_first() else { return recorded.clone() };
    match (value.kind(), step) {
        (Kind::Map(_) | Kind::Object(_), Step::Key(name)) => {
            let old = recorded.get(name).cloned().unwrap_or(Value::NULL);
            let new = value.get(name).cloned().unwrap_or(Value::NULL);
            value.with_entry(name, keep(&new, &old, rest))
        }
        (Kind::List(items), Step::Index(_) | Step::Any) => {
            let olds = recorded.as_items().unwrap_or_default();
            let kept = items.iter().enumerate().map(|(at, item)| match (olds.get(at), step) {
                (Some(old), Step::Any) => keep(item, old, rest),
                (Some(old), Step::Index(index)) if *index == at as u64 => keep(item, old, rest),
                _ => item.clone(),
            });
            Value::list(kept).into_secret_if(value.is_secret())
        }
        // What is null now may have been something: the rest of the path leads into that.
        (Kind::Null, _) if rest.is_empty() => recorded.clone(),
        _ => value.clone(),
    }
}
