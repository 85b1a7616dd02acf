//! Files: JSON, overrides, encodings, functions that read.

use crate::stacks::bench::{Bench, stack};

#[test]
fn json_says_the_same_as_the_native_syntax() {
    let bench = Bench::new([(
        "main.tf.json",
        r#"{
          "variable": { "who": { "default": "world" } },
          "locals": { "greeting": "hello ${var.who}" },
          "resource": { "terraform_data": {
            "a": { "input": "${local.greeting}", "lifecycle": { "ignore_changes": ["triggers_replace"] } },
            "b": { "count": 2, "input": "${terraform_data.a.output}!", "depends_on": ["terraform_data.a"] }
          } },
          "output": { "all": { "value": "${terraform_data.b[*].output}" } }
        }"#,
    )]);
    insta::assert_snapshot!(bench.output("all"), @r#"["hello world!", "hello world!"]"#);
}

#[test]
fn override_files_change_what_others_declare() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            variable "size" { default = 1 }
            locals { name = "plain" }
            resource "terraform_data" "a" { input = "${local.name}-${var.size}" }
            output "a" { value = terraform_data.a.output }
            "#,
        ),
        ("size_override.tf", "variable \"size\" { default = 2 }\nlocals { name = \"other\" }"),
    ]);
    insta::assert_snapshot!(bench.output("a"), @r#""other-2""#);
    bench.write("override.tf", "variable \"nothing\" {}");
    assert!(bench.refused().contains("there is no variable \"nothing\" to override"));
}

#[test]
fn files_are_read_relative_to_their_module() {
    let bench = Bench::new([
        ("main.tf", "module \"m\" {\n source = \"./m\"\n}\noutput \"text\" { value = module.m.text }"),
        ("m/main.tf", "output \"text\" { value = templatefile(\"${path.module}/text.tpl\", { n = 3 }) }"),
        ("m/text.tpl", "%{ for i in range(n) }${i} %{ endfor }"),
    ]);
    insta::assert_snapshot!(bench.output("text"), @r#""0 1 2 ""#);
}

#[test]
fn a_folder_without_stack_files_says_what_to_do() {
    let refused = Bench::new([("readme.md", "")]).refused();
    assert!(refused.contains("there are no stack files in"), "{refused}");
    assert!(refused.contains("`.tu.hcl`"), "{refused}");
}

/// A folder of this size is read by several threads at once.
#[test]
fn a_large_folder_is_read_in_the_order_of_its_files() {
    let bench = Bench::new([]);
    let local = |file: &str, at: usize| format!("locals {{\n  {file}_{at} = \"{}\"\n}}\n", "x".repeat(1000));
    let text = |file: &str| (0..100).map(|at| local(file, at)).collect::<String>();
    let files = ["a", "b", "c", "d"];
    for file in files {
        bench.write(&format!("{file}.tf"), &text(file));
    }
    bench.write(
        "e.tf",
        "output \"length\" { value = length(join(\"\", [local.a_99, local.b_0, local.d_50])) }",
    );
    insta::assert_snapshot!(bench.output("length"), @"3000");
    for file in files {
        bench.write(&format!("{file}.tf"), &format!("{}\nlocals {{ {file} = }}", text(file)));
    }
    let refused = bench.refused();
    let places: Vec<usize> = files.iter().map(|file| refused.find(&format!("{file}.tf:")).unwrap()).collect();
    assert!(places.is_sorted(), "{refused}");
}

#[test]
fn terraform_settings_are_understood_or_refused() {
    let bench =
        stack("terraform {\n required_version = \">= 1.5\"\n backend \"s3\" {\n bucket = \"x\"\n }\n}");
    insta::assert_snapshot!(bench.warnings(), @r#"
    warning: `backend` is not used: it says where Terraform keeps its state
     --> main.tf:3:2
      |
    3 |  backend "s3" {
      |  ^^^^^^^^^^^^
      |
      = help: say where trueup keeps its own with `stack { state "sqlite" { … } }`

    1 warning
    "#);
    let refused = stack("terraform {\n required_version = \"< 1.0\"\n}").refused();
    assert!(refused.contains("the language here is 1.11"), "{refused}");
}

#[test]
fn json_overrides_native_syntax_and_is_overridden_by_it() {
    let bench = Bench::new([
        (
            "main.tf",
            "resource \"terraform_data\" \"a\" {\n input = 1\n lifecycle {\n prevent_destroy = true\n ignore_changes = [input]\n }\n}",
        ),
        (
            "a_override.tf.json",
            r#"{ "resource": { "terraform_data": { "a": { "//": "why", "input": 2, "lifecycle": { "prevent_destroy": false } } } } }"#,
        ),
        (
            "b_override.tf",
            "resource \"terraform_data\" \"b\" {\n lifecycle {\n prevent_destroy = false\n }\n}",
        ),
        (
            "other.tf.json",
            r#"{ "resource": { "terraform_data": { "b": { "input": 1, "lifecycle": { "//": "why", "prevent_destroy": true } } } } }"#,
        ),
    ]);
    let program = bench.program();
    assert!(program.resources.iter().all(|it| !it.options.protect));
    assert_eq!(program.resources[0].options.ignore_changes.len(), 1);
    insta::assert_snapshot!(program.resources[0].inputs.evaluate(&()).value, @"{ input = 2 }");
}

/// JSON has no comments but properties of this name.
#[test]
fn comments_may_stand_anywhere_in_json() {
    let bench = Bench::new([
        (
            "main.tf.json",
            r#"{
              "//": "c",
              "variable": { "x": { "//": "c", "default": 1 } },
              "module": { "m": { "//": "c", "source": "./m", "x": "${var.x}" } },
              "output": { "o": { "//": "c", "value": "${module.m.o}" } }
            }"#,
        ),
        ("m/main.tf.json", r#"{ "variable": { "x": {} }, "output": { "o": { "value": "${var.x}" } } }"#),
    ]);
    insta::assert_snapshot!(bench.output("o"), @"1");
}

/// PLANFILE-2: a plan stands on all that was read.
#[test]
fn files_that_functions_read_are_noted() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            locals {
              all   = fileset(path.module, "*.txt")
              there = fileexists("none.txt")
            }
            output "a" { value = [file("a.txt"), filemd5("b.txt"), templatefile("t.tpl", {}), local.all, local.there] }
            "#,
        ),
        ("a.txt", "a"),
        ("b.txt", "b"),
        ("t.tpl", "t"),
    ]);
    let noted = |bench: &Bench| (bench.build().expect("it is sound").premises)();
    let first = noted(&bench);
    let names: Vec<&str> = first.iter().map(|premise| premise.name.as_str()).collect();
    let expected =
        ["a.txt", "b.txt", "t.tpl", "the files \"*.txt\" in \".\"", "whether \"none.txt\" is there"];
    assert_eq!(names, expected);
    bench.write("a.txt", "changed");
    bench.write("c.txt", "new");
    let second = noted(&bench);
    let changed = first.iter().zip(&second).filter(|(before, after)| before != after);
    let changed: Vec<&str> = changed.map(|(before, _)| before.name.as_str()).collect();
    assert_eq!(changed, [expected[0], expected[3]]);
}

