//! `ignore_changes` and `replace_triggered_by` on resources of a Terraform provider.

use serde_json::json;

use crate::plugins::bench::{Bench, versions};

fn thing(bench: &Bench, body: &str, ignored: &str) {
    bench.write_configured(&format!(
        "resource \"fixture_thing\" \"a\" {{\n{body}\n  lifecycle {{\n    ignore_changes = {ignored}\n  }}\n}}\n"
    ));
}

/// PLAN-21: what is ignored has the value that the object has, whoever gave it.
#[test]
fn ignored_attributes_keep_what_the_object_has() {
    for version in versions() {
        let bench = Bench::new(version);
        thing(&bench, "  name = \"a\"\n  note = \"first\"\n  size = 1", "[note]");
        bench.done("deploy --yes");
        thing(&bench, "  name = \"a\"\n  note = \"second\"\n  size = 1", "[note]");
        assert!(bench.actions().is_empty(), "the program's change is ignored");
        bench.tamper("thing/a", "note", "by hand");
        assert!(bench.actions().is_empty(), "and so is a change by hand");
        thing(&bench, "  name = \"a\"\n  note = \"second\"\n  size = 2", "[note]");
        assert_eq!(bench.action("fixture_thing.a"), "update");
        bench.done("deploy --yes");
        let object = bench.object("thing/a");
        assert_eq!((&object["note"], &object["size"]), (&json!("by hand"), &json!(2)));
    }
}

/// PLAN-21: the provider judges what the program says, not what the object has instead.
#[test]
fn an_ignored_attribute_of_the_object_need_not_be_one_that_could_be_written() {
    for version in versions() {
        let bench = Bench::new(version);
        thing(&bench, "  name = \"a\"\n  size = 1", "[name]");
        bench.done("deploy --yes");
        bench.tamper("thing/a", "name", "by/hand");
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        thing(&bench, "  name = \"a\"\n  size = 2", "[name]");
        assert_eq!(bench.action("fixture_thing.a"), "update");
    }
}

/// PLAN-21: providers with the old type system plan something for what is ignored all the same.
#[test]
fn what_a_legacy_provider_plans_for_an_ignored_attribute_is_ignored() {
    for version in versions() {
        let bench = Bench::new(version);
        let legacy = |note: &str| {
            let lifecycle = "  lifecycle {\n    ignore_changes = [note]\n  }\n";
            bench.write_configured(&format!(
                "resource \"fixture_legacy\" \"a\" {{\n  name = \"a\"\n  note = \"{note}\"\n{lifecycle}}}\n"
            ));
        };
        legacy("first");
        bench.done("deploy --yes");
        bench.tamper("legacy/a", "note", "by hand");
        legacy("second");
        bench.done("deploy --yes");
        assert_eq!(bench.object("legacy/a")["note"], "by hand");
    }
}

#[test]
fn a_key_of_a_map_is_ignored_by_itself() {
    for version in versions() {
        let bench = Bench::new(version);
        thing(&bench, "  name = \"a\"\n  tags = { own = \"1\" }", "[tags[\"by_others\"]]");
        bench.done("deploy --yes");
        bench.tamper("thing/a", "tags", json!({ "own": "1", "by_others": "x" }));
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        bench.tamper("thing/a", "tags", json!({ "own": "2", "by_others": "x" }));
        assert_eq!(bench.action("fixture_thing.a"), "update");
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/a")["tags"], json!({ "own": "1", "by_others": "x" }));
    }
}

#[test]
fn with_all_ignored_nothing_changes_until_it_is_made_anew() {
    for version in versions() {
        let bench = Bench::new(version);
        thing(&bench, "  name = \"a\"\n  note = \"first\"", "all");
        bench.done("deploy --yes");
        thing(&bench, "  name = \"b\"\n  note = \"second\"", "all");
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        bench.done(&bench.named("deploy --yes --replace fixture_thing.a"));
        let objects = bench.objects();
        assert_eq!(objects.keys().collect::<Vec<_>>(), ["thing/b"]);
        assert_eq!(objects["thing/b"]["note"], "second");
    }
}

/// Nothing is ignored of a new object.
#[test]
fn a_replacement_takes_what_the_program_says() {
    for version in versions() {
        let bench = Bench::new(version);
        thing(&bench, "  name = \"a\"\n  note = \"first\"", "[note]");
        bench.done("deploy --yes");
        thing(&bench, "  name = \"b\"\n  note = \"second\"", "[note]");
        assert_eq!(bench.action("fixture_thing.a"), "replace");
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/b")["note"], "second");
    }
}

#[test]
fn a_change_elsewhere_triggers_a_replacement() {
    for version in versions() {
        let bench = Bench::new(version);
        let program = |note: &str| {
            bench.write_configured(&format!(
                "resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  note = \"{note}\"\n}}\n\
                 resource \"fixture_thing\" \"b\" {{\n  name = \"b\"\n  lifecycle {{\n    \
                 replace_triggered_by = [fixture_thing.a.note]\n  }}\n}}\n"
            ));
        };
        program("1");
        bench.done("deploy --yes");
        program("2");
        assert_eq!(bench.action("fixture_thing.b"), "replace");
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/b")["serial"], 1);
        assert!(bench.actions().is_empty());
    }
}
