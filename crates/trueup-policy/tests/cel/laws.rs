//! Laws that hold for any text and any value.

use proptest::prelude::*;
use trueup_policy::cel::{Key, Map, Program, Value};

use crate::cel::{VARIABLES, constant, evaluated};

/// Compiles and evaluates a text, and draws the error if there is one.
fn survive(text: &str) {
    if let Err(error) = evaluated(text) {
        let (line, column) = error.position(text);
        assert!(line >= 1 && column >= 1);
        assert!(error.excerpt(text).contains('^'));
    }
}

/// Pieces of which expressions are made, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "resource",
        "plan",
        "x",
        ".",
        ".type",
        ".inputs",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        ">=",
        "&&",
        "||",
        "!",
        "in",
        "1",
        "2u",
        "0.5",
        "'a'",
        "b'\\xff'",
        "null",
        "true",
        "has(",
        "size(",
        ".all(x,",
        ".map(x,",
        ".filter(x,",
        ".exists(",
        ".matches(",
        "timestamp(",
        "duration(",
        "'1h'",
        "'2026-01-01T00:00:00Z'",
        ".getHours(",
        "optional.of(",
        ".orValue(",
        "string(",
        "int(",
        "é",
        "\n",
        "//",
        "\\",
        "\"",
        "'''",
        "r'",
        "`",
        "9223372036854775807",
        "e9",
    ]);
    prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.join(" "))
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![
        any::<bool>().prop_map(Key::Bool),
        any::<i64>().prop_map(Key::Int),
        any::<u64>().prop_map(Key::Uint),
        any::<String>().prop_map(|text| Key::String(text.into())),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<u64>().prop_map(Value::Uint),
        number.prop_map(Value::Double),
        any::<String>().prop_map(|text| Value::String(text.into())),
        any::<Vec<u8>>().prop_map(|bytes| Value::Bytes(bytes.into())),
        (-62_135_596_800i64..=253_402_300_799, 0u32..1_000_000_000)
            .prop_map(|(seconds, nanos)| moment(seconds, nanos)),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
            prop::collection::vec((key(), inner.clone()), 0..5)
                .prop_filter_map("keys differ", |entries| Map::new(entries).ok().map(Value::Map)),
            inner.prop_map(|value| Value::Optional(Some(value.into()))),
        ]
    })
}

/// A timestamp, or a duration of as many nanoseconds.
fn moment(seconds: i64, nanos: u32) -> Value {
    match nanos % 2 {
        0 => constant(&format!("timestamp({seconds})")),
        _ => constant(&format!("duration('{seconds}ns')")),
    }
    .expect("within the range")
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        survive(&text);
    }

    #[test]
    fn no_sequence_of_pieces_panics(text in pieces()) {
        survive(&text);
    }

    #[test]
    fn a_printed_value_evaluates_to_itself(value in value()) {
        let printed = value.to_string();
        let read = constant(&printed).map_err(|error| TestCaseError::fail(format!("{printed}: {error}")))?;
        prop_assert_eq!(&read, &value);
        prop_assert_eq!(read.to_string(), printed);
    }

    /// A variable that an expression refers to is one that its value can depend on.
    #[test]
    fn variables_that_are_not_referred_to_do_not_matter(text in pieces()) {
        if let Ok(program) = Program::compile(&text, &VARIABLES) {
            let given = crate::cel::variables();
            let blanked = [0, 1].map(|at| if program.refers_to(at) { given[at].clone() } else { Value::Null });
            let told = |outcome: Result<Value, _>| format!("{outcome:?}");
            prop_assert_eq!(told(program.evaluate(&given)), told(program.evaluate(&blanked)));
        }
    }

    #[test]
    fn equality_and_order_agree(one in value(), other in value()) {
        let variables = [one, other];
        let holds = |text: &str| Program::compile(text, &["a", "b"]).expect("valid").evaluate(&variables).ok();
        prop_assert_eq!(holds("a == b"), holds("b == a"));
        prop_assert_eq!(holds("a == b"), holds("!(a != b)"));
        prop_assert_eq!(holds("a == a"), Some(Value::Bool(true)));
        prop_assert_eq!(holds("a in [b]"), holds("a == b"));
        if let Some(less) = holds("a < b") {
            prop_assert_eq!(holds("b > a"), Some(less));
            prop_assert_eq!(holds("a <= b"), holds("a < b || a == b"));
        }
    }
}

#[test]
fn only_free_names_are_references() {
    let refers = |text: &str| Program::compile(text, &VARIABLES).expect(text).refers_to(1);
    assert!(refers("resource.type == 'a'"));
    assert!(refers("plan.list.exists(it, it == resource.type)"));
    assert!(refers("resource.ports.all(resource, resource > 1)"));
    assert!(refers("plan.list.exists(resource, .resource.type == 'a')"));
    assert!(!refers("plan.stage == 'resource'"));
    assert!(!refers("plan.resource == 1"));
    assert!(!refers("plan.resources.all(resource, resource.type == 'a')"));
}
