//! Objects that exist already.

use crate::plugins::bench::{Bench, versions};

/// An object that nobody recorded.
fn orphaned(version: u8) -> Bench {
    let bench = Bench::new(version);
    bench.write_configured("resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n  note = \"kept\"\n}\n");
    bench.done("deploy --yes");
    bench.done(&bench.named("state rm fixture_thing.a --yes"));
    bench
}

const THING: &str = "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n  note = \"kept\"\n}\n";

/// ADOPT-7
#[test]
fn an_import_block_takes_an_object_over_by_its_id_or_identity() {
    for version in versions() {
        for by in ["id = \"a\"", "identity = { name = \"a\" }"] {
            let bench = orphaned(version);
            bench.write_configured(&format!("{THING}import {{\n  to = fixture_thing.a\n  {by}\n}}\n"));
            assert_eq!(bench.action("fixture_thing.a"), "update", "{by}");
            bench.done("deploy --yes");
            assert_eq!(bench.object("thing/a")["serial"], 1, "it was not touched");
            assert!(bench.actions().is_empty());
        }
    }
}

#[test]
fn the_import_command_takes_an_object_over() {
    for version in versions() {
        let bench = orphaned(version);
        bench.done(&bench.named("import fixture_thing.a a --yes"));
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
    }
}

#[test]
fn what_cannot_be_imported_is_told() {
    for version in versions() {
        let bench = Bench::new(version);
        let import = |by: &str| {
            bench.write_configured(&format!("{THING}import {{\n  to = fixture_thing.a\n  {by}\n}}\n"));
        };
        import("id = \"nobody\"");
        let told = bench.failed("plan");
        assert!(told.contains("nobody"), "{told}");
        import("identity = { nam = \"a\" }");
        let told = bench.failed("plan");
        assert!(told.contains("that takes `name`"), "{told}");
        import("id = \"a\"\n  identity = { name = \"a\" }");
        let told = bench.failed("plan");
        assert!(told.contains("`id` and `identity` cannot stand together"), "{told}");
        import("id = \"a\"\n  provider = fixture.west");
        let told = bench.failed("plan");
        assert!(told.contains("is managed by the provider"), "{told}");
    }
}
