//! Providers as programs speak of them: sources, aliases, modules, late configuration, functions.

use crate::plugins::bench::{Bench, versions};

#[test]
fn each_alias_is_a_configuration_of_its_own() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write(
            r#"
provider "fixture" {
  folder = "objects"
}

provider "fixture" {
  alias  = "west"
  folder = "west"
}

resource "fixture_thing" "here" {
  name = "same"
}

resource "fixture_thing" "there" {
  provider = fixture.west
  name     = "same"
}

data "fixture_thing" "there" {
  provider   = fixture.west
  name       = "same"
  depends_on = [fixture_thing.there]
}

output "there" {
  value = data.fixture_thing.there.id
}
"#,
        );
        bench.done("deploy --yes");
        assert_eq!((bench.objects().len(), bench.objects_in("west").len()), (1, 1));
        assert_eq!(bench.done("output there").out.trim(), "\"same\"");
        bench.done("destroy --yes");
        assert_eq!((bench.objects().len(), bench.objects_in("west").len()), (0, 0));
    }
}

/// DELETE-11: an orphan is deleted with the configuration that created it.
#[test]
fn what_an_alias_made_that_is_gone_is_deleted_where_it_is() {
    let bench = Bench::new(6);
    let west = "provider \"fixture\" {\n  alias = \"west\"\n  folder = \"west\"\n}\n";
    bench.write(&format!(
        "{west}resource \"fixture_thing\" \"a\" {{\n  provider = fixture.west\n  name = \"a\"\n}}\n"
    ));
    bench.done("deploy --yes");
    bench.write("");
    bench.done("deploy --yes");
    assert!(bench.objects_in("west").is_empty());
}

#[test]
fn modules_inherit_are_passed_and_have_configurations() {
    for version in versions() {
        let bench = Bench::new(version);
        let required = |aliases: &str| {
            bench.named(&format!(
                "terraform {{\n  required_providers {{\n    fixture = {{\n      source = \"example.com/trueup/fixture\"\n{aliases}    }}\n  }}\n}}\n"
            ))
        };
        let thing = "resource \"fixture_thing\" \"a\" {\n  name = \"in-module\"\n}\n";
        bench.folder.write("inherits/main.tf", &(required("") + &bench.named(thing)));
        let other =
            "resource \"fixture_thing\" \"a\" {\n  provider = fixture.other\n  name = \"passed-in\"\n}\n";
        let expects = required("      configuration_aliases = [fixture.other]\n");
        bench.folder.write("passed/main.tf", &(expects + &bench.named(other)));
        let own = "variable \"folder\" {}\nprovider \"fixture\" {\n  folder = var.folder\n}\n";
        bench.folder.write("own/main.tf", &(required("") + &bench.named(own) + &bench.named(thing)));
        let root = |text: &str| {
            bench.write(&format!(
                "provider \"fixture\" {{\n  folder = \"objects\"\n}}\n\
                 provider \"fixture\" {{\n  alias = \"west\"\n  folder = \"west\"\n}}\n{text}"
            ));
        };
        let inherits = "module \"inherits\" {\n  source = \"./inherits\"\n}\n";
        let usual = "module \"usual\" {\n  source = \"./inherits\"\n  providers = {\n    fixture = fixture.west\n  }\n}\n";
        let own = "module \"own\" {\n  source = \"./own\"\n  folder = \"own-objects\"\n}\n";
        root(&format!("{inherits}{usual}{own}"));
        bench.done("deploy --yes");
        for folder in ["objects", "west", "own-objects"] {
            assert_eq!(bench.objects_in(folder).len(), 1, "{folder}");
        }
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        root(
            "module \"passed\" {\n  source = \"./passed\"\n  providers = {\n    fixture.other = fixture.west\n  }\n}\n",
        );
        // What the module's own configuration made is deleted by it, though it is gone.
        bench.done("deploy --yes");
        assert_eq!((bench.objects().len(), bench.objects_in("west").len()), (0, 1));
        assert!(bench.objects_in("own-objects").is_empty());
        bench.done("destroy --yes");
        assert_eq!((bench.objects_in("own-objects").len(), bench.objects_in("west").len()), (0, 0));
    }
}

/// A configuration may come from what another resource gives: then nothing is looked at before that is there.
#[test]
fn a_configuration_may_be_known_late() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write(
            r#"
resource "terraform_data" "folder" {
  input = "objects"
}

provider "fixture" {
  folder = terraform_data.folder.output
}

resource "fixture_thing" "a" {
  name = "a"
}
"#,
        );
        bench.done("deploy --yes");
        assert_eq!(bench.objects().len(), 1);
        assert!(bench.actions().is_empty(), "{:?}", bench.actions());
        bench.done("destroy --yes");
        assert!(bench.objects().is_empty());
    }
}

