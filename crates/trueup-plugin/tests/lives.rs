//! Lives of things, drawn and chosen.

use proptest::option::of as optional;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use trueup::{Value, value};
use trueup_terraform::Version;
use trueup_test_servers::sized;

use crate::terraform::Terraform;
use crate::thing::{World, provider};

const TYPE: &str = "all_thing";

/// Lives through configurations; the words for what was done.
fn live(version: Version, lives: &[Value]) -> Vec<&'static str> {
    let world = World::default();
    let terraform = Terraform::new(provider(&world), version);
    let mut object = None;
    let mut done = Vec::new();
    for inputs in lives {
        let label = || format!("{version:?} {inputs} of {lives:?}");
        done.push(
            terraform.run(TYPE, &mut object, Some(inputs)).unwrap_or_else(|it| panic!("{}: {it:?}", label())),
        );
        let again = terraform.run(TYPE, &mut object, Some(inputs));
        assert_eq!(again, Ok("no-op"), "again: {}", label());
    }
    assert_eq!(terraform.run(TYPE, &mut object, None), Ok("delete"));
    assert!(object.is_none() && world.0.lock().unwrap().is_empty());
    done
}

#[test]
fn a_life_goes_as_the_type_says() {
    let lives = [
        value!({ name: "a" }),
        value!({ name: "a", note: "x" }),
        value!({ name: "a" }),
        value!({ name: "a", size: "small" }),
        value!({ name: "a", size: "large", tags: { "k": "v" } }),
        value!({ name: "a", size: "large", tags: {} }),
        value!({ name: "a", size: "large" }),
        value!({ name: "a", chosen: 3 }),
        value!({ name: "a" }),
        value!({ name: "b" }),
        value!({ name: "b", origin: { city: "Bern" } }),
        value!({ name: "b", origin: { city: "Bern", floor: 1 } }),
    ];
    let expected = [
        "create", "update", "update", "no-op", "update", "update", "no-op", "update", "update", "replace",
        "replace", "replace",
    ];
    assert_eq!(live(Version::V6, &lives), expected);
}

