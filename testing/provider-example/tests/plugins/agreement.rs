//! The same life three times: under Terraform, under trueup with the plugin, and under trueup with the types themselves.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value as Json;
use trueup_core::{Entries, JsonForm, Value, value};
use trueup_test_servers::sized;

use super::driver::{Terraform, told, trimmed};
use super::engine::{Engine, Way};

/// The files of a board.
fn objects_in(folder: &Path) -> BTreeMap<String, Json> {
    let read = |entry: std::fs::DirEntry| {
        let json = serde_json::from_slice(&std::fs::read(entry.path()).unwrap()).unwrap();
        (entry.file_name().to_string_lossy().into_owned(), json)
    };
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(read).collect()
}

/// A life of one resource: the configurations it has one after another, and last none.
fn check(kind: &str, lives: &[Value]) {
    let Some(terraform) = Terraform::find("notes", &super::binary()) else { return };
    let (native, plugin) = (Engine::new(Way::Native), Engine::new(Way::Plugin));
    for inputs in lives.iter().map(Some).chain([None]) {
        let label = format!("{kind} {inputs:?} of {lives:?}");
        terraform.write_one(kind, inputs);
        let planned = terraform.plan().unwrap_or_else(|error| panic!("{label}\n{error}"));
        for engine in [&native, &plugin] {
            let label = format!("{:?} {label}", engine.way);
            let program = engine.program(kind, inputs);
            let plan = engine.plan(&program).unwrap_or_else(|error| panic!("{label}\n{error}"));
            let ours = told(&plan);
            assert_eq!(ours.action, planned.action, "{label}");
            assert_eq!(ours.replacing, planned.replacing, "{label}");
            match engine.way {
                Way::Plugin => {
                    assert_eq!(trimmed(&ours.after), trimmed(&planned.after), "{label}");
                    assert_eq!(trimmed(&ours.unknown), trimmed(&planned.unknown), "{label}");
                }
                // Outputs alone: inputs are no part of them.
                Way::Native => {
                    check_outputs(plan.actions.first().map(|it| &it.outputs), &planned.after, &label);
                }
            }
            engine.deploy(&program).unwrap_or_else(|error| panic!("{label}\n{error}"));
        }
        terraform.apply().unwrap_or_else(|error| panic!("{label}\n{error}"));
        let objects = objects_in(&terraform.objects());
        let state = terraform.values().remove(&format!("notes_{kind}.x")).unwrap_or_default();
        for engine in [&native, &plugin] {
            assert_eq!(objects_in(&engine.objects()), objects, "{:?} {label}", engine.way);
            check_outputs(engine.outputs().as_ref(), &state, &label);
        }
        // Nothing is left to be done, and nothing differs on a second look.
        terraform.write_one(kind, inputs);
        let again = terraform.plan().unwrap_or_else(|error| panic!("{label}\n{error}"));
        assert!(matches!(again.action.as_str(), "no-op" | ""), "{label}: {again:?}");
    }
}

/// Known outputs of ours are what Terraform has under their names.
fn check_outputs(outputs: Option<&Value>, theirs: &Json, label: &str) {
    for (name, value) in outputs.and_then(Value::as_entries).into_iter().flat_map(Entries::iter) {
        if value.is_wholly_known() && !theirs.is_null() {
            let ours = plain(value);
            assert_eq!(trimmed(&ours), trimmed(&theirs[name.as_str()]), "{name} {label}");
        }
    }
}

fn plain(value: &Value) -> Json {
    serde_json::from_str(&value.to_json(JsonForm::BARE)).unwrap()
}

/// SERVE-2.
#[test]
fn notes_live_alike() {
    let task = |text: &str, done: bool| value!({ text: text, done: done });
    let lives = [
        value!({ title: "one", body: "hello" }),
        value!({ title: "one", body: "hello", color: "yellow", tasks: [{ text: "wash" }] }),
        value!({ title: "one", body: "bye", color: "blue", labels: { "a": "1" } }),
        value!({ title: "one", body: "bye", pin: "1234", tasks: [(task("wash", true)), (task("dry", false))] }),
        value!({ title: "two", body: "bye", pin: "1234" }),
        value!({ title: "two", body: "bye", place: 7 }),
        value!({ title: "two", body: "bye" }),
        value!({ title: "two", body: "" }),
    ];
    check("note", &lives[..lives.len().min(sized(4, usize::MAX))]);
}