#[test]
fn functions_of_providers_are_called() {
    for version in versions() {
        let bench = Bench::new(version);
        bench.write(
            r#"
output "reversed" {
  value = provider::fixture::reverse("abc")
}

output "sum" {
  value = provider::fixture::sum(1, 2, "3")
}
"#,
        );
        bench.done("deploy --yes");
        assert_eq!(bench.done("output reversed").out.trim(), "\"cba\"");
        assert_eq!(bench.done("output sum").out.trim(), "6");
        for (call, why) in [
            ("provider::fixture::reverse()", "it takes 1 arguments, and there are 0"),
            ("provider::fixture::revers(\"a\")", "did you mean `reverse`?"),
            ("provider::fixture::sum(\"many\")", "`numbers`"),
            ("provider::fixture::reverse(null)", "must not be null"),
            ("provider::nobody::reverse(\"a\")", "hashicorp/nobody"),
        ] {
            bench.write(&format!("output \"x\" {{\n  value = {call}\n}}\n"));
            let told = bench.failed("plan");
            assert!(told.contains(why), "{call}: {told}");
        }
    }
}

/// A local name may be any; what counts is the source.
#[test]
fn a_provider_may_have_another_name_here() {
    let bench = Bench::new(6);
    bench.folder.write(
        "main.tf",
        r#"
terraform {
  required_providers {
    mine = {
      source = "example.com/trueup/fixture6"
    }
  }
}

provider "mine" {
  folder = "objects"
}

resource "fixture6_thing" "a" {
  provider = mine
  name     = "a"
}
"#,
    );
    bench.done("deploy --yes");
    assert_eq!(bench.objects().len(), 1);
    assert!(bench.actions().is_empty(), "{:?}", bench.actions());
    bench.done("destroy --yes");
    assert!(bench.objects().is_empty());
}

/// What modules say of themselves goes along with the calls for what is in them.
#[test]
fn modules_tell_the_provider_of_themselves() {
    for version in versions() {
        let bench = Bench::new(version);
        let required = bench.named(
            "terraform {\n  required_providers {\n    fixture = { source = \"example.com/trueup/fixture\" }\n  }\n}\n",
        );
        let module = "terraform {\n  provider_meta \"fixture\" {\n    module_name = \"inner\"\n  }\n}\n\
                      resource \"fixture_thing\" \"b\" {\n  name = \"b\"\n}\n";
        bench.folder.write("inner/main.tf", &(required + &bench.named(module)));
        let root = "resource \"fixture_thing\" \"a\" {\n  name = \"a\"\n}\n\
                    data \"fixture_thing\" \"a\" {\n  name = fixture_thing.a.name\n}\n\
                    module \"inner\" {\n  source = \"./inner\"\n}\n";
        let meta = |body: &str| {
            format!("terraform {{\n  provider_meta \"fixture\" {{\n    {body}\n  }}\n}}\n{root}")
        };
        bench.write_configured(&meta("module_name = \"outer\""));
        bench.done("deploy --yes");
        let log = || std::fs::read_to_string(bench.folder.path().join("objects/meta.log")).unwrap();
        for line in ["plan outer", "apply outer", "data outer", "plan inner", "apply inner"] {
            assert!(log().contains(&format!("{line}\n")), "{line}: {}", log());
        }
        bench.done("plan");
        assert!(log().contains("read outer\n") && log().contains("read inner\n"), "{}", log());
        std::fs::remove_file(bench.folder.path().join("objects/meta.log")).unwrap();
        bench.done("destroy --yes");
        assert!(log().contains("apply outer\n") && log().contains("apply inner\n"), "{}", log());
        for (body, why) in [
            ("nodule_name = \"x\"", "did you mean `module_name`?"),
            ("module_name = terraform.workspace", "`provider_meta` takes no references"),
            ("module_name = upper(\"x\")", "`provider_meta` takes no references and calls no functions"),
            ("module_name = [1]", "module_name"),
        ] {
            bench.write_configured(&meta(body));
            let told = bench.failed("plan");
            assert!(told.contains(why), "{body}: {told}");
        }
        bench.write(
            "terraform {\n  provider_meta \"terraform\" {\n    x = 1\n  }\n}\nresource \"terraform_data\" \"a\" {}\n",
        );
        let told = bench.failed("plan");
        assert!(told.contains("the provider `terraform` takes no `provider_meta`"), "{told}");
    }
}
