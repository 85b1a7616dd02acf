//! The life of resources of a Terraform provider: made, changed, replaced, drifted, moved, read, destroyed.

use serde_json::json;

use crate::plugins::bench::{Bench, versions};

/// PLAN-1, APPLY-1, REPLACE-1, DELETE-4
#[test]
fn a_resource_lives_from_plan_to_destroy() {
    for version in versions() {
        let bench = Bench::new(version);
        let thing = |body: &str| {
            bench.write_configured(&format!("resource \"fixture_thing\" \"a\" {{\n{body}\n}}\n"));
        };
        thing("  name = \"a\"\n  tags = { x = \"1\" }");
        assert_eq!(bench.action("fixture_thing.a"), "create");
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/a")["tags"], json!({ "x": "1" }));
        assert_eq!(bench.actions().len(), 0, "what was deployed is as it should be");

        thing("  name = \"a\"\n  tags = { x = \"2\" }\n  note = \"changed\"");
        assert_eq!(bench.action("fixture_thing.a"), "update");
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/a")["note"], "changed");
        assert_eq!(bench.object("thing/a")["serial"], 2);

        bench.tamper("thing/a", "note", "by hand");
        assert_eq!(bench.action("fixture_thing.a"), "update");
        assert_eq!(bench.run("drift").code, 3);
        bench.done("deploy --yes");
        assert_eq!(bench.object("thing/a")["note"], "changed");

        thing("  name = \"b\"");
        assert_eq!(bench.action("fixture_thing.a"), "replace");
        let told = bench.done("plan").out;
        assert!(told.contains("name"), "{told}");
        bench.done("deploy --yes");
        assert_eq!(bench.objects().into_keys().collect::<Vec<_>>(), ["thing/b"]);

        bench.done("destroy --yes");
        assert!(bench.objects().is_empty());
    }
}

/// The providers of what is recorded are found though no program speaks of them.
#[test]
fn what_is_no_longer_declared_is_deleted_by_its_provider() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
        bench.done("deploy --yes");
        bench.write_configured("");
        assert_eq!(bench.action("fixture_thing.a"), "delete");
        bench.done("deploy --yes");
        assert!(bench.objects().is_empty());
    }
}

#[test]
fn data_sources_are_read_when_they_can_be() {
    for version in versions() {
        let bench = Bench::new(version);
        let program = |size: u8| {
            bench.write_configured(&format!(
                "resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n  size = {size}\n}}\n\
                 data \"fixture_thing\" \"d\" {{\n  name = fixture_thing.a.name\n}}\n\
                 output \"size\" {{\n  value = data.fixture_thing.d.size\n}}\n"
            ));
        };
        program(3);
        assert_eq!(bench.action("data.fixture_thing.d"), "read");
        bench.done("deploy --yes");
        assert_eq!(bench.done("output size").out.trim(), "3");
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        program(4);
        bench.done("deploy --yes");
        assert_eq!(bench.done("output size").out.trim(), "4");
        bench.write_configured("data \"fixture_thing\" \"d\" {\n  name = \"nobody\"\n}\n");
        let told = bench.failed("plan");
        assert!(told.contains("No such thing") && told.contains("There is no nobody."), "{told}");
    }
}

/// MOVE-1, PLAN-20
#[test]
fn a_resource_moves_to_another_name_and_another_type() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
        bench.done("deploy --yes");
        bench.write_configured(
            "resource \"fixture_thing\" \"b\" {\n  name = \"a\"\n}\n\
             moved {\n  from = fixture_thing.a\n  to = fixture_thing.b\n}\n",
        );
        bench.done("deploy --yes");
        assert_eq!(bench.objects().into_keys().collect::<Vec<_>>(), ["thing/a"]);
        bench.write_configured(
            "resource \"fixture_renamed\" \"b\" {\n  name = \"a\"\n}\n\
             moved {\n  from = fixture_thing.b\n  to = fixture_renamed.b\n}\n",
        );
        bench.done("deploy --yes");
        assert_eq!(bench.objects().into_keys().collect::<Vec<_>>(), ["renamed/a"]);
        assert!(bench.actions().is_empty());
    }
}

/// CRASH-2
#[test]
fn what_was_made_half_way_is_replaced() {
    for version in versions() {
        let bench = Bench::new(version);
        let thing = |trouble: &str| {
            bench.write_configured(&format!(
                "resource \"fixture_thing\" \"a\" {{\n  name = \"a\"\n{trouble}}}\n"
            ));
        };
        thing("  trouble = \"partial\"\n");
        let told = bench.failed("deploy --yes");
        assert!(told.contains("Made half-way") && told.contains("As was asked for."), "{told}");
        assert_eq!(bench.objects().len(), 1, "nothing is forgotten");
        thing("");
        assert_eq!(bench.action("fixture_thing.a"), "replace");
        bench.done("deploy --yes");
        assert!(bench.actions().is_empty());
    }
}

/// PLANFILE-1
#[test]
fn a_saved_plan_is_carried_out() {
    let bench = Bench::new(6);
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
    bench.done("plan --out the.plan");
    bench.done("deploy --yes the.plan");
    assert_eq!(bench.objects().len(), 1);
    assert!(bench.actions().is_empty());
}

#[test]
fn every_form_of_block_and_attribute_is_written_as_in_terraform() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write_configured(
            r#"
resource "fixture_nest" "n" {
  name = "n"
  single {
    key = "s"
    inner {
      key = "i"
    }
  }
  group {
    value = "g"
  }
  dynamic "several" {
    for_each = ["p", "q"]
    content {
      key = several.value
    }
  }
  unordered {
    key = "u"
  }
  labelled "one" {
    key = "l"
  }
}

resource "fixture_open" "o" {
  name  = "o"
  value = { list = [1, "two"], nothing = null }
  entry {
    key   = "e"
    value = true
  }
}
"#,
        );
        bench.done("deploy --yes");
        let nest = bench.object("nest/n");
        assert_eq!(nest["single"]["inner"][0]["key"], "i");
        assert_eq!((&nest["several"][0]["key"], &nest["several"][1]["key"]), (&json!("p"), &json!("q")));
        assert_eq!(nest["labelled"]["one"]["key"], "l");
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
    }
    let bench = Bench::new(6);
    bench.write_configured(
        r#"
resource "fixture_tree" "t" {
  name  = "t"
  one   = { key = "1", leaf = { key = "x" } }
  many  = [{ key = "a" }, { key = "b" }]
  some  = [{ key = "s" }]
  named = { n = { key = "k" } }
}
"#,
    );
    bench.done("deploy --yes");
    assert_eq!(bench.object("tree/t")["one"]["leaf"]["key"], "x");
    assert!(bench.actions().is_empty(), "{:?}", bench.actions());
}

/// The second run reads schemas from where the first one kept them, and starts no plugin for them.
#[test]
fn schemas_are_kept_from_run_to_run() {
    let bench = Bench::new(6);
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n");
    bench.done("schema fixture6_thing");
    let kept = bench.folder.path().join(".cache/trueup/schemas");
    let files = std::fs::read_dir(kept).unwrap().flatten();
    let files: Vec<String> = files.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    assert!(files.iter().any(|name| name.ends_with(".schemas")), "{files:?}");
    assert!(bench.done("schema fixture6_thing").out.contains("password_length"));
}