#[test]
fn structures_are_filled_where_the_program_leaves_them_open() {
    let world = World::default();
    let terraform = Terraform::new(provider(&world), Version::V6);
    let mut object = None;
    let inputs = value!({
        name: "a", parts: [{ key: "p" }, { key: "q", port: 1, decided: "mine" }], rule: [{ key: "r" }],
        several: [{ key: "s" }], by_key: { "k": { key: "t" } }, token: "wo", password: "pw",
    });
    terraform.run(TYPE, &mut object, Some(&inputs)).unwrap();
    let state = object.as_ref().unwrap().state.clone();
    let shown = |name: &str| state.get(name).cloned().unwrap_or_default().without_marks().to_string();
    assert_eq!(
        shown("parts"),
        r#"[{ decided = "for p", key = "p", port = 80 }, { decided = "mine", key = "q", port = 1 }]"#
    );
    assert_eq!(shown("rule"), r#"[{ decided = null, key = "r", port = 80 }]"#);
    assert_eq!(shown("several"), r#"set[{ decided = null, key = "s", port = 80 }]"#);
    assert_eq!(
        (shown("token"), shown("has_token"), shown("opener")),
        ("null".into(), "true".into(), r#""pw""#.into())
    );
    // A write-only value is no change, and goes along with one.
    let other = inputs.with_entry("token", value!("another"));
    assert_eq!(terraform.run(TYPE, &mut object, Some(&other)), Ok("no-op"));
    let other = other.with_entry("note", value!("n"));
    assert_eq!(terraform.run(TYPE, &mut object, Some(&other)), Ok("update"));
    assert!(!String::from_utf8_lossy(&object.unwrap().private).contains("another"));
}

#[test]
fn drift_is_what_differs_and_counts() {
    let world = World::default();
    let terraform = Terraform::new(provider(&world), Version::V6);
    let (mut object, inputs) = (None, value!({ name: "a", note: "x" }));
    terraform.run(TYPE, &mut object, Some(&inputs)).unwrap();
    let tamper = |change: &dyn Fn(&mut crate::thing::ThingOutput)| {
        change(world.0.lock().unwrap().get_mut("a").unwrap());
    };
    tamper(&|thing| thing.note = Some("hacked".to_owned()));
    assert_eq!(terraform.run(TYPE, &mut object, Some(&inputs)), Ok("update"));
    tamper(&|thing| thing.total = 99);
    assert_eq!(terraform.run(TYPE, &mut object, Some(&inputs)), Ok("update"));
    assert_eq!(world.0.lock().unwrap()["a"].total, 0);
    tamper(&|thing| thing.seen = 99);
    assert_eq!(terraform.run(TYPE, &mut object, Some(&inputs)), Ok("no-op"));
    world.0.lock().unwrap().clear();
    assert_eq!(terraform.run(TYPE, &mut object, Some(&inputs)), Ok("create"));
}

/// States from another provider's hands, or from an older version.
#[test]
fn a_state_without_private_bytes_is_no_change() {
    let world = World::default();
    let terraform = Terraform::new(provider(&world), Version::V6);
    let (mut object, inputs) =
        (None, value!({ name: "a", note: "x", parts: [{ key: "p" }], password: "pw" }));
    terraform.run(TYPE, &mut object, Some(&inputs)).unwrap();
    for bytes in [&b""[..], b"{}", b"\xff", b"{\"trueup\":2}"] {
        object.as_mut().unwrap().private = bytes.into();
        assert_eq!(terraform.run(TYPE, &mut object, Some(&inputs)), Ok("no-op"), "{bytes:?}");
    }
    object.as_mut().unwrap().private = Default::default();
    let other = inputs.with_entry("note", value!("y"));
    assert_eq!(terraform.run(TYPE, &mut object, Some(&other)), Ok("update"));
}

/// A value of each attribute, or none. Version 5 has every attribute of a structure written.
fn thing(version: Version) -> impl Strategy<Value = Value> {
    let text = || prop::sample::select(vec!["", "a", "b", "ü"]).prop_map(Value::from);
    let part = move || {
        (text(), (optional(0_u64..3), optional(text()))).prop_map(move |(key, (port, decided))| {
            let (port, decided) = (port.map(Value::from), decided);
            let entries = [("key", Some(key)), ("port", port), ("decided", decided)];
            let written = |(name, value): (&'static str, Option<Value>)| match (value, version) {
                (Some(value), _) => Some((name, value)),
                (None, Version::V5) => Some((name, Value::NULL)),
                (None, Version::V6) => None,
            };
            Value::object(entries.into_iter().filter_map(written).collect::<Vec<_>>())
        })
    };
    let parts = move || prop::collection::vec(part(), 0..3);
    let plain = (optional(text()), optional(Just(value!("large"))), optional(0_u64..3), optional(0_u64..3));
    let keyed = prop::collection::btree_map(prop::sample::select(vec!["k", "l"]), part(), 0..3)
        .prop_map(|all| Value::map(all.into_iter().collect::<Vec<_>>()));
    let tags = prop::collection::btree_map(prop::sample::select(vec!["k", "l"]), text(), 0..3)
        .prop_map(|all| Value::map(all.into_iter().collect::<Vec<_>>()));
    let grid = prop::collection::vec(parts().prop_map(Value::list), 0..2).prop_map(Value::list);
    let nested = (
        optional(tags),
        optional(parts().prop_map(Value::list)),
        optional(keyed),
        optional(parts().prop_map(Value::set)),
        optional(grid),
        optional(parts().prop_map(Value::list)),
        optional(part()),
    );
    let secrets = (optional(text()), optional(text()));
    (prop::sample::select(vec!["a", "b"]), plain, nested, secrets).prop_map(
        |(name, plain, nested, secrets)| {
            let (note, size, chosen, silent) = plain;
            let (tags, parts, by_key, several, grid, rule, single) = nested;
            let entries = [
                ("name", Some(name.into())),
                ("note", note),
                ("size", size),
                ("chosen", chosen.map(Value::from)),
                ("silent", silent.map(Value::from)),
                ("tags", tags),
                ("parts", parts),
                ("by_key", by_key),
                ("several", several),
                ("grid", grid),
                ("rule", rule),
                ("single", single),
                ("password", secrets.0),
                ("token", secrets.1),
            ];
            Value::object(
                entries.into_iter().filter_map(|(name, value)| Some((name, value?))).collect::<Vec<_>>(),
            )
        },
    )
}

/// Whatever a program writes, plans are valid, objects are as planned, and a second run has nothing to do.
/// SERVE-3.
#[test]
fn any_life_keeps_to_terraforms_rules() {
    for version in [Version::V5, Version::V6] {
        let config = Config { cases: sized(60, 1_000), failure_persistence: None, ..Config::default() };
        let lives = prop::collection::vec(thing(version), 1..4);
        let outcome = TestRunner::new(config).run(&lives, |lives| {
            live(version, &lives);
            Ok(())
        });
        outcome.unwrap();
    }
}
