//! What resources attach to others.

use crate::stacks::bench::{Bench, stack};

/// Each binding of a program, as `target: key`.
fn bindings(bench: &Bench) -> Vec<String> {
    let resources = bench.program().resources;
    let bound = |it: &trueup_program::ResourceDeclaration| {
        let address = it.address.clone();
        it.bindings.iter().map(move |binding| format!("{address}: {}", binding.key)).collect::<Vec<_>>()
    };
    resources.iter().flat_map(bound).collect()
}

/// BIND-1
#[test]
fn instances_that_share_a_target_are_told_apart_by_their_keys() {
    let bench = stack(
        r#"
        resource "terraform_data" "target" {}
        resource "terraform_data" "each" {
          for_each = toset(["a", "b"])
          bind "it" {
            to      = terraform_data.target
            payload = { name = each.key }
          }
        }
        "#,
    );
    assert_eq!(bindings(&bench), [r#"terraform_data.target: it["a"]"#, r#"terraform_data.target: it["b"]"#]);
}

/// BIND-1
#[test]
fn an_instance_is_bound_to_the_one_that_it_names() {
    let bench = stack(
        r#"
        resource "terraform_data" "target" {
          for_each = toset(["a", "b"])
        }
        resource "terraform_data" "each" {
          for_each = toset(["a", "b"])
          bind "it" {
            to      = terraform_data.target[each.key]
            payload = { name = each.key }
          }
        }
        resource "terraform_data" "numbered" {
          count = 2
          bind "numbered" {
            to      = terraform_data.target[count.index == 0 ? "a" : "b"]
            payload = {}
          }
        }
        "#,
    );
    assert_eq!(
        bindings(&bench),
        [
            r#"terraform_data.target["a"]: it"#,
            r#"terraform_data.target["a"]: numbered"#,
            r#"terraform_data.target["b"]: it"#,
            r#"terraform_data.target["b"]: numbered"#,
        ]
    );
}

/// BIND-1
#[test]
fn self_is_the_resource_that_binds() {
    let bench = stack(
        r#"
        resource "terraform_data" "target" {}
        resource "terraform_data" "each" {
          for_each = toset(["a", "b"])
          input    = each.key
          bind "it" {
            to      = terraform_data.target
            payload = { input = self.input, id = self.id }
          }
        }
        "#,
    );
    let bindings = bench.program().resources[0].bindings.clone();
    let referred = |at: usize| {
        bindings[at].payload.references().iter().map(|it| it.address.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(referred(0), [r#"terraform_data.each["a"]"#]);
    assert_eq!(referred(1), [r#"terraform_data.each["b"]"#]);
}

/// BIND-1
#[test]
fn what_cannot_be_bound_is_told() {
    let bound = |to: &str| {
        let text = format!(
            "resource \"terraform_data\" \"target\" {{ for_each = toset([\"a\"]) }}\n\
             resource \"terraform_data\" \"each\" {{\n count = 2\n bind \"it\" {{\n to = {to}\n payload = {{}}\n }}\n}}\n"
        );
        stack(&text).refused()
    };
    for (to, told) in [
        ("terraform_data.target[\"a\"].id == 1", "`to` must name a resource"),
        ("terraform_data.other[count.index]", "there is no resource `terraform_data.other[0]` to bind to"),
        ("terraform_data.target[terraform_data.target[\"a\"].id]", "known before anything is made"),
        ("terraform_data.target[count.index == 9 ? \"b\" : \"a\"]", "bound to by the key `it` already"),
    ] {
        let refused = bound(to);
        assert!(refused.contains(told), "{to}: {refused}");
    }
}
