//! Texts that are JSON documents, compared by what they say: member by member, whatever their layout.
//!
//! Elements of arrays are aligned first, so that one that was inserted does not make all that follow differ.

use imara_diff::Hunk;
use trueup_core::{Change, Entries, JsonForm, Kind, Path, Step, Value};

use super::sequence_diff::sequence_diff;

/// The positions at which two JSON documents differ; `None` unless both texts are JSON objects or arrays that differ
/// in more than layout.
pub(crate) fn document_changes(before: &str, after: &str) -> Option<Vec<Change>> {
    let (before, after) = (document(before)?, document(after)?);
    let mut walk = Walk { path: Path::ROOT, changes: Vec::new() };
    walk.compare(&before, &after);
    (!walk.changes.is_empty()).then_some(walk.changes)
}

fn document(text: &str) -> Option<Value> {
    // Most texts are no documents, which their first character tells.
    let begins = text.trim_start().starts_with(['{', '[']);
    let value = begins.then(|| Value::from_plain_json(text).ok()).flatten()?;
    // A member that stands twice counts once: comparing what is left would hide a difference.
    (members(&value) == members_of_text(text)).then_some(value)
}

/// The number of members of all objects within a value.
fn members(value: &Value) -> usize {
    match value.kind() {
        Kind::List(items) | Kind::Set(items) => items.iter().map(members).sum(),
        Kind::Map(entries) | Kind::Object(entries) => {
            entries.len() + entries.iter().map(|(_, value)| members(value)).sum::<usize>()
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => 0,
    }
}

/// The number of members as the text of a JSON document writes them: colons outside of strings.
fn members_of_text(text: &str) -> usize {
    let (mut count, mut quoted, mut escaped) = (0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b':' if !quoted => count += 1,
            _ => {}
        }
    }
    count
}

struct Walk {
    path: Path,
    changes: Vec<Change>,
}

impl Walk {
    fn compare(&mut self, old: &Value, new: &Value) {
        match (old.kind(), new.kind()) {
            (Kind::List(olds), Kind::List(news)) => self.compare_arrays(olds, news),
            (Kind::Map(olds) | Kind::Object(olds), Kind::Map(news) | Kind::Object(news)) => {
                self.compare_objects(olds, news);
            }
            _ if old.same(new) => {}
            _ => self.report(Some(old), Some(new)),
        }
    }

    fn compare_objects(&mut self, olds: &Entries, news: &Entries) {
        let mut names: Vec<_> = olds.keys().chain(news.keys()).collect();
        names.sort();
        names.dedup();
        for name in names {
            let (old, new) = (olds.get(name), news.get(name));
            self.at(Step::Key(name.clone()), |walk| walk.compare_optional(old, new));
        }
    }

    fn compare_arrays(&mut self, olds: &[Value], news: &[Value]) {
        let texts = |values: &[Value]| -> Vec<String> {
            values.iter().map(|value| value.to_json(JsonForm::RECORD)).collect()
        };
        let (input, mut diff) = sequence_diff(texts(olds), texts(news));
        diff.postprocess_no_heuristic(&input);
        for Hunk { before, after } in diff.hunks() {
            for at in 0..before.len().max(after.len()) {
                // Elements that take one another's place are compared further.
                let old = before.clone().nth(at).map(|place| (place, &olds[place as usize]));
                let new = after.clone().nth(at).map(|place| (place, &news[place as usize]));
                let place = new.or(old).map_or(0, |(place, _)| place);
                self.at(Step::Index(u64::from(place)), |walk| {
                    walk.compare_optional(old.map(|(_, value)| value), new.map(|(_, value)| value));
                });
            }
        }
    }

    fn compare_optional(&mut self, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(old, new),
            _ => self.report(old, new),
        }
    }

    fn at(&mut self, step: Step, inside: impl FnOnce(&mut Self)) {
        self.path.push(step);
        inside(self);
        self.path.pop();
    }

    fn report(&mut self, before: Option<&Value>, after: Option<&Value>) {
        let (path, before, after) = (self.path.clone(), before.cloned(), after.cloned());
        self.changes.push(Change { path, before, after, certain: true });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::value::one_line;

    fn check(before: &str, after: &str, expected: &[&str]) {
        let side = |value: &Option<Value>| value.as_ref().map_or("none".to_owned(), one_line);
        let changes = document_changes(before, after).unwrap_or_default();
        let shown =
            changes.iter().map(|it| format!("{}: {} > {}", it.path, side(&it.before), side(&it.after)));
        assert_eq!(shown.collect::<Vec<_>>(), expected, "{before} > {after}");
    }

    #[test]
    fn json_is_compared_member_by_member() {
        check(r#"{"a":1,"b":2}"#, "{\n  \"b\": 3,\n  \"a\": 1\n}", &["b: 2 > 3"]);
        check(r#"{"a":{"b c":[true]}}"#, r#"{"a":{"b c":[false]}}"#, &[r#"a["b c"][0]: true > false"#]);
        check(r#"{"a":1}"#, r#"{"b":null}"#, &["a: 1 > none", "b: none > null"]);
        check("[1]", r#"{"a":1}"#, &[": [1] > { a = 1 }"]);
    }

    #[test]
    fn elements_of_arrays_are_aligned() {
        check("[1, 2, 3]", "[0, 1, 2, 3]", &["[0]: none > 0"]);
        check("[1, 2, 3]", "[1, 3]", &["[1]: 2 > none"]);
        check(
            r#"[{"n":"a","v":1},{"n":"b","v":2}]"#,
            r#"[{"n":"0","v":0},{"n":"a","v":1},{"n":"b","v":3}]"#,
            &[r#"[0]: none > { n = "0", v = 0 }"#, "[2].v: 2 > 3"],
        );
    }

    #[test]
    fn other_texts_and_mere_layout_are_no_changes_of_documents() {
        check("plain", r#"{"a":1}"#, &[]);
        check(r#"{"a":1}"#, r#"{ "a": 1 }"#, &[]);
        check("[broken", "[]", &[]);
        // Both say {"a":2} to most readers; the difference must not be hidden.
        check(r#"{"a":1,"a":2}"#, r#"{"a":3,"a":2}"#, &[]);
    }
}
