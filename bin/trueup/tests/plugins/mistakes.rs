//! Mistakes in programs with Terraform's providers, told with their places.

use crate::plugins::bench::Bench;

/// What a plan says is wrong, as it stands on the screen.
fn wrong(text: &str) -> String {
    let bench = Bench::new(6);
    bench.write_configured(text);
    let told = bench.run("plan");
    assert_eq!(told.code, 1, "{}", told.out);
    told.err
}

/// PLAN-11, CRUD-11
#[test]
fn mistakes_are_held_against_the_schema_and_told_at_their_places() {
    insta::assert_snapshot!(wrong(
        r#"resource "fixture_thing" "a" {
  nam  = "x"
  size = "many"
  tagz {
    x = 1
  }
}

resource "fixture_thingy" "b" {
  name = "x"
}

resource "fixture_nest" "c" {
  name = "x"
  several {
    kye = "x"
  }
}

output "o" {
  value = fixture_thing.a.serail
}
"#
    ));
}

/// What the provider itself has to say stands at the attribute that it is about.
#[test]
fn the_words_of_a_provider_stand_at_the_attribute() {
    insta::assert_snapshot!(wrong(
        "resource \"fixture_thing\" \"a\" {\n  size = 1\n  name = \"has/slash\"\n}\n"
    ));
    let bench = Bench::new(6);
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"has/slash\"\n}\n");
    let told = bench.failed("validate");
    assert!(told.contains("slashes") && told.contains("main.tf:12:10"), "{told}");
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"fine\"\n}\n");
    bench.done("validate");
}

#[test]
fn sources_versions_and_aliases_are_checked() {
    let bench = Bench::new(6);
    for (text, why) in [
        ("x = { source = \"a/b/c/d\" }", "more than three parts"),
        ("x = { source = \"b\", version = \"newest\" }", "this is no version constraint"),
        ("x = { sauce = \"a/b\" }", "did you mean `source`?"),
        ("x = { source = \"a/b\", configuration_aliases = [y.z] }", "`y.z` is no configuration of `x`"),
        ("x = 5", "a required provider is an object"),
    ] {
        bench
            .folder
            .write("main.tf", &format!("terraform {{\n  required_providers {{\n    {text}\n  }}\n}}\n"));
        let told = bench.failed("plan");
        assert!(told.contains(why), "{text}: {told}");
    }
    for (text, why) in [
        (
            "resource \"fixture_thing\" \"a\" {\n  provider = fixture.west\n  name = \"a\"\n}",
            "there is no provider `fixture6.west`",
        ),
        ("provider \"fixture\" {\n  alias = \"w\"\n  foldr = \"x\"\n}", "did you mean `folder`?"),
        ("provider \"fixture\" {\n  alias = \"w\"\n}", "missing attribute `folder` in provider"),
        ("provider \"fixture\" {\n  folder = \"x\"\n}", "is configured twice"),
        ("resource \"nobody_thing\" \"a\" {}", "registry.terraform.io/hashicorp/nobody"),
        ("resource \"sdt_file\" \"a\" {}", "did you mean the built-in provider `std`?"),
    ] {
        bench.write_configured(text);
        let told = bench.failed("plan");
        assert!(told.contains(why), "{text}: {told}");
    }
}

#[test]
fn what_a_module_expects_and_gets_is_checked() {
    let bench = Bench::new(6);
    let module = |text: &str| bench.folder.write("m/main.tf", text);
    let required = "terraform {\n  required_providers {\n    fixture6 = {\n      source = \"example.com/trueup/fixture6\"\n      configuration_aliases = [fixture6.other]\n    }\n  }\n}\n";
    module(required);
    bench.write_configured("module \"m\" {\n  source = \"./m\"\n}\n");
    let told = bench.failed("plan");
    assert!(told.contains("module `m` expects the provider `fixture6.other`"), "{told}");
    bench.write_configured(
        "module \"m\" {\n  source = \"./m\"\n  providers = {\n    fixture.other = fixture.nowhere\n  }\n}\n",
    );
    let told = bench.failed("plan");
    assert!(told.contains("there is no provider `fixture6.nowhere`"), "{told}");
    module("provider \"fixture6\" {\n  folder = \"own\"\n}\n");
    bench.write_configured("module \"m\" {\n  source = \"./m\"\n  count = 2\n}\n");
    let told = bench.failed("plan");
    assert!(told.contains("can have neither `count`, `for_each` nor `depends_on`"), "{told}");
    module("resource \"fixture6_thing\" \"a\" {\n  name = \"a\"\n}\n");
    bench.write_configured("module \"m\" {\n  source = \"./m\"\n}\n");
    let told = bench.failed("plan");
    assert!(told.contains("is of the provider") || told.contains("hashicorp/fixture6"), "{told}");
}
