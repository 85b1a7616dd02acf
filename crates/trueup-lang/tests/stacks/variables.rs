//! Variables: where they come from, and what they must be.

use crate::stacks::bench::{Bench, stack};
use trueup_front_end::GivenVariable;
use trueup_front_end::Purpose;

#[test]
fn later_places_win_over_earlier_ones() {
    let mut bench = Bench::new([
        (
            "main.tf",
            r#"
            variable "from" { default = "default" }
            output "from" { value = var.from }
            "#,
        ),
        ("more.tfvars", "from = \"file\""),
    ]);
    let mut places = vec![bench.output("from")];
    bench.variables.environment.push(("from".into(), "environment".into()));
    places.push(bench.output("from"));
    bench.write("terraform.tfvars", "from = \"terraform.tfvars\"");
    places.push(bench.output("from"));
    bench.write("terraform.tfvars.json", "{ \"from\": \"terraform.tfvars.json\" }");
    places.push(bench.output("from"));
    bench.write("a.auto.tfvars", "from = \"a.auto.tfvars\"");
    bench.write("b.auto.tfvars.json", "{ \"from\": \"b.auto.tfvars.json\" }");
    places.push(bench.output("from"));
    bench.write("stages/other.tfvars", "from = \"stages/other.tfvars\"");
    bench.write("stages/test.tfvars", "from = \"stages/test.tfvars\"");
    places.push(bench.output("from"));
    bench.variables.given.push(GivenVariable::Value { name: "from".into(), text: "--var".into() });
    places.push(bench.output("from"));
    bench.variables.given.push(GivenVariable::File(bench.folder.path().join("more.tfvars")));
    places.push(bench.output("from"));
    insta::assert_snapshot!(places.join(" < "), @r#""default" < "environment" < "terraform.tfvars" < "terraform.tfvars.json" < "b.auto.tfvars.json" < "stages/test.tfvars" < "--var" < "file""#);
}

#[test]
fn values_take_the_type_that_is_declared() {
    let bench = stack(
        r#"
        variable "list" { type = list(number) }
        variable "object" {
          type = object({ name = string, size = optional(number, 3), tags = optional(map(string)) })
          default = { name = "x" }
        }
        variable "flag" { type = bool }
        variable "text" {}
        variable "any" { type = any }
        variable "nothing" {
          default  = "kept"
          nullable = false
        }
        output "all" { value = [var.list, var.object, var.flag, var.text, var.any, var.nothing] }
        "#,
    );
    let bench =
        bench.var("list", "[1, \"2\"]").var("flag", "true").var("text", "[1, 2]").var("any", "[1, 2]");
    insta::assert_snapshot!(bench.output("all"), @r#"[[1, 2], { name = "x", size = 3, tags = null }, true, "[1, 2]", [1, 2], "kept"]"#);
}

/// Terraform does the same (`tests/expressions/referee` asks it about expressions).
#[test]
fn types_decide_what_is_equal() {
    let bench = stack(
        r#"
        variable "list" {
          type    = list(string)
          default = ["a"]
        }
        variable "map" {
          type    = map(string)
          default = { a = "b" }
        }
        variable "any" { default = ["a"] }
        resource "terraform_data" "x" { input = ["a"] }
        output "all" {
          value = [
            var.list == ["a"], var.list == tolist(["a"]), var.map == { a = "b" }, var.any == ["a"],
            var.list[*] == tolist(["a"]), terraform_data.x.output == ["a"], terraform_data.x[*].id == [terraform_data.x.id]
          ]
        }
        "#,
    );
    let expected = "[false, true, false, true, true, true, true]";
    assert_eq!(bench.output("all"), expected);
    assert!(bench.plan().ends_with("No changes"), "what is recorded has the same types");
    assert_eq!(bench.output("all"), expected);
}

#[test]
fn what_is_missing_or_wrong_is_told_with_what_to_do() {
    let bench = stack(
        r#"
        variable "missing" {}
        variable "size" { type = number }
        variable "port" {
          type    = number
          default = 99999
          validation {
            condition     = var.port < 65536
            error_message = "A port is below 65536, not ${var.port}."
          }
        }
        "#,
    );
    let bench = bench.var("size", "big").var("prot", "1");
    insta::assert_snapshot!(bench.refused(), @r#"
    error: there is no variable `prot` to set
     |
     = help: did you mean `port`?

    error: the variable `missing` has no value
     --> main.tf:2:18
      |
    2 |         variable "missing" {}
      |                  ^^^^^^^^^
      |
      = help: give it with `--var missing=…`, in terraform.tfvars or stages/test.tfvars, or as TRUEUP_VAR_missing; or give it a default

    error: the variable `size` from `--var size`: expected a number, found text that is not a number
     --> main.tf:3:18
      |
    3 |         variable "size" { type = number }
      |                  ^^^^^^

    error: A port is below 65536, not 99999.
     --> main.tf:8:29
      |
    8 |             condition     = var.port < 65536
      |                             ^^^^^^^^^^^^^^^^
      |
      = note: the validation of a variable does not hold

    4 errors
    "#);
}

#[test]
fn a_sensitive_variable_makes_all_that_comes_of_it_secret() {
    let bench = stack(
        r#"
        variable "password" {
          sensitive = true
          default   = "hunter2-hunter2"
        }
        resource "terraform_data" "user" { input = "ada:${var.password}" }
        output "login" {
          value     = terraform_data.user.output
          sensitive = true
        }
        "#,
    );
    let plan = bench.plan();
    assert!(!plan.contains("hunter2"), "{plan}");
    insta::assert_snapshot!(bench.output("login"), @"(secret)");
}

/// As in Terraform: what is given may hold what looks like a template, and is never evaluated.
#[test]
fn values_and_defaults_in_json_are_texts() {
    let bench = Bench::new([
        (
            "main.tf.json",
            r#"{
                "variable": {
                    "given": {},
                    "default": { "default": "${file(\"/etc/hostname\")} %{if" },
                    "keys": { "default": { "${a}": ["$${b}"] } }
                },
                "output": { "all": { "value": ["${var.given}", "${var.default}", "${var.keys}"] } }
            }"#,
        ),
        ("terraform.tfvars.json", r#"{ "given": { "${x}": "${file(\"/etc/hostname\")} %{if" } }"#),
    ]);
    insta::assert_snapshot!(bench.output("all"), @r###"[{ "${x}" = "${file(\"/etc/hostname\")} %{if" }, "${file(\"/etc/hostname\")} %{if", { "${a}" = ["$${b}"] }]"###);
}

/// As in Terraform: validation knows the types of variables and no values, and one instance stands for all.
#[test]
fn validation_takes_no_variable_at_its_default() {
    let with = |text: &str| {
        let repeated = r#"
        variable "create" { default = false }
        variable "names" {
          type    = list(string)
          default = []
        }
        variable "key" {
          default = 1
          validation {
            condition     = var.key != 1
            error_message = "It is one."
          }
        }
        resource "terraform_data" "a" {
          count = var.create ? 1 : 0
          input = [count.index, var.names[0]]
        }
        resource "terraform_data" "b" {
          for_each = toset(var.names)
          input    = { (each.key) = each.value, a = terraform_data.a[0].id, all = terraform_data.a[*].id }
          lifecycle { replace_triggered_by = [terraform_data.a[each.key]] }
        }
        module "m" {
          source = "./m"
          count  = length(var.names)
        }
        output "some" { value = [module.m[0].x, one(module.m[*].x), terraform_data.b["x"].input, values(terraform_data.b)[*].id] }
        "#;
        let bench = Bench::new([("main.tf", repeated), ("m/main.tf", "output \"x\" { value = 1 }")]);
        bench.write("more.tf", text);
        bench
    };
    let sound = with("");
    assert!(sound.build_for(Purpose::Deploy).unwrap_err().contains("It is one."));
    let program = sound.build_for(Purpose::Validate).unwrap();
    let declared: Vec<_> = program.resources.iter().map(|it| it.address.to_string()).collect();
    assert_eq!(declared, ["terraform_data.a", "terraform_data.b"]);
    for (text, expected) in [
        ("resource \"terraform_data\" \"c\" {\n count = var.key\n inputs = 1\n}", "`inputs`"),
        ("resource \"terraform_data\" \"c\" {\n count = var.key\n input = upper([])\n}", "`upper`"),
        (
            "resource \"terraform_data\" \"c\" {\n count = var.key\n input = each.key\n}",
            "`each` is known only",
        ),
        ("output \"c\" { value = terraform_data.a.id }", "several instances"),
        ("output \"c\" { value = terraform_data.a[0].ids }", "no attribute `ids`"),
        ("output \"c\" { value = upper(var.names) }", "`upper`"),
    ] {
        let told = with(text).build_for(Purpose::Validate).unwrap_err();
        assert!(told.contains(expected), "{text}: {told}");
    }
    let wrong = with("");
    wrong.write("m/main.tf", "output \"x\" { value = local.missing }");
    assert!(wrong.build_for(Purpose::Validate).unwrap_err().contains("no local value `missing`"));
}

#[test]
fn destroying_and_judging_need_no_values() {
    let bench =
        stack("variable \"name\" {}\nprovider \"std\" {}\nresource \"std_flie\" \"x\" { path = var.name }");
    assert!(bench.build_for(Purpose::Validate).unwrap_err().contains("std_flie"));
    let program = bench.build_for(Purpose::Destroy).unwrap();
    assert_eq!((program.providers.len(), program.resources.len()), (1, 0));
    bench.write("main.tf", "variable \"name\" {}\noutput \"x\" { value = var.name }");
    assert!(bench.build_for(Purpose::Validate).is_ok());
    assert!(bench.build_for(Purpose::Deploy).unwrap_err().contains("has no value"));
}

#[test]
fn expressions_are_tried_out_in_the_root_module() {
    let bench = stack(
        "variable \"n\" { default = 2 }\nlocals { m = var.n * 3 }\nresource \"terraform_data\" \"a\" {}",
    );
    assert_eq!(bench.evaluate("[local.m, upper(\"x\")]").unwrap(), r#"[6, "X"]"#);
    assert_eq!(bench.evaluate("terraform_data.a.id").unwrap(), "(unknown string)");
    assert!(bench.evaluate("local.x").unwrap_err().contains("no local value `x`"));
    assert!(bench.evaluate("1 +").unwrap_err().contains("console:1:4"));
}

/// Time and chance are known at apply alone, and a local value that holds them is the same for all who use it.
#[test]
fn local_values_of_time_and_chance_are_known_at_apply() {
    let bench = stack(
        r#"
        locals {
          now    = timestamp()
          chance = uuid()
        }
        resource "terraform_data" "a" { input = [local.now, local.chance] }
        resource "terraform_data" "b" { input = local.chance }
        output "now" { value = terraform_data.a.output[0] }
        output "same" { value = terraform_data.a.output[1] == terraform_data.b.output && local.chance == terraform_data.b.output }
        "#,
    );
    insta::assert_snapshot!(bench.outputs(), @r#"{ now = "1970-01-01T00:00:00Z", same = true }"#);
}

/// How many there are is seen by all; as in Terraform, that does not keep a secret number from counting.
#[test]
fn a_secret_number_may_count() {
    let bench = stack(
        "variable \"n\" {\n default = 2\n sensitive = true\n}\nresource \"terraform_data\" \"a\" { count = var.n }",
    );
    assert!(bench.plan().contains("Plan: 2 to create"));
}
