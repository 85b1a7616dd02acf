//! What a cloud draws by lot, and each cloud differently: ids, times, its own address. Both clouds are compared but for these.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value as Json;

/// What stands in the place of what was drawn.
const DRAWN: &str = "<drawn>";

/// UUIDs, times, addresses of networks, fingerprints, and words of at least six letters and digits.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    let uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    let time = r"\d{4}-\d\d-\d\d[T ][0-9:.]+(?:Z|[+-][0-9:]+)?";
    let network = r"\b\d{1,3}(?:[.-]\d{1,3}){3}";
    let fingerprint = "[0-9a-f]{2}(?::[0-9a-f]{2}){9,}";
    let port = r"localhost:\d+";
    Regex::new(&format!("{uuid}|{time}|{network}|{port}|{fingerprint}|[A-Za-z0-9]{{6,}}")).unwrap()
});

/// The value without what was drawn; where a cloud is reached is named after its variable.
pub(crate) fn hidden(json: &Json, environment: &[(String, String)]) -> Json {
    match json {
        Json::String(text) => {
            let named =
                environment.iter().fold(text.clone(), |text, (name, value)| text.replace(value, name));
            PATTERN.replace_all(&named, |found: &Captures<'_>| word(&found[0]).to_owned()).into_owned().into()
        }
        Json::Array(items) => {
            let mut items: Vec<Json> = items.iter().map(|item| hidden(item, environment)).collect();
            // Sets are in the order of what was drawn, and sets of objects in one that means nothing.
            if items.iter().any(|item| item.is_object() || item.to_string().contains(DRAWN)) {
                items.sort_by_key(Json::to_string);
            }
            items.into()
        }
        Json::Object(entries) => {
            let hidden = |(key, item): (&String, &Json)| (key.clone(), hidden(item, environment));
            Json::Object(entries.iter().map(hidden).collect())
        }
        other => other.clone(),
    }
}

fn word(found: &str) -> &str {
    // Nobody draws addresses of one's own networks.
    if ["0.", "10.", "127."].iter().any(|own| found.starts_with(own)) {
        return found;
    }
    let has_digit = found.contains(|it: char| it.is_ascii_digit());
    // Unique ids of IAM, and hexadecimal ones, may have no digit.
    let is_id = found.len() > 12 && found.chars().all(|it| it.is_ascii_uppercase());
    let is_hexadecimal = found.chars().all(|it| matches!(it, 'a'..='f'));
    if has_digit || is_id || is_hexadecimal { DRAWN } else { found }
}

#[test]
fn what_was_drawn_is_hidden_and_nothing_else() {
    let endpoint = [("ENDPOINT".to_owned(), "http://127.0.0.1:41000".to_owned())];
    for (text, expected) in [
        ("vpc-8716e75ea87b2b4c2", "vpc-<drawn>"),
        ("6fc7ae0a-9d52-4fb2-8de1-174baf03ad12", "<drawn>"),
        ("2026-11-15T21:29:50.123Z", "<drawn>"),
        ("AROABCDEFGHIJKLMNOP", "<drawn>"),
        ("http://127.0.0.1:41000/jobs", "ENDPOINT/jobs"),
        ("ec2-52-61-65-183.amazonaws.com", "ec2-<drawn>.amazonaws.com"),
        ("10.0.1.0/24", "10.0.1.0/24"),
        ("arn:aws:sns:us-east-1:news", "arn:aws:sns:us-east-1:news"),
        ("GreaterThanThreshold", "GreaterThanThreshold"),
    ] {
        assert_eq!(hidden(&text.into(), &endpoint), Json::from(expected), "{text}");
    }
}
