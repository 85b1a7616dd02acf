//! Policy documents: when two of them mean the same, and which are none at all.
//!
//! AWS gives documents back in another form than it got them: keys in another order, a list of one for a single text,
//! accounts as ARNs. Compared is what they mean, so that this is neither a change nor drift.

use serde_json::{Map, Value};
use trueup_provider::{Error, Result};

/// Whether two documents grant the same. What is not JSON is compared as text.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left == right || matches!((meaning(left), meaning(right)), (Some(left), Some(right)) if left == right)
}

/// The same of documents that may be absent.
pub(crate) fn same_optional(left: Option<&String>, right: Option<&String>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => same(left, right),
        (left, right) => left == right,
    }
}

/// The document as it was written, if the one that was seen means the same.
pub(crate) fn as_written(written: Option<&String>, seen: Option<String>) -> Option<String> {
    match (written, seen) {
        (Some(written), Some(seen)) if same(written, &seen) => Some(written.clone()),
        (_, seen) => seen,
    }
}

/// Refuses what is no policy document, before AWS is asked: emulators take anything, and AWS only says *malformed*.
pub(crate) fn check(field: &str, document: &str) -> Result<()> {
    let wrong = |why: String| {
        Error::invalid(format!("`{field}` is not a policy document: {why}"))
            .at(field)
            .hint("write it with `jsonencode({ Version = \"2012-10-17\", Statement = [ … ] })`")
    };
    let parsed: Value = serde_json::from_str(document).map_err(|error| wrong(error.to_string()))?;
    match parsed.get("Statement") {
        Some(Value::Array(statements)) if statements.iter().all(Value::is_object) => Ok(()),
        Some(Value::Object(_)) => Ok(()),
        Some(_) => Err(wrong("`Statement` is not a list of objects".to_owned())),
        None => Err(wrong("it has no `Statement`".to_owned())),
    }
}

/// A document in the one form that stands for all that mean the same.
fn meaning(document: &str) -> Option<Value> {
    let Value::Object(mut document) = serde_json::from_str(document).ok()? else { return None };
    document.entry("Version").or_insert_with(|| "2008-10-17".into());
    let statements = listed(document.remove("Statement")?);
    let mut statements: Vec<Value> = statements.into_iter().map(statement).collect();
    sort(&mut statements);
    document.insert("Statement".to_owned(), statements.into());
    Some(document.into())
}

fn statement(statement: Value) -> Value {
    let Value::Object(fields) = statement else { return statement };
    let fields = fields.into_iter().filter(|(key, value)| !(key == "Sid" && *value == ""));
    let fields = fields.map(|(key, value)| {
        let value = match key.as_str() {
            "Action" | "NotAction" => texts(value, |action| action.to_ascii_lowercase()),
            "Resource" | "NotResource" => texts(value, |resource| resource),
            "Principal" | "NotPrincipal" => principal(value),
            "Condition" => condition(value),
            _ => value,
        };
        (key, value)
    });
    Value::Object(fields.collect())
}

fn principal(value: Value) -> Value {
    let Value::Object(kinds) = value else {
        // `"*"` is everybody, as is `{ "AWS": "*" }`.
        return Value::Object(Map::from_iter([("AWS".to_owned(), texts(value, |who| who))]));
    };
    let kinds = kinds.into_iter().map(|(kind, who)| {
        let who = if kind == "AWS" { texts(who, account) } else { texts(who, |who| who) };
        (kind, who)
    });
    Value::Object(kinds.collect())
}

/// An account by its number is its root.
fn account(who: String) -> String {
    let is_number = who.len() == 12 && who.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { format!("arn:aws:iam::{who}:root") } else { who }
}

fn condition(value: Value) -> Value {
    let Value::Object(operators) = value else { return value };
    let keyed = |tests: Value| match tests {
        Value::Object(keys) => {
            Value::Object(keys.into_iter().map(|(key, it)| (key, texts(it, |it| it))).collect())
        }
        other => other,
    };
    Value::Object(operators.into_iter().map(|(operator, tests)| (operator, keyed(tests))).collect())
}

/// One or several texts as a sorted list; numbers and truth values count as their texts.
fn texts(value: Value, canonical: impl Fn(String) -> String) -> Value {
    let text = |item: Value| match item {
        Value::String(text) => canonical(text).into(),
        Value::Bool(_) | Value::Number(_) => item.to_string().into(),
        other => other,
    };
    let mut items: Vec<Value> = listed(value).into_iter().map(text).collect();
    sort(&mut items);
    items.into()
}

fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(items) => items,
        other => vec![other],
    }
}

fn sort(items: &mut Vec<Value>) {
    items.sort_by_key(ToString::to_string);
    items.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_same(left: &str, right: &str, expected: bool) {
        assert_eq!(same(left, right), expected, "{left}\n{right}");
    }

    /// CRUD-8
    #[test]
    fn documents_are_compared_by_what_they_mean() {
        let document = |statement: &str| format!(r#"{{"Version":"2012-10-17","Statement":{statement}}}"#);
        let one = document(r#"[{"Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"}]"#);
        check_same(
            &one,
            &document(r#"{"Resource":["*"],"Action":["SQS:SendMessage"],"Effect":"Allow"}"#),
            true,
        );
        check_same(
            &one,
            &document(r#"[{"Sid":"","Effect":"Allow","Action":"sqs:SendMessage","Resource":"*"}]"#),
            true,
        );
        check_same(
            &one,
            &document(r#"[{"Effect":"Deny","Action":"sqs:SendMessage","Resource":"*"}]"#),
            false,
        );
        check_same(&one, &one.replace("2012-10-17", "2008-10-17"), false);
        let by = |who: &str| document(&format!(r#"[{{"Effect":"Allow","Principal":{who},"Action":"a:b"}}]"#));
        check_same(&by(r#""*""#), &by(r#"{"AWS":"*"}"#), true);
        check_same(
            &by(r#"{"AWS":["123456789012"]}"#),
            &by(r#"{"AWS":"arn:aws:iam::123456789012:root"}"#),
            true,
        );
        check_same(&by(r#"{"Service":["b","a"]}"#), &by(r#"{"Service":["a","b"]}"#), true);
        check_same(&by(r#"{"Service":"a"}"#), &by(r#"{"AWS":"a"}"#), false);
        let when =
            |test: &str| document(&format!(r#"{{"Effect":"Allow","Condition":{{"Bool":{{"k":{test}}}}}}}"#));
        check_same(&when("true"), &when(r#"["true"]"#), true);
        check_same("not json", "not json", true);
        check_same("not json", "{}", false);
    }

    #[test]
    fn what_is_no_document_is_refused() {
        assert!(check("policy", r#"{"Statement":[]}"#).is_ok());
        for wrong in ["", "[]", "{}", r#"{"Statement":"all"}"#, r#"{"Statement":[1]}"#] {
            assert!(check("policy", wrong).is_err(), "{wrong}");
        }
    }
}
