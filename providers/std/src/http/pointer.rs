//! JSON pointers such as `/items/0/id`: parts of an answer, and an answer with some of its parts changed.

use trueup_core::{Kind, Value};

/// The steps of a pointer; `None` if it is none. The empty pointer is the whole.
pub(super) fn parse(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let steps = pointer.strip_prefix('/')?.split('/');
    Some(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

/// The part at a pointer, secret if what it lies in is. Null is nothing.
pub(super) fn at<S: AsRef<str>>(value: &Value, steps: &[S]) -> Option<Value> {
    let mut current = value.clone();
    for step in steps {
        let step = step.as_ref();
        let next = match current.as_items() {
            Some(items) => step.parse::<usize>().ok().and_then(|at| items.get(at)),
            None => current.get(step),
        };
        current = next?.clone().into_secret_if(current.is_secret());
    }
    (!current.is_null()).then_some(current)
}

/// A plain value as text.
pub(super) fn text(value: &Value) -> Option<String> {
    match value.kind() {
        Kind::String(text) => Some(text.to_string()),
        Kind::Number(number) => Some(number.to_string()),
        Kind::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// The value with what lies at a pointer changed, or taken out if the change gives nothing. What is not there is not
/// missed.
pub(super) fn changed(
    value: &Value,
    steps: &[String],
    change: &dyn Fn(Value) -> Option<Value>,
) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else { return change(value.clone()) };
    let secret = value.is_secret();
    if let Some(items) = value.as_items() {
        let at = step.parse::<usize>().ok();
        let items = items.iter().enumerate();
        let items = items.filter_map(|(own, item)| match Some(own) == at {
            true => changed(item, rest, change),
            false => Some(item.clone()),
        });
        return Some(Value::list(items).into_secret_if(secret));
    }
    let Some(entries) = value.as_entries() else { return Some(value.clone()) };
    let entries = entries.iter().filter_map(|(key, item)| {
        let item = if key == step { changed(item, rest, change)? } else { item.clone() };
        Some((key.clone(), item))
    });
    Some(Value::object(entries).into_secret_if(secret))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    #[test]
    fn a_pointer_finds_and_changes_parts() {
        let value = value!({ items: [{ id: 1, "a/b": "x" }], none: null });
        let steps = |pointer: &str| parse(pointer).unwrap();
        let found = |pointer: &str| at(&value, &steps(pointer)).map(|it| it.to_string());
        assert_eq!(found("/items/0/a~1b"), Some("\"x\"".to_owned()));
        assert_eq!(found("/items/1"), None);
        assert_eq!(found("/none"), None);
        assert_eq!(parse("items"), None);
        let without = changed(&value, &steps("/items/0/id"), &|_| None).unwrap();
        assert_eq!(without.to_string(), r#"{ items = [{ "a/b" = "x" }], none = null }"#);
        let marked = changed(&value, &steps("/items/0/id"), &|it| Some(it.into_secret())).unwrap();
        assert!(at(&marked, &steps("/items/0/id")).unwrap().is_secret());
    }
}
