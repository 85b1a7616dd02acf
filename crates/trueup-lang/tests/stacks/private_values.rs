//! Values of sensitive variables: what is wrong with one is told without it, wherever it is given.

use crate::stacks::bench::{Bench, stack};
use trueup_front_end::GivenVariable;

const DECLARED: &str = r#"
variable "token" {
  type      = number
  sensitive = true
  default   = 1
}
variable "users" {
  type      = map(object({ size = number }))
  sensitive = true
  default   = {}
}
variable "once" {
  type      = list(number)
  ephemeral = true
  default   = []
}
variable "open" {
  type    = number
  default = 1
}
"#;

/// What is told of a stack whose secrets contain `hunter`, with the secrets at none of its places.
#[track_caller]
fn told(bench: &Bench) -> String {
    let told = bench.build().map_or_else(|_| bench.refused(), |_| bench.warnings());
    assert!(told.contains("error") || told.contains("warning"), "{told}");
    assert!(!told.contains("hunter"), "{told}");
    told
}

/// SECRET-13
#[test]
fn no_line_of_a_file_of_values_is_shown_that_may_hold_a_secret() {
    let files = [
        ("terraform.tfvars", "token = \"hunter2\""),
        ("terraform.tfvars", "token = hunter2"),
        ("terraform.tfvars", "token = \"hunter2"),
        ("terraform.tfvars", "token \"hunter2\""),
        ("terraform.tfvars", "token = <<EOT\nhunter2\nEOT\n"),
        ("terraform.tfvars", "token = upper(\"hunter2\", 1)"),
        ("terraform.tfvars", "token = tonumber(\"hunter2\")"),
        ("terraform.tfvars", "token = { hunter2 = 1 }"),
        ("terraform.tfvars", "tokn = \"hunter2\""),
        ("terraform.tfvars", "token = \"a\nhunter = 2\n\""),
        ("terraform.tfvars", "users = { hunter2 = { size = \"hunter3\" } }"),
        ("terraform.tfvars", "users = { hunter2 = {} }"),
        ("terraform.tfvars", "users = { hunter2 = 1 }"),
        ("terraform.tfvars", "once = [\"hunter2\"]"),
        ("terraform.tfvars", "block \"hunter2\" {}"),
        ("terraform.tfvars", "open = \"x\" # hunter2"),
        ("terraform.tfvars.json", "{\"token\": \"hunter2\"}"),
        ("terraform.tfvars.json", "{\"tokn\": \"hunter2\"}"),
        ("terraform.tfvars.json", "{\"token\": hunter2}"),
        ("terraform.tfvars.json", "{\"token\": \"${hunter2}\"}"),
        ("terraform.tfvars.json", "{\"open\": \"x\", \"token\": \"hunter2\"}"),
        ("a.auto.tfvars", "token = \"hunter2\""),
        ("stages/test.tfvars", "token = \"hunter2\""),
    ];
    for (name, text) in files {
        let bench = Bench::new([("main.tf", DECLARED), (name, text)]);
        let told = told(&bench);
        assert!(told.contains(&format!("{name}:")), "{text}: {told}");
    }
}

/// SECRET-13
#[test]
fn no_value_on_the_command_line_or_in_the_environment_is_shown() {
    let rows = [
        ("token", "hunter2"),
        ("users", "{ hunter2 = 1 }"),
        ("users", "{ hunter2 = { size = \"hunter3\" } }"),
        ("users", "hunter2"),
        ("users", "{ hunter2"),
        ("users", "hunter2`hunter3`"),
        ("once", "[\"hunter2\"]"),
        ("once", "[hunter2]"),
    ];
    for (name, text) in rows {
        told(&stack(DECLARED).var(name, text));
        let mut bench = stack(DECLARED);
        bench.variables.environment.push((name.into(), text.into()));
        told(&bench);
        let bench = Bench::new([("main.tf", DECLARED)]);
        bench.write("more.tfvars", &format!("{name} = {text}"));
        let mut bench = bench;
        bench.variables.given.push(GivenVariable::File(bench.folder.path().join("more.tfvars")));
        told(&bench);
    }
}

/// SECRET-13: defaults stand in the program, and are as secret.
#[test]
fn no_default_of_a_sensitive_variable_is_shown() {
    for default in ["\"hunter2\"", "hunter2", "[\"hunter2\"]", "tonumber(\"hunter2\")"] {
        let bench = stack(&format!(
            "variable \"token\" {{\n  type = number\n  sensitive = true\n  default = {default}\n}}\n"
        ));
        let told = told(&bench);
        assert!(told.contains("main.tf:4:13"), "{told}");
    }
}

/// SECRET-13: whoever calls a module may give a secret to a variable that is not sensitive, and the other way round.
#[test]
fn no_key_of_a_secret_is_told_by_a_variable_of_a_module() {
    let rows = [
        ("map(number)", "false", "sensitive({ hunterkey = \"x\" })"),
        ("map(number)", "true", "{ for k in [\"hunter\"] : \"${k}key\" => \"x\" }"),
        ("map(object({ a = number }))", "false", "{ open = sensitive({ \"hunter\" = 1 }), other = 1 }"),
        ("list(map(number))", "true", "[{ for k in [\"hunter\"] : k => \"x\" }]"),
    ];
    for (ty, sensitive, value) in rows {
        let bench = stack(&format!(
            "locals {{\n  value = {value}\n}}\nmodule \"m\" {{\n  source = \"./m\"\n  value  = local.value\n}}\n"
        ));
        bench.write(
            "m/main.tf",
            &format!("variable \"value\" {{\n  type = {ty}\n  sensitive = {sensitive}\n}}\noutput \"x\" {{\n  value = var.value\n  sensitive = true\n}}\n"),
        );
        let told = bench.refused();
        let (_, summary) = told.split_once("error: ").unwrap();
        assert!(!summary.lines().next().unwrap().contains("hunter"), "{told}");
    }
}

/// What may be shown is: most values are no secrets, and a line says more than a place.
#[test]
fn the_line_of_a_value_that_is_not_sensitive_is_shown() {
    for (name, text) in [
        ("terraform.tfvars", "token = 1\nopen  = \"shown\""),
        ("terraform.tfvars.json", "{\n\"token\": 1,\n\"open\": \"shown\"\n}"),
    ] {
        let told = Bench::new([("main.tf", DECLARED), (name, text)]).refused();
        assert!(told.contains("\"shown\""), "{told}");
    }
}
