//! Laws of comparison and diff (PLAN-6), and the promises about marks.

mod strategies;

use std::cmp::Ordering;

use proptest::prelude::*;
use strategies::any_value;
use trueup_core::{Number, Type, Value, diff, value};

fn changes(before: &Value, after: &Value) -> String {
    let show = |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), ToString::to_string);
    let lines = diff(before, after);
    let lines = lines
        .iter()
        .map(|change| format!("{}: {} -> {}", change.path, show(&change.before), show(&change.after)));
    lines.collect::<Vec<_>>().join("\n")
}

proptest! {
    #[test]
    fn order_is_total_and_agrees_with_equality(a in any_value(), b in any_value(), c in any_value()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a.cmp(&b) == Ordering::Equal, a == b);
        prop_assert_eq!(a.cmp(&a.clone()), Ordering::Equal);
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
        if a.canonical_cmp(&b).is_le() && b.canonical_cmp(&c).is_le() {
            prop_assert!(a.canonical_cmp(&c).is_le());
        }
    }

    #[test]
    fn a_known_value_has_no_diff_with_itself(value in any_value()) {
        prop_assert_eq!(diff(&value, &value.clone()).is_empty(), value.is_wholly_known());
    }

    #[test]
    fn diff_is_empty_exactly_for_values_that_mean_the_same(a in any_value(), b in any_value()) {
        let known = a.is_wholly_known() && b.is_wholly_known();
        prop_assert_eq!(diff(&a, &b).is_empty(), known && a.same(&b));
    }

    #[test]
    fn diff_the_other_way_swaps_the_sides(a in any_value(), b in any_value()) {
        let turned: Vec<_> = diff(&b, &a).into_iter().map(|it| (it.path, it.after, it.before)).collect();
        let straight: Vec<_> = diff(&a, &b).into_iter().map(|it| (it.path, it.before, it.after)).collect();
        prop_assert_eq!(straight.len(), turned.len());
        for change in straight {
            prop_assert!(turned.contains(&change), "{:?}", change);
        }
    }

    #[test]
    fn what_is_printed_holds_no_secret(value in any_value(), canary in "canary-[a-z]{12}") {
        let secret = Value::object([("a", value!((canary.as_str())).into_secret()), ("b", value)]).into_secret();
        let list = Value::list([value!((canary.as_str())).into_secret(), value!(1)]);
        let changes = format!("{:?}", diff(&list.clone().into_secret(), &Value::list([value!("other"), value!(2)])));
        let printed = format!("{secret} {secret:?} {list} {list:?} {changes}");
        prop_assert!(!printed.contains(&canary), "{}", printed);
    }
}

/// PLAN-6
#[test]
fn key_order_absence_and_number_notation_make_no_difference() {
    let one: Number = "1.0".parse().unwrap();
    let written = Value::object([("b", value!(null)), ("a", Value::number(one))]);
    assert!(written.same(&value!({ a: 1 })));
    assert!(Value::map([("a", value!(1))]).same(&value!({ a: 1 })));
    assert!(value!({ a: "x" }).same(&Value::object([("a", value!("x").into_secret())])));
    assert!(!value!([]).same(&value!(null)));
    assert_eq!(changes(&written, &value!({ a: 1 })), "");
}

/// PLAN-6
#[test]
fn lists_compare_by_position_and_sets_by_content() {
    assert_eq!(changes(&value!([1, 2]), &value!([2, 1, 3])), "[0]: 1 -> 2\n[1]: 2 -> 1\n[2]: absent -> 3");
    let set = |items: [i64; 2]| Value::set(items.map(Value::from));
    assert_eq!(changes(&set([1, 2]), &set([2, 1])), "");
    assert_eq!(changes(&set([1, 2]), &set([2, 3])), "[*]: 1 -> absent\n[*]: absent -> 3");
}

/// UNKNOWN-4: only the unknown positions differ.
#[test]
fn unknown_positions_differ_by_themselves() {
    let after = Value::object([("a", value!(1)), ("b", Value::unknown(Type::String))]);
    let found = diff(&value!({ a: 1, b: "x" }), &after);
    assert_eq!(found.len(), 1);
    assert!(!found[0].is_certain());
    assert_eq!(found[0].path.to_string(), "b");
    assert_eq!(
        changes(&Value::unknown(Type::Any), &Value::unknown(Type::Any)),
        ": (unknown any) -> (unknown any)"
    );
}

/// UNKNOWN-11
#[test]
fn what_lies_inside_a_marked_value_is_marked() {
    let secret = value!({ list: [1, 2] }).into_secret();
    assert!(secret.at(&"list[0]".parse().unwrap()).unwrap().is_secret());
    let both = Value::unknown(Type::list(Type::String)).into_secret();
    let inside = both.at(&"[3]".parse().unwrap()).unwrap();
    assert!(inside.is_secret() && inside.is_unknown());
    assert_eq!(changes(&secret, &value!({ list: [1, 3] })), "list[1]: (secret) -> (secret)");
}

#[test]
fn a_clone_shares_its_storage() {
    let rows = (0..500).map(|row| value!({ name: "a row of about twenty bytes", row: row }));
    for value in
        [Value::list(rows), value!("x".repeat(10_000)), Value::map([("k", value!("x".repeat(10_000)))])]
    {
        assert!(value.clone().shares_storage_with(&value));
    }
    assert!(size_of::<Value>() <= 40, "{}", size_of::<Value>());
}
