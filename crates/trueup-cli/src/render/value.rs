//! Values as people read them: one line where it fits, else one line for each part.
//!
//! Secrets stay hidden and unknowns say when they will be known. That is decided here, once: no other part of the
//! command line looks inside a value to print it.

use trueup_core::{Kind, Value, is_identifier};

/// What is shown of what exists only after apply.
pub(crate) const UNKNOWN: &str = "(known after apply)";

/// What is shown of a secret.
pub(crate) const SECRET: &str = "(secret)";

/// The value on one line.
pub(crate) fn one_line(value: &Value) -> String {
    if value.is_secret() {
        return SECRET.to_owned();
    }
    match value.kind() {
        Kind::Unknown(_) => UNKNOWN.to_owned(),
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => value.to_string(),
        Kind::List(items) | Kind::Set(items) => {
            let items: Vec<String> = items.iter().map(one_line).collect();
            format!("[{}]", items.join(", "))
        }
        Kind::Map(entries) | Kind::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Kind::Map(entries) | Kind::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(name, value)| format!("{} = {}", key(name), one_line(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// The value in lines of at most this width where that can be: what does not fit on one line is opened up. Only plain
/// values may stay longer.
pub(crate) fn lines(value: &Value, columns: usize) -> Vec<String> {
    let whole = one_line(value);
    if value.is_secret() || crate::ui::width(&whole) <= columns {
        return vec![whole];
    }
    let inside = |open: &str, parts: Vec<(String, &Value)>, close: &str| {
        let mut told = vec![open.to_owned()];
        for (name, part) in parts {
            let room = columns.saturating_sub(2);
            let mut part = lines(part, room.saturating_sub(crate::ui::width(&name))).into_iter();
            told.extend(part.next().map(|first| format!("  {name}{first}")));
            told.extend(part.map(|line| format!("  {line}")));
        }
        told.push(close.to_owned());
        told
    };
    match value.kind() {
        Kind::List(items) | Kind::Set(items) => {
            inside("[", items.iter().map(|item| (String::new(), item)).collect(), "]")
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            inside("{", entries.iter().map(|(name, part)| (format!("{} = ", key(name)), part)).collect(), "}")
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => vec![whole],
    }
}

/// The text of a value that may be shown as text of several lines.
pub(crate) fn open_text(value: &Value) -> Option<&str> {
    value.as_str().filter(|_| !value.is_secret())
}

fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { Value::string(name).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::{Type, value};

    #[test]
    fn secrets_and_unknowns_are_told_as_such() {
        let secret = Value::from("hunter2").into_secret();
        let inside = Value::object([("a", secret), ("b", Value::unknown(Type::String))]);
        assert_eq!(one_line(&inside), "{ a = (secret), b = (known after apply) }");
        assert_eq!(one_line(&inside.into_secret()), "(secret)");
    }

    #[test]
    fn what_does_not_fit_is_opened_up() {
        let value = value!({ name: "site", rules: [{ port: 80 }, { port: 443 }], "odd key": true });
        assert_eq!(
            lines(&value, 80),
            [r#"{ name = "site", "odd key" = true, rules = [{ port = 80 }, { port = 443 }] }"#]
        );
        let told = [r#"{"#, r#"  name = "site""#, r#"  "odd key" = true"#, "  rules = ["];
        let rest = ["    { port = 80 }", "    { port = 443 }", "  ]", "}"];
        assert_eq!(lines(&value, 30), [&told[..], &rest[..]].concat());
    }
}
