//! Templates: `{id}` and its like in URLs, headers and bodies.
//!
//! The form is the one people know from API documentation, and it means nothing in the stack language, whose own
//! templates begin with `${`. `{{id}}` is the text `{id}` itself. What stands in braces and is no name, as in JSON, is
//! left alone; an unknown name is an error in a URL, where braces have no business, and left alone elsewhere.

use trueup_core::Value;

use super::pointer;

/// The name of the token of a create or update.
pub(super) const TOKEN: &str = "token";

/// The names that templates know, and their values.
pub(super) struct Variables {
    pub(super) fixed: Vec<(&'static str, Option<String>)>,
    /// The last answer, of which `{response.NAME}` is a part.
    pub(super) response: Option<Value>,
    /// What others attach, of which `{bindings.KEY.NAME}` is a part.
    pub(super) bindings: Vec<(String, Value)>,
}

/// Where a template stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Values are percent-encoded, except one that begins the URL.
    Url,
    /// Values stand as they are.
    Text,
}

/// The names in a template.
pub(super) fn names(template: &str) -> Vec<&str> {
    pieces(template)
        .into_iter()
        .filter_map(|piece| match piece {
            Piece::Name(name) => Some(name),
            Piece::Text(_) => None,
        })
        .collect()
}

impl Variables {
    /// Whether the request belongs to a create or update, whose attempts share a token.
    pub(super) fn has_token(&self) -> bool {
        self.fixed.iter().any(|(name, value)| *name == TOKEN && value.is_some())
    }

    /// The template with the values in place of their names.
    pub(super) fn fill(&self, template: &str, place: Place) -> Result<String, String> {
        let mut filled = String::new();
        for piece in pieces(template) {
            let name = match piece {
                Piece::Text(text) => {
                    filled.push_str(text);
                    continue;
                }
                Piece::Name(name) => name,
            };
            match (self.value(name), place) {
                (Some(Some(value)), Place::Url) if !filled.is_empty() => filled.push_str(&encoded(&value)),
                (Some(Some(value)), _) => filled.push_str(&value),
                (Some(None), _) => return Err(format!("`{{{name}}}` is not known here")),
                (None, Place::Url) => return Err(self.unknown(name)),
                (None, Place::Text) => {
                    filled.push('{');
                    filled.push_str(name);
                    filled.push('}');
                }
            }
        }
        Ok(filled)
    }

    /// Fills every text in a value.
    pub(super) fn fill_value(&self, value: &Value) -> Result<Value, String> {
        if let Some(text) = value.as_str() {
            return Ok(Value::from(self.fill(text, Place::Text)?).into_secret_if(value.is_secret()));
        }
        if let Some(items) = value.as_items() {
            let items = items.iter().map(|item| self.fill_value(item)).collect::<Result<Vec<_>, _>>()?;
            return Ok(Value::list(items).into_secret_if(value.is_secret()));
        }
        let Some(entries) = value.as_entries() else { return Ok(value.clone()) };
        let entries = entries.iter().map(|(key, item)| Ok((key.clone(), self.fill_value(item)?)));
        let entries = entries.collect::<Result<Vec<_>, String>>()?;
        Ok(Value::object(entries).into_secret_if(value.is_secret()))
    }

    /// `None` for a name that does not exist, `Some(None)` for one without a value yet.
    fn value(&self, name: &str) -> Option<Option<String>> {
        if let Some(path) = name.strip_prefix("response.") {
            let steps: Vec<&str> = path.split('.').collect();
            let found = self.response.as_ref().and_then(|response| pointer::at(response, &steps));
            return Some(found.and_then(|value| pointer::text(&value)));
        }
        if let Some(path) = name.strip_prefix("bindings.") {
            let mut steps = path.split('.');
            let key = steps.next().unwrap_or_default();
            let bound = self.bindings.iter().find(|(own, _)| own == key);
            let steps: Vec<&str> = steps.collect();
            let found = bound.and_then(|(_, payload)| pointer::at(payload, &steps));
            return Some(found.and_then(|value| pointer::text(&value)));
        }
        self.fixed.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone())
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<String> = self.fixed.iter().map(|(own, _)| format!("`{{{own}}}`")).collect();
        format!(
            "there is no `{{{name}}}`; there are {}, `{{bindings.KEY}}` and `{{response.NAME}}`",
            known.join(", ")
        )
    }
}

/// A part of a template.
enum Piece<'a> {
    Text(&'a str),
    Name(&'a str),
}

fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        pieces.push(Piece::Text(before));
        let escaped = from.strip_prefix("{{").and_then(|inner| name_before(inner, "}}"));
        if let Some(name) = escaped {
            pieces.push(Piece::Text(&from[1..name.len() + 3]));
            rest = &from[name.len() + 4..];
        } else if let Some(name) = name_before(&from[1..], "}") {
            pieces.push(Piece::Name(name));
            rest = &from[name.len() + 2..];
        } else {
            pieces.push(Piece::Text(&from[..1]));
            rest = &from[1..];
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// The name at the beginning of a text, if this closes it.
fn name_before<'a>(text: &'a str, close: &str) -> Option<&'a str> {
    let end = text.find(|char: char| !(char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.')))?;
    let (name, after) = text.split_at(end);
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic());
    (begins && after.starts_with(close)).then_some(name)
}

/// A value as one part of a URL.
pub(super) fn encoded(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    fn variables() -> Variables {
        let response = value!({ self: "https://a/b?c", links: [{ rel: 7 }] });
        let fixed = vec![("id", Some("a/b ü".to_owned())), ("name", None)];
        let bindings = vec![("peer".to_owned(), value!({ url: "x y" })), ("size".to_owned(), value!(3))];
        Variables { fixed, response: Some(response), bindings }
    }

    fn check(template: &str, place: Place, expected: Result<&str, &str>) {
        let expected = expected.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
        assert_eq!(variables().fill(template, place), expected, "{template}");
    }

    #[test]
    fn names_in_braces_are_filled_in() {
        check("/x/{id}?q", Place::Url, Ok("/x/a%2Fb%20%C3%BC?q"));
        check("{\"id\": \"{id}\"}", Place::Text, Ok("{\"id\": \"a/b ü\"}"));
        check("{response.links.0.rel}/{{id}}", Place::Text, Ok("7/{id}"));
        check("{response.self}&d", Place::Url, Ok("https://a/b?c&d"));
        check("{bindings.size}/{bindings.peer.url}", Place::Text, Ok("3/x y"));
        check("plain }{ {", Place::Text, Ok("plain }{ {"));
        check("{\"a\":{\"b\":1}}", Place::Text, Ok("{\"a\":{\"b\":1}}"));
        check("{unknown}", Place::Text, Ok("{unknown}"));
    }

    #[test]
    fn what_has_no_value_or_no_meaning_is_told() {
        check("/{name}", Place::Url, Err("`{name}` is not known here"));
        check("/{bindings.none}", Place::Url, Err("`{bindings.none}` is not known here"));
        check("/{response.no}", Place::Url, Err("`{response.no}` is not known here"));
        check(
            "/{nam}",
            Place::Url,
            Err("there is no `{nam}`; there are `{id}`, `{name}`, `{bindings.KEY}` and `{response.NAME}`"),
        );
        assert_eq!(names("/{id}/{{name}}/{x}"), ["id", "x"]);
    }
}
