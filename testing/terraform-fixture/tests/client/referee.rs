//! Terraform itself as referee: it drives the same provider through the same configurations, and plans and objects must
//! come out alike.
//!
//! Where there is no `terraform` on the path, the test says so and passes.

use trueup_core::{Value, value};
use trueup_test_servers::sized;

use crate::bench::{Bench, Fixture, objects_in};
use crate::terraform::{Terraform, told, trimmed};

/// A life of one resource: the configurations it has one after another, and last none.
fn check(fixture: Fixture, kind: &str, lives: &[Value]) {
    let Some(terraform) = Terraform::find(&fixture.name(), &fixture.program()) else { return };
    let bench = Bench::new(fixture);
    for inputs in lives.iter().map(Some).chain([None]) {
        terraform.write_one(kind, inputs);
        let program = match inputs {
            Some(inputs) => bench.one(kind, inputs.clone()),
            None => bench.program([]),
        };
        let label = format!("{fixture:?} {kind} {inputs:?}");
        match (terraform.plan(), bench.try_plan(&program).map(|plan| told(&plan))) {
            (Ok(theirs), Ok(ours)) => {
                assert_eq!(ours.action, theirs.action, "{label}");
                assert_eq!(ours.replacing, theirs.replacing, "{label}");
                assert_eq!(trimmed(&ours.unknown), trimmed(&theirs.unknown), "{label}");
                let (left, right) = (trimmed(&ours.after), trimmed(&theirs.after));
                assert_eq!(left, right, "{label}");
                let applied = terraform.apply();
                let deployed = bench.deploy(&program).succeeded();
                assert_eq!(applied.is_ok(), deployed, "{label}: {applied:?}");
            }
            (Err(theirs), Err(ours)) => {
                // Both refuse, each in its own words; the provider's words are in both.
                let words = |text: &str| text.contains("As was asked for") || text.contains("has no slashes");
                assert!(words(&ours) == words(&theirs), "{label}\n{ours}\n{theirs}");
            }
            (theirs, ours) => panic!("{label}\nterraform: {theirs:?}\ntrueup: {ours:?}"),
        }
        assert_eq!(bench.objects(), objects_in(&terraform.objects()), "{label}");
    }
}

fn things() -> Vec<Value> {
    vec![
        value!({ name: "one" }),
        value!({ name: "one", note: "x", tags: { "a": "1" }, labels: ["b", "a"] }),
        value!({ name: "one", size: 12345678901234567890_u64, steps: [1, 2], enabled: false }),
        value!({ name: "two", place: { city: "Bern", floor: 3 }, pair: ["x", true] }),
        value!({ name: "two", password_wo: "abc", password_version: 1 }),
        value!({ name: "two", trouble: "fail-plan" }),
        value!({ name: "t/wo" }),
        value!({ name: "two", trouble: "partial" }),
        value!({ name: "two", trouble: "fail-update", note: "y" }),
        value!({ name: "two" }),
        value!({ name: "three", trouble: "partial" }),
        value!({ name: "three" }),
        value!({ name: "four", trouble: "inconsistent" }),
        value!({ name: "four", trouble: "bad-plan" }),
        value!({ name: "four", trouble: "fail-delete" }),
        value!({ name: "four" }),
    ]
}

fn nests() -> Vec<Value> {
    vec![
        value!({ name: "n" }),
        value!({ name: "n", single: { key: "s", inner: [{ key: "i" }] } }),
        value!({ name: "n", several: [{ key: "1" }, { key: "2", decided: "mine" }] }),
        value!({ name: "n", several: [{ key: "2" }, { key: "1", inner: [{ key: "i" }] }] }),
        value!({ name: "n", unordered: [{ key: "b" }, { key: "a", value: "v" }] }),
        value!({ name: "n", unordered: [{ key: "c" }, { key: "a", value: "v" }] }),
        value!({ name: "n", labelled: { x: { key: "lx" } }, group: { value: "g" } }),
        value!({ name: "n", labelled: { y: { key: "ly" }, x: { key: "lx", inner: [{ key: "i" }] } } }),
        value!({ name: "m" }),
    ]
}

fn opens() -> Vec<Value> {
    vec![
        value!({ name: "o", value: "text" }),
        value!({ name: "o", value: { a: [1, "x"], b: true } }),
        value!({ name: "o", value: (trueup_core::Number::try_from(1.5).unwrap()), entry: [{ key: "e1", value: "text" }, { key: "e2", value: [1, 2] }] }),
        value!({ name: "o", field: { f: { key: "f1", value: 5 } } }),
    ]
}

fn trees() -> Vec<Value> {
    vec![
        value!({ name: "t" }),
        value!({ name: "t", one: { key: "one", leaf: { key: "leaf" } }, maybe: { key: "own" } }),
        value!({ name: "t", one: { key: "one" }, many: [{ key: "m1" }, { key: "m2", value: "v" }] }),
        value!({ name: "t", many: [{ key: "m2" }], some: [{ key: "s1" }, { key: "s2" }] }),
        value!({ name: "t", some: [{ key: "s2" }, { key: "s3" }], named: { n: { key: "named" } } }),
        value!({ name: "t", named: { n: { key: "named", value: "v" }, o: { key: "other" } } }),
    ]
}

/// In the ordinary run the first configurations alone.
fn shortened(configurations: &[Value]) -> &[Value] {
    &configurations[..configurations.len().min(sized(2, usize::MAX))]
}

#[test]
fn things_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "thing", shortened(&things()));
}

#[test]
fn things_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "thing", shortened(&things()));
}

#[test]
fn nests_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "nest", shortened(&nests()));
}

#[test]
fn nests_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "nest", shortened(&nests()));
}

#[test]
fn opens_of_version_5_come_out_as_terraforms() {
    check(Fixture(5), "open", shortened(&opens()));
}

#[test]
fn opens_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "open", shortened(&opens()));
}

#[test]
fn trees_of_version_6_come_out_as_terraforms() {
    check(Fixture(6), "tree", shortened(&trees()));
}
