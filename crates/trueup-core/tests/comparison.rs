//! Laws of comparison and diff (PLAN-6), and the promises about marks.

use crate::strategies;

use std::cmp::Ordering;

use proptest::prelude::*;
use strategies::{any_value, edited_pair};
use trueup_core::{Change, Number, Path, Type, Value, diff, value};

type Sides = (Path, Option<Value>, Option<Value>, bool);

fn sides(changes: Vec<Change>) -> impl Iterator<Item = Sides> {
    changes.into_iter().map(|it| (it.path, it.before, it.after, it.certain))
}

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

    /// PLAN-6. Values that nearly mean the same, since two random ones hardly ever do.
    #[test]
    fn diff_is_empty_exactly_for_values_that_mean_the_same((a, b) in edited_pair()) {
        let known = a.is_wholly_known() && b.is_wholly_known();
        prop_assert_eq!(diff(&a, &b).is_empty(), known && a.same(&b), "{:?}", diff(&a, &b));
    }

    #[test]
    fn values_that_mean_the_same_mean_it_both_ways((a, b) in edited_pair(), c in any_value()) {
        prop_assert_eq!(a.same(&b), b.same(&a));
        prop_assert_eq!(a.canonical_cmp(&b), b.canonical_cmp(&a).reverse());
        if a.same(&b) {
            prop_assert_eq!(a.canonical_cmp(&c), b.canonical_cmp(&c), "one of them orders otherwise");
        }
    }

    #[test]
    fn diff_the_other_way_swaps_the_sides((a, b) in edited_pair()) {
        let turned: Vec<_> = sides(diff(&b, &a)).map(|(path, before, after, certain)| (path, after, before, certain)).collect();
        let straight: Vec<_> = sides(diff(&a, &b)).collect();
        prop_assert_eq!(straight.len(), turned.len());
        for change in &straight {
            let times = |changes: &[Sides]| changes.iter().filter(|it| *it == change).count();
            prop_assert_eq!(times(&straight), times(&turned), "{:?}", change);
        }
    }

    /// UNKNOWN-7: only an unknown leaves it open whether there is a change.
    #[test]
    fn known_values_differ_for_certain((a, b) in edited_pair()) {
        if a.is_wholly_known() && b.is_wholly_known() {
            prop_assert!(diff(&a, &b).iter().all(|change| change.certain), "{:?}", diff(&a, &b));
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

/// PLAN-6: what diff reports and what `same` says is one and the same notion, also for nulls in lists and for elements
/// of a set that differ in marks only.
#[test]
fn nulls_in_lists_and_marks_in_sets_count_alike_for_diff_and_same() {
    let pairs = [
        (value!([1, null]), value!([1])),
        (value!([null]), value!([])),
        (value!([1, null, 2]), value!([1, 2])),
        (Value::set([value!(1), value!(1).into_secret()]), Value::set([value!(1)])),
        (Value::set([value!({ a: null }), value!({})]), Value::set([value!({})])),
        (Value::set([Value::map([("a", value!(1))]), value!({ a: 1 })]), Value::set([value!({ a: 1 })])),
    ];
    for (a, b) in pairs {
        assert_eq!(diff(&a, &b).is_empty(), a.same(&b), "{a} and {b}: {:?}", diff(&a, &b));
        assert_eq!(diff(&b, &a).is_empty(), b.same(&a), "{b} and {a}: {:?}", diff(&b, &a));
    }
}

/// UNKNOWN-7, UNKNOWN-8: an unknown element may turn out to be the one that was there.
#[test]
fn a_set_with_an_unknown_element_differs_only_perhaps() {
    let before = Value::set([value!("a")]);
    let found = diff(&before, &Value::set([Value::unknown(Type::String)]));
    assert!(!found.is_empty());
    assert!(found.iter().all(|change| !change.certain), "{found:?}");
}

/// UNKNOWN-4: only the unknown positions differ.
#[test]
fn unknown_positions_differ_by_themselves() {
    let after = Value::object([("a", value!(1)), ("b", Value::unknown(Type::String))]);
    let found = diff(&value!({ a: 1, b: "x" }), &after);
    assert_eq!(found.len(), 1);
    assert!(!found[0].certain);
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
    // What differs inside a secret is told of the secret as a whole: its structure is part of it.
    assert_eq!(changes(&secret, &value!({ list: [1, 3] })), ": (secret) -> (secret)");
}

/// SECRET-1: the keys of a secret map are part of the secret.
#[test]
fn a_change_inside_a_secret_map_does_not_show_its_keys() {
    let environment = |key: &str| Value::object([("env", Value::map([(key, value!(1))]).into_secret())]);
    let found = diff(&environment("x"), &environment("hunter2"));
    assert!(!found.is_empty());
    let shown = format!("{found:?} {}", serde_json::to_string(&found).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
}

/// SECRET-1
#[test]
fn a_change_written_as_json_does_not_hold_its_secrets() {
    let found = diff(&value!({}), &Value::object([("password", value!("hunter2").into_secret())]));
    assert_eq!(found.len(), 1);
    let written = serde_json::to_string(&found[0]).unwrap();
    assert!(!written.contains("hunter2"), "{written}");
}

/// SECRET-1: what a value consists of does not know of its mark, so it is never printed.
#[test]
fn the_kind_of_a_secret_is_printed_without_its_content() {
    let secret = value!({ password: "hunter2" }).into_secret();
    let shown = format!("{:?} {:?}", secret.kind(), value!("hunter2").into_secret().kind());
    assert!(!shown.contains("hunter2"), "{shown}");
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
