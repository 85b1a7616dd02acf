//! Where secrets are in a value, as states say it.

use serde_json::json;
use smol_str::SmolStr;
use trueup_core::{Entries, Kind, Value};

use super::StatePathStep;

/// The value with what this path leads to made secret. Where it leads nowhere, as into a set, all that it led to before is
/// secret.
pub(super) fn marked(value: &Value, path: &[StatePathStep]) -> Value {
    let Some((step, rest)) = path.split_first() else { return value.clone().into_secret() };
    let changed = match (value.kind(), step.key(), step.index()) {
        (Kind::Object(entries), Some(key), _) if entries.get(key).is_some() => {
            Value::object(at_key(entries, key, rest))
        }
        (Kind::Map(entries), Some(key), _) if entries.get(key).is_some() => {
            Value::map(at_key(entries, key, rest))
        }
        (Kind::List(items), _, Some(index)) if index < items.len() => {
            let item =
                |(at, item): (usize, &Value)| if at == index { marked(item, rest) } else { item.clone() };
            Value::list(items.iter().enumerate().map(item))
        }
        (Kind::Null, ..) => return value.clone(),
        _ => return value.clone().into_secret(),
    };
    changed.into_secret_if(value.is_secret())
}

fn at_key(entries: &Entries, key: &str, rest: &[StatePathStep]) -> Vec<(SmolStr, Value)> {
    let entry = |(name, item): (&SmolStr, &Value)| {
        (name.clone(), if name == key { marked(item, rest) } else { item.clone() })
    };
    entries.iter().map(entry).collect()
}

/// The paths to all secrets in a value.
pub(super) fn paths(value: &Value) -> Vec<Vec<StatePathStep>> {
    let mut found = Vec::new();
    gather(value, &mut Vec::new(), &mut found);
    found
}

fn gather(value: &Value, path: &mut Vec<StatePathStep>, found: &mut Vec<Vec<StatePathStep>>) {
    // Elements of a set have no path of their own.
    if value.is_secret() || (matches!(value.kind(), Kind::Set(_)) && value.contains_secret()) {
        found.push(path.clone());
        return;
    }
    let mut inside = |step: StatePathStep, item: &Value| {
        path.push(step);
        gather(item, path, found);
        path.pop();
    };
    match value.kind() {
        Kind::Object(entries) => {
            entries.iter().for_each(|(name, item)| inside(StatePathStep::attribute(name), item));
        }
        Kind::Map(entries) => {
            entries
                .iter()
                .for_each(|(key, item)| inside(StatePathStep::at(&json!(key.as_str()), "string"), item));
        }
        Kind::List(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, item)| inside(StatePathStep::at(&json!(at), "number"), item));
        }
        _ => {}
    }
}

impl StatePathStep {
    fn attribute(name: &str) -> Self {
        StatePathStep { kind: "get_attr".to_owned(), value: json!(name) }
    }

    fn at(key: &serde_json::Value, ty: &str) -> Self {
        StatePathStep { kind: "index".to_owned(), value: json!({ "value": key, "type": ty }) }
    }

    fn key(&self) -> Option<&str> {
        self.value.as_str().or_else(|| self.value.get("value")?.as_str())
    }

    fn index(&self) -> Option<usize> {
        self.value.get("value")?.as_u64().and_then(|index| usize::try_from(index).ok())
    }
}

#[cfg(test)]
mod tests {
    use trueup_core::value;

    use super::*;

    #[test]
    fn paths_lead_back_to_the_secrets_they_came_from() {
        let open = value!({ "a": [1, { "b": "x" }], "c": "y" });
        let secret = Value::object([
            ("a", Value::list([value!(1), Value::object([("b", value!("x").into_secret())])])),
            ("c", value!("y").into_secret()),
            ("m", Value::map([("k", value!("z").into_secret())])),
        ]);
        let paths = paths(&secret);
        assert_eq!(paths.len(), 3);
        let open = open.with_entry("m", Value::map([("k", value!("z"))]));
        let again = paths.iter().fold(open, |value, path| marked(&value, path));
        assert_eq!(super::paths(&again), paths);
    }

    #[test]
    fn a_path_that_leads_nowhere_hides_what_it_led_to() {
        let set = Value::object([("s", Value::set([value!("x")]))]);
        let path = [StatePathStep::attribute("s"), StatePathStep::at(&json!("x"), "string")];
        assert!(marked(&set, &path).get("s").unwrap().is_secret());
    }
}
