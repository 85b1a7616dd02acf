//! Values as the JSON that other programs read: nothing but their content, secrets included.

use serde_json::{Map, Value as Json};
use trueup_core::{Kind, Value};

/// The content of a value. Sets are arrays, maps are objects; what is unknown is null. Only for the one it is meant for:
/// secrets are in the clear.
pub(crate) fn plain_json(value: &Value) -> Json {
    match value.kind() {
        Kind::Null | Kind::Unknown(_) => Json::Null,
        Kind::Bool(truth) => Json::Bool(*truth),
        Kind::Number(number) => {
            let text = number.to_string();
            serde_json::from_str(&text).unwrap_or(Json::String(text))
        }
        Kind::String(text) => Json::String(text.to_string()),
        Kind::List(items) | Kind::Set(items) => Json::Array(items.iter().map(plain_json).collect()),
        Kind::Map(entries) | Kind::Object(entries) => Json::Object(
            entries.iter().map(|(key, value)| (key.to_string(), plain_json(value))).collect::<Map<_, _>>(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    #[test]
    fn what_other_programs_read_is_nothing_but_content() {
        let value = value!({ "$dollar": [1, true, null], secret: (value!("hunter2").into_secret()) });
        assert_eq!(plain_json(&value).to_string(), r#"{"$dollar":[1,true,null],"secret":"hunter2"}"#);
        let set = Value::set([value!(2), value!(1), value!(2)]);
        assert_eq!(plain_json(&set).to_string(), "[1,2]");
    }
}
