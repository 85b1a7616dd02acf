//! Terraform as referee: the same folder gives the same outputs under both.

use std::process::Command;

use trueup_core::{Kind, Value};

use crate::stacks::bench::Bench;

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
    let ours = plain(&bench.outputs());
    assert!(bench.plan().ends_with("No changes"));
    let Some(terraform) = Terraform::find() else {
        println!("left out: there is no `terraform` on PATH to compare with");
        return;
    };
    assert_eq!(Ok(ours), terraform.outputs(bench.folder.path()));
}

/// The program that decides who is right.
pub(crate) struct Terraform;

impl Terraform {
    /// `None` if there is none.
    pub(crate) fn find() -> Option<Self> {
        Command::new("terraform").arg("version").output().ok().map(|_| Terraform)
    }

    /// What it makes of a folder, or why it refuses it.
    pub(crate) fn outputs(&self, folder: &std::path::Path) -> Result<Value, String> {
        self.run(folder, &["init", "-no-color"])?;
        self.run(folder, &["apply", "-auto-approve", "-no-color", "-compact-warnings"])?;
        let output = self.run(folder, &["output", "-json", "-no-color"])?;
        let all: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&output).unwrap();
        let value = |it: &serde_json::Value| Value::from_plain_json(&it["value"].to_string()).unwrap();
        Ok(Value::object(all.iter().map(|(name, it)| (name.as_str(), value(it)))))
    }

    fn run(&self, folder: &std::path::Path, arguments: &[&str]) -> Result<Vec<u8>, String> {
        let mut command = Command::new("terraform");
        let command = command.args(arguments).current_dir(folder).env("CHECKPOINT_DISABLE", "1");
        let output = command.output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => {
                let told = String::from_utf8_lossy(&output.stderr);
                Err(told.find("Error:").map_or(&*told, |start| &told[start..]).to_owned())
            }
        }
    }
}

/// Outputs as `terraform output -json` tells them: without those that are null, and with lists and objects alone.
pub(crate) fn plain(outputs: &Value) -> Value {
    let entries = outputs.as_entries().unwrap().iter().filter(|(_, value)| !value.is_null());
    Value::object(entries.map(|(name, value)| (name.clone(), without_kinds(value))))
}

fn without_kinds(value: &Value) -> Value {
    match value.kind() {
        Kind::List(items) | Kind::Set(items) => Value::list(items.iter().map(without_kinds)),
        Kind::Map(entries) | Kind::Object(entries) => {
            Value::object(entries.iter().map(|(key, value)| (key.clone(), without_kinds(value))))
        }
        _ => value.clone(),
    }
}
