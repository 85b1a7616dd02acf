//! What must hold: of variables, resources and outputs.

use crate::stacks::bench::{Bench, stack};

/// A variable that gets its value at apply is held against its validation then.
#[test]
fn a_validation_is_held_against_what_is_known_at_apply() {
    let bench = Bench::new([
        (
            "main.tf",
            r#"
            resource "terraform_data" "a" { input = "short" }
            module "m" {
              source = "./m"
              id     = terraform_data.a.id
            }
            "#,
        ),
        (
            "m/main.tf",
            r#"
            variable "id" {
              validation {
                condition     = length(var.id) < 5
                error_message = "The id is too long."
              }
            }
            resource "terraform_data" "user" { input = var.id }
            "#,
        ),
    ]);
    let refused = bench.try_outputs().unwrap_err();
    assert!(refused.contains("The id is too long."), "{refused}");
}

#[test]
fn a_validation_may_refer_to_other_names() {
    let text = |limit: u32| {
        format!(
            "variable \"x\" {{\n default = 3\n validation {{\n condition = var.x < local.limit\n error_message = \"${{var.x}} is not below ${{local.limit}}\"\n }}\n}}\nlocals {{ limit = {limit} }}\noutput \"x\" {{ value = var.x }}"
        )
    };
    insta::assert_snapshot!(stack(&text(5)).output("x"), @"3");
    let refused = stack(&text(2)).refused();
    assert!(refused.contains("3 is not below 2"), "{refused}");
}

#[test]
fn self_stands_only_in_postconditions() {
    for text in [
        "resource \"terraform_data\" \"a\" { input = self.id }",
        "resource \"terraform_data\" \"a\" {\n lifecycle {\n precondition {\n condition = self.id != \"\"\n error_message = \"x\"\n }\n }\n}",
    ] {
        let refused = stack(text).refused();
        assert!(refused.contains("`self` stands only in postconditions"), "{refused}");
    }
}

#[test]
fn a_check_asserts_something_and_has_its_own_name() {
    let check = "check \"c\" {\n assert {\n condition = true\n error_message = \"x\"\n }\n}\n";
    let refused = stack(&format!("{check}{check}")).refused();
    assert!(refused.contains("check `c` is declared twice"), "{refused}");
    let refused = stack("check \"c\" {\n}").refused();
    assert!(refused.contains("check `c` asserts nothing"), "{refused}");
}
