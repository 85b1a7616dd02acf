//! Values on the wire: what goes out comes back, and what is none is refused.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use trueup_core::{Number, Type, Value, value};
use trueup_terraform::protocol::DynamicValue;
use trueup_terraform::wire::{WireType, decode, decode_json, encode, encode_json};

/// A type, and values of it, nested a few levels deep. Unknown values have the type of their place.
fn typed(levels: u32) -> BoxedStrategy<(Type, BoxedStrategy<Value>)> {
    let plain = prop_oneof![
        Just((Type::Bool, any::<bool>().prop_map(Value::from).boxed())),
        Just((Type::String, "[a-zé ]{0,8}".prop_map(Value::from).boxed())),
        Just((Type::Number, number().prop_map(Value::number).boxed())),
    ];
    if levels == 0 {
        return plain.boxed();
    }
    let inner = typed(levels - 1);
    let named = |pairs: Vec<(Type, BoxedStrategy<Value>)>| {
        let names = ["a", "b", "c"];
        let ty = Type::object(names.iter().zip(&pairs).map(|(name, (ty, _))| (*name, ty.clone())));
        let values: Vec<_> = pairs.into_iter().map(|(ty, value)| maybe(ty, value)).collect();
        let value = values.prop_map(move |values| Value::object(names.iter().copied().zip(values)));
        (ty, value.boxed())
    };
    prop_oneof![
        2 => plain,
        1 => inner.clone().prop_map(|(ty, value)| {
            let items = prop::collection::vec(maybe(ty.clone(), value), 0..4);
            (Type::list(ty), items.prop_map(Value::list).boxed())
        }),
        1 => inner.clone().prop_map(|(ty, value)| {
            (Type::set(ty), prop::collection::vec(value, 0..4).prop_map(Value::set).boxed())
        }),
        1 => inner.clone().prop_map(|(ty, value)| {
            let entries = prop::collection::btree_map("[a-z]{1,3}", maybe(ty.clone(), value), 0..4);
            (Type::map(ty), entries.prop_map(Value::map).boxed())
        }),
        1 => prop::collection::vec(inner.clone(), 3).prop_map(named),
        1 => prop::collection::vec(inner, 2).prop_map(|pairs| {
            let ty = Type::tuple(pairs.iter().map(|(ty, _)| ty.clone()));
            let values: Vec<_> = pairs.into_iter().map(|(ty, value)| maybe(ty, value)).collect();
            (ty, values.prop_map(Value::list).boxed())
        }),
    ]
    .boxed()
}

fn number() -> BoxedStrategy<Number> {
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        "-?[1-9][0-9]{0,40}(\\.[0-9]{1,20})?".prop_map(|text| text.parse().unwrap()),
    ]
    .boxed()
}

fn maybe(ty: Type, value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![6 => value, 1 => Just(Value::NULL), 1 => Just(Value::unknown(ty))].boxed()
}

fn typed_value() -> BoxedStrategy<(Type, Value)> {
    typed(3).prop_flat_map(|(ty, value)| (Just(ty.clone()), maybe(ty, value))).boxed()
}

proptest! {
    #[test]
    fn what_goes_out_as_msgpack_comes_back((ty, value) in typed_value()) {
        let wire = WireType::from(&ty);
        prop_assert_eq!(decode(&encode(&value, &wire).unwrap(), &wire).unwrap(), value);
    }

    #[test]
    fn what_goes_out_as_json_comes_back((ty, value) in typed_value()) {
        let wire = WireType::from(&ty);
        match encode_json(&value, &wire) {
            Ok(text) => prop_assert_eq!(decode_json(&text, &wire).unwrap(), value),
            Err(error) => prop_assert!(!value.is_wholly_known(), "{}", error),
        }
    }

    /// A value of any type brings its type along.
    #[test]
    fn a_value_of_any_type_comes_back((_, value) in typed_value()) {
        if let Ok(sent) = encode(&value, &WireType::Any) {
            prop_assert!(decode(&sent, &WireType::Any).unwrap().same(&value));
        }
    }

    #[test]
    fn bytes_that_are_no_value_are_refused(bytes in prop::collection::vec(any::<u8>(), 1..64), (ty, _) in typed_value()) {
        let sent = DynamicValue { msgpack: bytes.into(), ..DynamicValue::default() };
        // Whatever comes of it, it is an answer.
        let _ = decode(&sent, &WireType::from(&ty));
        let _ = decode(&sent, &WireType::Any);
    }
}

fn sent(bytes: &[u8]) -> DynamicValue {
    DynamicValue { msgpack: bytes.to_vec().into(), ..DynamicValue::default() }
}

/// As other clients of the protocol write them.
#[test]
fn unknown_values_and_their_refinements_are_read() {
    assert_eq!(encode(&Value::unknown(Type::String), &WireType::String).unwrap().msgpack, [0xd4, 0, 0][..]);
    let unknown = Value::unknown(Type::String);
    assert_eq!(decode(&sent(&[0xd4, 0, 0]), &WireType::String).unwrap(), unknown);
    // Not null, and with a prefix: {1: false, 2: "ab"}.
    let refined = [0xc7, 7, 12, 0x82, 1, 0xc2, 2, 0xa2, b'a', b'b'];
    assert_eq!(decode(&sent(&refined), &WireType::String).unwrap(), unknown);
    assert_eq!(decode(&sent(&[0xd4, 99, 7]), &WireType::String).unwrap(), unknown);
}

#[test]
fn numbers_are_exact_in_every_form() {
    let number = |bytes: &[u8]| decode(&sent(bytes), &WireType::Number).unwrap();
    assert_eq!(number(&[0x07]), value!(7));
    assert_eq!(number(&[0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), value!(u64::MAX));
    assert_eq!(number(b"\xa40.10"), Value::number("0.1".parse().unwrap()));
    assert_eq!(
        number(&[0xcb, 0x3f, 0xb9, 0x99, 0x99, 0x99, 0x99, 0x99, 0x9a]),
        Value::number("0.1".parse().unwrap())
    );
    let exact = Value::number("0.1".parse().unwrap());
    assert_eq!(encode(&exact, &WireType::Number).unwrap().msgpack, b"\xa30.1"[..], "not a float near it");
    assert!(decode(&sent(b"\xa3abc"), &WireType::Number).is_err());
}

/// Two ways to write é are one text.
#[test]
fn texts_go_out_in_one_normal_form() {
    let text = value!("e\u{301}");
    assert_eq!(encode(&text, &WireType::String).unwrap().msgpack, [0xa2, 0xc3, 0xa9][..]);
}

#[test]
fn what_does_not_fit_is_told_with_its_place_and_without_its_value() {
    let ty = WireType::from(&Type::object([("tags", Type::map(Type::Number))]));
    let wrong = value!({ tags: { a: "hunter2" } });
    let error = encode(&wrong, &ty).unwrap_err().to_string();
    assert_eq!(error, "`tags.a`: expected a number, found a string");
    let open = encode(&wrong, &WireType::from(&Type::of(&wrong))).unwrap();
    assert_eq!(decode(&open, &ty).unwrap_err().to_string(), "`tags.a`: is not a number");
    let stray = encode(&value!({ other: 1 }), &ty).unwrap_err().to_string();
    assert_eq!(stray, "`other`: has no place in the schema");
    let deep = [vec![0x91; 5000], vec![0xc0]].concat();
    assert!(decode(&sent(&deep), &WireType::Any).is_err());
}
