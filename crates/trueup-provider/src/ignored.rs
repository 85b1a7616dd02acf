//! Positions whose changes do not count (PLAN-21): they keep the value they had.

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Kind, Path, Step, Value};

/// The inputs with the earlier value at each ignored position.
pub fn with_ignored(inputs: &Value, earlier: &Value, ignored: &[Path]) -> Value {
    ignored.iter().fold(inputs.clone(), |inputs, path| keep(&inputs, earlier, path.steps()))
}

/// The observed outputs with the recorded value at each ignored position: of outputs that are named themselves, and of
/// those that mirror an ignored input.
pub(crate) fn without_ignored_drift(
    outputs: &Block,
    recorded: &Value,
    observed: &Value,
    ignored: &[Path],
) -> Value {
    let mut positions: Vec<Path> = Vec::new();
    for path in ignored {
        let Some((first, rest)) = path.steps().split_first() else { return recorded.clone() };
        let Step::Key(named) = first else { continue };
        let is_meant =
            |name: &SmolStr, mirrors: &Option<SmolStr>| name == named || mirrors.as_ref() == Some(named);
        let meant = outputs.attributes.iter().filter(|(name, attribute)| is_meant(name, &attribute.mirrors));
        positions.extend(meant.map(|(name, _)| {
            std::iter::once(Step::Key(name.clone())).chain(rest.iter().cloned()).collect::<Path>()
        }));
    }
    with_ignored(observed, recorded, &positions)
}

fn keep(value: &Value, earlier: &Value, steps: &[Step]) -> Value {
    let Some((step, rest)) = steps.split_first() else { return earlier.clone() };
    match (value.kind(), step) {
        // A key that was not there is not there now either.
        (Kind::Map(entries), Step::Key(name)) if rest.is_empty() && earlier.get(name).is_none() => {
            let left = entries.iter().filter(|(own, _)| *own != name);
            let left = left.map(|(own, item)| (own.clone(), item.clone()));
            Value::map(left.collect::<Vec<_>>()).into_secret_if(value.is_secret())
        }
        (Kind::Map(_) | Kind::Object(_), Step::Key(name)) => {
            let old = earlier.get(name).cloned().unwrap_or(Value::NULL);
            let new = value.get(name).cloned().unwrap_or(Value::NULL);
            value.with_entry(name, keep(&new, &old, rest))
        }
        (Kind::List(items), Step::Index(_) | Step::Any) => {
            let olds = earlier.as_items().unwrap_or_default();
            let kept = items.iter().enumerate().map(|(at, item)| match (olds.get(at), step) {
                (Some(old), Step::Any) => keep(item, old, rest),
                (Some(old), Step::Index(index)) if *index == at as u64 => keep(item, old, rest),
                _ => item.clone(),
            });
            Value::list(kept).into_secret_if(value.is_secret())
        }
        // What is null now may have been a map: of that, the one key is left.
        (Kind::Null, Step::Key(name)) => match (earlier.kind(), earlier.get(name)) {
            (Kind::Map(_), Some(old)) if rest.is_empty() => {
                Value::map([(name.clone(), old.clone())]).into_secret_if(earlier.is_secret())
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use trueup_core::value;

    use super::*;

    fn check(now: &Value, before: &Value, path: &str, expected: &Value) {
        assert_eq!(with_ignored(now, before, &[path.parse().unwrap()]), *expected, "{path}");
    }

    /// PLAN-21
    #[test]
    fn ignored_positions_keep_what_they_had() {
        let tags = |entries: &[(&str, &str)]| {
            let entries: Vec<(String, Value)> =
                entries.iter().map(|(key, text)| ((*key).to_owned(), Value::string(*text))).collect();
            Value::object([("tags", Value::map(entries))])
        };
        check(&value!({ "a": 1, "b": 1 }), &value!({ "a": 2, "b": 2 }), "a", &value!({ "a": 2, "b": 1 }));
        check(&tags(&[("x", "1")]), &tags(&[("x", "2"), ("y", "3")]), "tags.x", &tags(&[("x", "2")]));
        check(&tags(&[("x", "1")]), &tags(&[("y", "3")]), "tags.x", &tags(&[]));
        let none = Value::object([("tags", Value::NULL)]);
        check(&none, &tags(&[("x", "2"), ("y", "3")]), "tags.x", &tags(&[("x", "2")]));
        check(&none, &tags(&[("x", "2")]), "tags", &tags(&[("x", "2")]));
    }
}
