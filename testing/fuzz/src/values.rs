//! The JSON of values: ours, with its marks, and that of others, without.

use trueup_core::{JsonForm, Type, Value, convert, read_json};

use crate::text;

pub(crate) const SEEDS: &[&str] = &[
    r#"{"a":[1,2.5,-0,1e400],"b":null,"c":{"d":"é☃","e":true}}"#,
    r#"{"$secret":{"$set":["a","b"]}}"#,
    r#"{"$unknown":["list","string"]}"#,
    r#"{"$map":{"k":{"$secret":"s"}}}"#,
    r#"["object",{"a":["map","number"],"b":["tuple",["bool","dynamic"]]},["a"]]"#,
    r#"12345678901234567890123456789012345678901234567890.5"#,
    r#"[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]"#,
];

pub(crate) fn check(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(value) = Value::from_json(text) {
        let written = value.to_json(JsonForm::RECORD);
        assert_eq!(Value::from_json(&written).as_ref(), Ok(&value), "{text:?} is written as {written:?}");
        // Showing, hashing and comparing are total too.
        let _ = (value.to_string(), value.is_wholly_known(), value.contains_secret());
    }
    if let Ok(value) = Value::from_plain_json(text) {
        assert!(
            value.is_wholly_known() && !value.contains_secret(),
            "the JSON of others knows no marks: {text:?}"
        );
        for ty in
            [Type::String, Type::Number, Type::list(Type::Any), Type::set(Type::String), Type::map(Type::Any)]
        {
            let _ = convert(&value, &ty);
        }
    }
    if let Ok(ty) = read_json::<Type>(text) {
        let _ = ty.to_string();
    }
}
