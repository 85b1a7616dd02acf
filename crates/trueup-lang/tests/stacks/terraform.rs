//! Terraform as referee: the same folder gives the same outputs under both.

use std::process::Command;

use crate::bench::Bench;

/// A folder of some size, with all that both understand.
fn folder() -> Bench {
    Bench::new([
        (
            "main.tf",
            r#"
            terraform { required_version = ">= 1.5" }
            variable "stage" { default = "dev" }
            variable "services" {
              type = map(object({ port = number, replicas = optional(number, 1), tags = optional(list(string), []) }))
              default = {
                web = { port = 80, replicas = 2, tags = ["front", "public"] }
                api = { port = 8080 }
              }
            }
            locals {
              names   = sort(keys(var.services))
              ports   = { for name, it in var.services : name => it.port if it.port > 79 }
              flat    = flatten([for name, it in var.services : [for n in range(it.replicas) : "${name}-${n}"]])
              by_tag  = { for tag in distinct(flatten(values(var.services)[*].tags)) : tag => [for name, it in var.services : name if contains(it.tags, tag)] }
            }
            resource "terraform_data" "service" {
              for_each = var.services
              input    = { name = each.key, port = each.value.port, stage = var.stage }
            }
            resource "terraform_data" "replica" {
              count            = length(local.flat)
              input            = local.flat[count.index]
              triggers_replace = [var.stage]
            }
            module "greeting" {
              source   = "./greeting"
              for_each = toset(local.names)
              name     = each.value
              port     = terraform_data.service[each.value].output.port
            }
            output "names" { value = local.names }
            output "ports" { value = local.ports }
            output "flat" { value = local.flat }
            output "by_tag" { value = local.by_tag }
            output "services" { value = { for key, it in terraform_data.service : key => it.output } }
            output "replicas" { value = terraform_data.replica[*].output }
            output "greetings" { value = { for key, it in module.greeting : key => it.text } }
            output "json" { value = jsonencode(terraform_data.service["web"].output) }
            "#,
        ),
        (
            "greeting/main.tf",
            r#"
            variable "name" { type = string }
            variable "port" { type = number }
            resource "terraform_data" "text" {
              input = <<-EOT
                Hello ${upper(var.name)},
                %{ if var.port < 1000 ~}
                you listen at the low port ${var.port}.
                %{ else ~}
                you listen at ${format("%06d", var.port)}.
                %{ endif ~}
              EOT
            }
            output "text" { value = trimspace(terraform_data.text.output) }
            "#,
        ),
    ])
}

#[test]
fn terraform_and_we_give_the_same_outputs() {
    let bench = folder();
    let ours = bench.outputs();
    let ours: serde_json::Value = serde_json::from_str(&ours.to_json(trueup_core::JsonForm::PUBLIC)).unwrap();
    assert!(bench.plan().ends_with("No changes"));
    let Some(theirs) = terraform_outputs(bench.folder.path()) else {
        eprintln!("left out: there is no `terraform` on PATH to compare with");
        return;
    };
    assert_eq!(ours, theirs);
}

fn terraform_outputs(folder: &std::path::Path) -> Option<serde_json::Value> {
    let run = |arguments: &[&str]| {
        let output = Command::new("terraform")
            .args(arguments)
            .current_dir(folder)
            .env("CHECKPOINT_DISABLE", "1")
            .output();
        output.ok().inspect(|output| {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        })
    };
    run(&["init", "-no-color"])?;
    run(&["apply", "-auto-approve", "-no-color"])?;
    let output = run(&["output", "-json", "-no-color"])?;
    let all: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    Some(all.into_iter().map(|(name, it)| (name, it["value"].clone())).collect())
}
