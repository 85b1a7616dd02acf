//! What names stand for: one instance, all of them, one that does not exist; and what comes after what.

use crate::stacks::bench::{Bench, stack};

/// A branch that does not count may name an instance that does not exist.
#[test]
fn an_instance_that_does_not_exist_matters_only_where_it_is_used() {
    let bench = stack(
        r#"
        variable "on" { default = false }
        resource "terraform_data" "a" {
          count = var.on ? 1 : 0
          input = "a"
        }
        resource "terraform_data" "chosen" { input = var.on ? terraform_data.a[0].output : "none" }
        resource "terraform_data" "tried" { input = try(terraform_data.a[0].output, "none") }
        resource "terraform_data" "after" { depends_on = [terraform_data.a[7]] }
        output "all" { value = [terraform_data.chosen.output, terraform_data.tried.output, one(terraform_data.a[*].output)] }
        "#,
    );
    insta::assert_snapshot!(bench.output("all"), @r#"["none", "none", null]"#);
    let bench = bench.var("on", "true");
    insta::assert_snapshot!(bench.output("all"), @r#"["a", "a", "a"]"#);
}

#[test]
fn numbers_and_texts_that_say_the_same_name_the_same_instance() {
    let bench = stack(
        r#"
        resource "terraform_data" "counted" {
          count = 2
          input = count.index
        }
        resource "terraform_data" "keyed" {
          for_each = toset(["0", "1"])
          input    = terraform_data.counted[each.key].output
        }
        resource "terraform_data" "back" {
          count = 2
          input = terraform_data.keyed[count.index].output
        }
        output "all" { value = terraform_data.back[*].output }
        output "one" { value = terraform_data.counted["1"].output }
        "#,
    );
    insta::assert_snapshot!(bench.outputs(), @"{ all = [0, 1], one = 1 }");
}

/// What decides how many there are comes before them, although their inputs do not refer to it.
#[test]
fn instances_come_after_what_they_are_counted_by() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            resource "terraform_data" "a" { count = 2 }
            resource "terraform_data" "b" { count = length(terraform_data.a) }
            module "m" {
              source   = "./m"
              for_each = toset([for index, it in terraform_data.a : tostring(index)])
            }
            "#,
        ),
        ("m/main.tf", "resource \"terraform_data\" \"c\" {}"),
    ]);
    let program = bench.program();
    let depends = |address: &str| {
        let found = program.resources.iter().find(|it| it.address.to_string() == address).unwrap();
        found.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(depends("terraform_data.b[1]"), @"terraform_data.a[0] terraform_data.a[1]");
    insta::assert_snapshot!(depends("module.m[\"1\"].terraform_data.c"), @"terraform_data.a[0] terraform_data.a[1]");
}

#[test]
fn names_that_are_written_out_must_stand_for_something() {
    for (text, told) in [
        (
            "resource \"terraform_data\" \"a\" { depends_on = [terraform_data.b] }",
            "there is no `terraform_data.b`",
        ),
        (
            "resource \"terraform_data\" \"a\" { depends_on = [module.b] }",
            "there is no `module.b` to depend on",
        ),
        ("output \"a\" {\n value = 1\n depends_on = [local.b]\n}", "there is no `local.b` to depend on"),
        (
            "resource \"terraform_data\" \"a\" {}\nresource \"terraform_data\" \"b\" { depends_on = [terraform_data.a.id] }",
            "takes whole resources",
        ),
        (
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n ignore_changes = [inptu]\n }\n}",
            "did you mean `input`?",
        ),
    ] {
        let refused = stack(text).refused();
        assert!(refused.contains(told), "{text}: {refused}");
    }
}

/// As in Terraform, a local value may stand in `depends_on` for all it depends on.
#[test]
fn what_a_local_value_depends_on_can_be_depended_on() {
    let bench = stack(
        r#"
        locals { before = terraform_data.a.id }
        resource "terraform_data" "a" {}
        resource "terraform_data" "b" { depends_on = [local.before] }
        "#,
    );
    let program = bench.program();
    insta::assert_snapshot!(program.resources[1].depends_on[0], @"terraform_data.a");
}

#[test]
fn a_round_through_modules_is_told_with_all_its_names() {
    let bench = Bench::new([
        (
            "main.tf",
            "module \"m\" {\n source = \"./m\"\n x = terraform_data.q\n}\nresource \"terraform_data\" \"q\" { count = module.m.x }",
        ),
        (
            "m/main.tf",
            r#"
            variable "unused" { default = 1 }
            variable "x" {}
            resource "terraform_data" "first" {}
            resource "terraform_data" "second" { count = length(var.x) }
            output "x" { value = length(terraform_data.second) }
            "#,
        ),
    ]);
    let refused = bench.refused();
    let round = "terraform_data.q → module.m.output.x → module.m.terraform_data.second → module.m.var.x → terraform_data.q";
    assert!(refused.contains(round), "{refused}");
}