/// A provider block is known by its alias too.
#[test]
fn overrides_find_provider_blocks_by_their_alias() {
    let aliased = |folder: &str| format!("provider \"std\" {{\n alias = \"b\"\n folder = \"{folder}\"\n}}\n");
    let bench = Bench::new([
        ("main.tf", &format!("provider \"std\" {{\n folder = \"a\"\n}}\n{}", aliased("b"))),
        ("b_override.tf", &aliased("c")),
    ]);
    let folders = |bench: &Bench| {
        let config = |it: &trueup_program::ProviderDeclaration| it.config.evaluate(&()).value.to_string();
        bench.program().providers.iter().map(config).collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(folders(&bench), @r#"{ folder = "a" } { folder = "c" }"#);
    bench.write("a_override.tf.json", r#"{ "provider": { "std": { "folder": "d" } } }"#);
    insta::assert_snapshot!(folders(&bench), @r#"{ folder = "d" } { folder = "c" }"#);
    // The configuration without an alias is there without a block.
    bench.write("main.tf", &aliased("b"));
    insta::assert_snapshot!(folders(&bench), @r#"{ folder = "c" } { folder = "d" }"#);
    bench.write("main.tf", "");
    let refused = bench.refused();
    assert!(refused.contains("there is no provider \"std\" with the alias `b` to override"), "{refused}");
}

#[test]
fn versions_of_provider_blocks_count_and_are_deprecated() {
    let bench = stack("provider \"std\" {\n version = \"~> 1.2\"\n}\n");
    assert!(bench.warnings().contains("`version` in a provider block is deprecated"));
    let required = trueup_lang::StackFolder::read(bench.folder.path()).providers();
    assert_eq!(required.iter().filter_map(|it| it.versions.as_deref()).collect::<Vec<_>>(), ["~> 1.2"]);
    let refused = stack("provider \"std\" {\n version = \"latest\"\n}\n").refused();
    assert!(refused.contains("this is no version constraint"), "{refused}");
}

#[test]
fn providers_are_required_in_one_place() {
    let block = "terraform {\n required_providers {\n std = {}\n }\n}\n";
    let refused = Bench::new([("a.tf", block), ("b.tf", block)]).refused();
    assert!(refused.contains("`required_providers` stands twice in this module"), "{refused}");
    assert!(refused.contains("b.tf:2"), "{refused}");
    Bench::new([("a.tf", block), ("b_override.tf", block)]).program();
}
