//! Ephemeral values: how they spread, where they may stand, and what is left of them.

use crate::stacks::bench::{Bench, stack};

/// What is made of an ephemeral variable, as an output that may not be: whether it is refused.
fn is_ephemeral(expression: &str) -> bool {
    let bench = stack(&format!(
        r#"
        variable "token" {{
          type      = string
          ephemeral = true
        }}
        locals {{
          mixed = {{ token = var.token, open = "x" }}
        }}
        output "made" {{ value = {expression} }}
        "#
    ));
    let bench = bench.var("token", "hush-hush");
    match bench.try_outputs() {
        Ok(_) => false,
        Err(told) => {
            assert!(told.contains("ephemeral value not allowed"), "{expression}: {told}");
            assert!(!told.contains("hush-hush"), "{told}");
            true
        }
    }
}

/// SECRET-6
#[test]
fn what_derives_from_an_ephemeral_value_is_ephemeral() {
    for expression in [
        "var.token",
        "\"${var.token}!\"",
        "[var.token]",
        "{ a = { b = var.token } }",
        "local.mixed",
        "local.mixed.token",
        "local.mixed[\"token\"]",
        "upper(var.token)",
        "length(var.token)",
        "var.token == \"\"",
        "var.token == \"\" ? 1 : 2",
        "{ (var.token) = 1 }",
        "[for c in [1, 2] : c if var.token != \"\"]",
        "{ for c in [var.token] : c => 1 }",
        "merge({}, local.mixed)",
        "values(local.mixed)",
        "keys({ (var.token) = 1 })",
        "jsonencode(local.mixed)",
        "coalesce(null, var.token)",
        "concat([1], [var.token])",
        "nonsensitive(var.token)",
        "sensitive(var.token)",
        "try(var.token, 1)",
        "lookup({ a = 1 }, var.token, 2)",
        "[\"a\", \"b\"][length(var.token) - 9]",
        "templatestring(\"$${x}\", { x = var.token })",
        "-length(var.token)",
        "!(var.token == \"\")",
        "terraform.applying",
    ] {
        assert!(is_ephemeral(expression), "{expression}");
    }
    for expression in [
        "local.mixed.open",
        "keys(local.mixed)",
        "length(local.mixed)",
        "ephemeralasnull(var.token)",
        "ephemeralasnull(local.mixed)",
        "issensitive(var.token)",
        "\"x\"",
    ] {
        assert!(!is_ephemeral(expression), "{expression}");
    }
}

#[test]
fn what_is_left_of_an_ephemeral_value_is_null() {
    let bench = stack(
        r#"
        variable "token" {
          ephemeral = true
        }
        output "left" { value = ephemeralasnull({ a = var.token, b = [var.token, "open"] }) }
        "#,
    );
    let bench = bench.var("token", "hush-hush");
    insta::assert_snapshot!(bench.output("left"), @r#"{ a = null, b = [null, "open"] }"#);
}

/// SECRET-6
#[test]
fn ephemeral_values_are_refused_where_they_would_be_kept() {
    let refused = |text: &str| {
        let token = "variable \"token\" {\n  ephemeral = true\n  default = \"t\"\n}\n";
        Bench::new([("main.tf", &*format!("{token}{text}"))]).refused()
    };
    for (text, told) in [
        (
            "resource \"terraform_data\" \"a\" {\n  input = var.token\n}",
            "`input` in terraform_data.a is recorded",
        ),
        ("resource \"terraform_data\" \"a\" {\n  count = length(var.token)\n}", "`count` decides"),
        ("resource \"terraform_data\" \"a\" {\n  for_each = toset([var.token])\n}", "`for_each` decides"),
        ("output \"a\" {\n  value = 1\n  ephemeral = true\n}", "cannot be ephemeral"),
        (
            "resource \"terraform_data\" \"a\" {}\nimport {\n  to = terraform_data.a\n  id = var.token\n}",
            "the id of an import is recorded",
        ),
        (
            "output \"a\" {\n  value = ephemeral.terraform_x.y.z\n}",
            "there is no resource `ephemeral.terraform_x.y`",
        ),
        ("ephemeral \"terraform_data\" \"a\" {}", "has no ephemeral resource `terraform_data`"),
    ] {
        let found = refused(text);
        assert!(found.contains(told), "{text}: {found}");
    }
}
