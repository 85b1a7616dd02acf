//! Stack files that use a team's own types beside those of `trueup`, without a plugin.

use crate::commands::team;

const SITE: &str = r#"stack {
  name = "site"
}

variable "greeting" {
  default = "hello"
}

resource "std_file" "base" {
  path    = "base.txt"
  content = var.greeting
}

resource "test_file" "index" {
  for_each = toset(["a", "b"])
  path     = "${each.key}.txt"
  content  = std_file.base.content
}

resource "terraform_data" "size" {
  input = test_file.index["a"].size
}

output "size" {
  value = terraform_data.size.output
}
"#;

/// Own types have the whole life of built-in ones: schema, plan, deploy, drift, import and destroy.
#[test]
fn own_types_and_built_in_ones_are_one_stack() {
    let folder = team();
    folder.write("main.tu.hcl", SITE);
    folder.write("override.tf", "");
    assert!(folder.done("schema test_file").out.contains("Where it lies."));
    assert!(folder.done("plan --stage t").out.contains("Plan: 4 to create"));
    folder.done("deploy --stage t --yes");
    assert_eq!((folder.read("a.txt"), folder.read("base.txt")), ("hello".to_owned(), "hello".to_owned()));
    assert_eq!(folder.done("output --raw size").out, "5");
    folder.write("a.txt", "edited");
    assert!(folder.done("plan").out.contains("\"hello\" ← \"edited\""));
    folder.done("deploy --yes --var greeting=hi");
    assert_eq!(folder.read("b.txt"), "hi");
    folder.done("state rm test_file.index[\"a\"] --yes");
    folder.done("import test_file.index[\"a\"] a.txt --yes --var greeting=hi");
    for _ in 0..2 {
        folder.done("destroy --yes");
        assert!(!folder.has("a.txt") && !folder.has("base.txt"));
        assert_eq!(folder.json("output --json"), serde_json::json!({}));
    }
}

/// Mistakes in own types are reported in the text, as any others.
#[test]
fn mistakes_in_own_types_have_their_place() {
    let folder = team();
    folder.write("main.tf", "resource \"test_file\" \"a\" {\n  path = \"a.txt\"\n  contnet = 1\n}\n");
    let told = folder.run("validate");
    assert!(told.code == 1 && told.err.contains("main.tf:3") && told.err.contains("`content`"), "{told:?}");
    folder.write("main.tf", "resource \"test_fil\" \"a\" {}\n");
    assert!(folder.run("plan").err.contains("did you mean `test_file`?"));
}