/// The provider chooses a place again, which nobody knows before apply.
///
/// SERVE-2.
#[test]
fn a_choice_that_is_left_open_again_replaces() {
    check("note", &[value!({ title: "one", body: "", place: 7 }), value!({ title: "one", body: "" })]);
}

/// SERVE-2.
#[test]
fn shelves_live_alike() {
    let lives = [
        value!({ name: "top", notes: ["one", "two"] }),
        value!({ name: "top", notes: ["two"], heading: "Two" }),
        value!({ name: "bottom", heading: "Two" }),
        value!({ name: "bottom" }),
        value!({ name: "bottom", notes: [] }),
    ];
    check("shelf", &lives[..lives.len().min(sized(3, usize::MAX))]);
}

/// A configuration of a note, with any of its optional attributes.
fn note() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(vec!["a", "b", "longer words", "ü", ""]);
    let task = (word(), prop::option::of(any::<bool>()));
    let labels = prop::collection::btree_map(prop::sample::select(vec!["k", "l"]), word(), 0..3);
    let drawn = (
        prop::sample::select(vec!["one", "two"]),
        word(),
        prop::option::of(prop::sample::select(vec!["yellow", "blue", "pink"])),
        // The provider's own choice is 0. That number written down is no change that Terraform could show.
        prop::option::of(1_u64..4),
        prop::option::of(labels),
        prop::option::of(prop::collection::vec(task, 0..3)),
        prop::option::of(word()),
    );
    drawn.prop_map(|(title, body, color, place, labels, tasks, pin)| {
        let task = |(text, done): (&str, Option<bool>)| match done {
            Some(done) => value!({ text: text, done: done }),
            None => value!({ text: text }),
        };
        let texts = |all: BTreeMap<&str, &str>| {
            Value::object(all.into_iter().map(|(key, text)| (key, Value::from(text))).collect::<Vec<_>>())
        };
        let entries = [
            ("title", Some(value!(title))),
            ("body", Some(value!(body))),
            ("color", color.map(Value::from)),
            ("place", place.map(Value::from)),
            ("labels", labels.map(texts)),
            ("tasks", tasks.map(|tasks| Value::list(tasks.into_iter().map(task)))),
            ("pin", pin.map(Value::from)),
        ];
        Value::object(
            entries.into_iter().filter_map(|(name, value)| Some((name, value?))).collect::<Vec<_>>(),
        )
    })
}

/// A configuration of a shelf.
fn shelf() -> impl Strategy<Value = Value> {
    let title = prop::sample::select(vec!["one", "two", "three"]);
    let notes = prop::option::of(prop::collection::btree_set(title, 0..3));
    let heading = prop::option::of(prop::sample::select(vec!["", "Heading"]));
    (prop::sample::select(vec!["top", "bottom"]), notes, heading).prop_map(|(name, notes, heading)| {
        let entries = [
            ("name", Some(value!(name))),
            ("notes", notes.map(|notes| Value::list(notes.into_iter().map(Value::from)))),
            ("heading", heading.map(Value::from)),
        ];
        Value::object(
            entries.into_iter().filter_map(|(name, value)| Some((name, value?))).collect::<Vec<_>>(),
        )
    })
}

fn run(kind: &str, configuration: impl Strategy<Value = Value>) {
    let config = Config { cases: sized(1, 40), failure_persistence: None, ..Config::default() };
    let lives = prop::collection::vec(configuration, 1..=sized(2, 5));
    let outcome = TestRunner::new(config).run(&lives, |lives| {
        check(kind, &lives);
        Ok(())
    });
    outcome.unwrap();
}

/// SERVE-2.
#[test]
fn notes_of_any_configuration_live_alike() {
    run("note", note());
}

/// SERVE-2.
#[test]
fn shelves_of_any_configuration_live_alike() {
    run("shelf", shelf());
}
