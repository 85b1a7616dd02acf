//! Laws of the textual and JSON forms: what is written reads back as it was, and no input panics.

use crate::strategies;

use std::time::Duration;

use proptest::prelude::*;
use strategies::{any_address, any_number, any_path, any_type, any_value};
use trueup_core::{
    Address, Failure, FailureClass, JsonError, JsonForm, Number, Origins, Path, Type, Value, value,
};

/// Equality that also looks at origins, which `==` leaves out.
fn identical(left: &Value, right: &Value) -> bool {
    left == right
        && left.origin() == right.origin()
        && left.children().zip(right.children()).all(|(left, right)| identical(left, right))
}

proptest! {
    /// Also CRUD-13: every number survives, however large.
    #[test]
    fn every_value_reads_back_from_json(value in any_value()) {
        let text = value.to_json(JsonForm::RECORD);
        prop_assert_eq!(&Value::from_json(&text).unwrap(), &value, "{}", text);
        let with_origins = value.to_json(JsonForm { origins: Origins::Keep, ..JsonForm::RECORD });
        prop_assert!(identical(&Value::from_json(&with_origins).unwrap(), &value), "{}", with_origins);
    }

    #[test]
    fn json_of_a_value_is_the_same_every_time(value in any_value()) {
        let again = Value::from_json(&value.to_json(JsonForm::RECORD)).unwrap();
        prop_assert_eq!(again.to_json(JsonForm::RECORD), value.to_json(JsonForm::RECORD));
    }

    #[test]
    fn every_number_reads_back_from_its_text(number in any_number()) {
        prop_assert_eq!(number.to_string().parse::<Number>().unwrap(), number);
    }

    #[test]
    fn every_type_reads_back_from_json(ty in any_type()) {
        let text = serde_json::to_string(&ty).unwrap();
        prop_assert_eq!(serde_json::from_str::<Type>(&text).unwrap(), ty);
    }

    #[test]
    fn every_path_reads_back_from_its_text(path in any_path()) {
        prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
    }

    #[test]
    fn every_address_reads_back_from_its_text(address in any_address()) {
        prop_assert_eq!(address.to_string().parse::<Address>().unwrap(), address);
    }

    #[test]
    fn every_plain_value_reads_back_as_plain_json(value in any_value()) {
        // What someone else wrote knows no marks: the same text, read as theirs, never means something of ours.
        let text = value.to_json(JsonForm::RECORD);
        if let Ok(plain) = Value::from_plain_json(&text) {
            prop_assert!(plain.is_wholly_known() && !plain.contains_secret(), "{}", text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(trueup_test_servers::sized(1_000, 20_000)))]

    #[test]
    fn no_text_panics_the_readers(text in ".{0,200}") {
        let _ = Value::from_json(&text);
        let _ = Value::from_plain_json(&text);
        let _ = text.parse::<Number>();
        let _ = text.parse::<Path>();
        let _ = text.parse::<Address>();
    }

    /// Texts that are nearly the JSON of a value reach deeper into the reader than random ones.
    #[test]
    fn no_damaged_json_panics_the_reader(
        value in any_value(),
        at in any::<prop::sample::Index>(),
        edit in prop_oneof![Just(None), "[\\[\\]{}\":,$0-9eE.+-]".prop_map(Some), any::<char>().prop_map(|c| Some(c.to_string()))],
    ) {
        let mut chars: Vec<String> = value.to_json(JsonForm::RECORD).chars().map(String::from).collect();
        let at = at.index(chars.len());
        match edit {
            Some(edit) => chars[at] = edit,
            None => chars.truncate(at),
        }
        let _ = Value::from_json(&chars.concat());
        let _ = Value::from_plain_json(&chars.concat());
    }
}

/// CRUD-13
#[test]
fn integers_beyond_a_float_survive_json() {
    for number in [Number::from((1i64 << 53) + 1), Number::from(u64::MAX), Number::from(i64::MIN)] {
        let value = Value::number(number);
        assert_eq!(Value::from_json(&value.to_json(JsonForm::RECORD)).unwrap(), value);
    }
    assert_eq!(value!((u64::MAX)).to_json(JsonForm::RECORD), "18446744073709551615");
}

/// RETRY-4: failures stand in the journal, and what a pending one hands to the next attempt survives there.
#[test]
fn every_class_of_failure_reads_back_from_json() {
    let delay = Some(Duration::from_millis(5_250));
    let context = Value::object([("operation", value!("op-1")), ("ids", Value::set([value!(1)]))]);
    let classes = [
        FailureClass::Retryable,
        FailureClass::Throttled { delay },
        FailureClass::Throttled { delay: None },
        FailureClass::Pending { delay, context },
        FailureClass::Pending { delay: None, context: value!({ a: 1 }) },
        FailureClass::NotFound,
        FailureClass::AlreadyExists,
        FailureClass::Conflict,
        FailureClass::Denied,
        FailureClass::Invalid,
        FailureClass::Fatal,
        FailureClass::Indeterminate,
    ];
    for class in classes {
        let failure = Failure::new(class, "why").at("a[0]".parse().unwrap()).hint("do something");
        let text = serde_json::to_string(&failure).unwrap();
        assert_eq!(
            serde_json::from_str::<Failure>(&text).map_err(|it| it.to_string()),
            Ok(failure),
            "{text}"
        );
    }
}

/// The JSON library tells its own wrapping objects by these keys, which are keys like any other to us.
#[test]
fn keys_that_mean_something_to_the_json_library_survive() {
    for key in ["$serde_json::private::Number", "$serde_json::private::RawValue", "$value", "$$", "$"] {
        for value in [Value::map([(key, value!("5"))]), Value::object([(key, value!({ a: 5 }))])] {
            let text = value.to_json(JsonForm::RECORD);
            assert_eq!(Value::from_json(&text).map_err(|it| it.to_string()), Ok(value), "{text}");
        }
    }
}

#[test]
fn json_that_others_wrote_is_read_as_it_stands() {
    let text = r##"{"$ref":"#/definitions/x","$secret":true,"$serde_json::private::Number":"5"}"##;
    let value = Value::from_plain_json(text).unwrap();
    assert_eq!(value.get("$ref"), Some(&value!("#/definitions/x")));
    assert_eq!(value.get("$secret"), Some(&value!(true)));
    assert_eq!(value.get("$serde_json::private::Number"), Some(&value!("5")));
    let deep = format!("{}1{}", "[".repeat(150), "]".repeat(150));
    assert_eq!(Value::from_plain_json(&deep), Err(JsonError::TooDeep));
}

#[test]
fn the_json_form_is_plain_where_it_can_be() {
    let value = value!({ name: "a", list: [1, "2.5"], "$x": true, gone: null });
    insta::assert_snapshot!(value.to_json(JsonForm::RECORD), @r#"{"$$x":true,"gone":null,"list":[1,"2.5"],"name":"a"}"#);
    let marked = Value::object([
        ("password", value!("hunter2").into_secret()),
        ("ids", Value::set([value!(2), value!(1)])),
        ("url", Value::unknown(Type::String).into_secret()),
    ]);
    insta::assert_snapshot!(marked.to_json(JsonForm::RECORD), @r#"{"ids":{"$set":[1,2]},"password":{"$secret":true,"$value":"hunter2"},"url":{"$secret":true,"$unknown":"string"}}"#);
    insta::assert_snapshot!(marked.to_json(JsonForm::REDACTED), @r#"{"ids":{"$set":[1,2]},"password":{"$secret":true},"url":{"$secret":true}}"#);
}

/// OUTPUT-10
#[test]
fn the_public_form_has_only_marks_for_what_json_cannot_say() {
    let tags = Value::map([("$x", value!("a")), ("$secret", value!(1)), ("$$unknown", value!(2))]);
    let whole = Value::object([
        ("ids", Value::set([value!(2), value!(1)])),
        ("tags", tags),
        ("password", Value::map([("k", value!("hunter2"))]).into_secret()),
        ("url", Value::unknown(Type::list(Type::String))),
    ]);
    insta::assert_snapshot!(whole.to_json(JsonForm::PUBLIC), @r#"{"ids":[1,2],"password":{"$secret":true},"tags":{"$$$unknown":2,"$$secret":1,"$x":"a"},"url":{"$unknown":["list","string"]}}"#);
    insta::assert_snapshot!(whole.to_json(JsonForm::BARE), @r#"{"ids":[1,2],"password":{"k":"hunter2"},"tags":{"$$unknown":2,"$secret":1,"$x":"a"},"url":{"$unknown":["list","string"]}}"#);
    insta::assert_snapshot!(Value::sealed("AAEC").to_json(JsonForm::BARE), @r#"{"$secret":true}"#);
}

#[test]
fn what_is_not_the_form_of_a_value_is_refused_with_its_place() {
    let message = |text: &str| Value::from_json(text).unwrap_err().to_string();
    insta::assert_snapshot!(message(r#"{"a":{"$secret":true}}"#), @"at a: the content was left out because it is secret");
    insta::assert_snapshot!(message(r#"{"$set":[],"$map":{}}"#), @"at the top: two contents for one value");
    insta::assert_snapshot!(message(r#"[{"$what":1}]"#), @"at [0]: `$what` does not belong here");
    insta::assert_snapshot!(message(r#"{"n":[1e99999]}"#), @"at n[0]: the number has more than 1024 digits or an exponent beyond 4096");
    insta::assert_snapshot!(message(r#"{"$unknown":["list"]}"#), @"at the top: this is not a type");
    insta::assert_snapshot!(message("[1"), @"EOF while parsing a list at line 1 column 2");
    insta::assert_snapshot!(message("1 2"), @"trailing characters at line 1 column 3");
}

#[test]
fn nesting_is_bounded_both_ways() {
    let deepest = (1..Value::DEPTH_MAX).fold(value!(1), |value, _| Value::set([value]).into_secret());
    assert_eq!(Value::from_json(&deepest.to_json(JsonForm::RECORD)).unwrap(), deepest);
    assert_eq!(
        Value::from_json(&format!("{}1{}", "[".repeat(150), "]".repeat(150))),
        Err(JsonError::TooDeep)
    );
    assert_eq!(Value::from_json(&"[".repeat(1_000_000)), Err(JsonError::TooDeep));
}
