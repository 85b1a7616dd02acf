//! Terraform as referee: the same folder under both programs gives the same outputs, whatever is changed in between.

use std::process::Command;

use serde_json::{Map, Value};
use trueup_cli_harness::Folder;

use crate::binary::stack;

const MAIN: &str = r#"
terraform {
  required_version = ">= 1.5"
}

variable "stage" {
  default = "dev"
}

variable "services" {
  type = map(object({
    port     = number
    replicas = optional(number, 1)
    tags     = optional(list(string), [])
  }))
  default = {
    web = { port = 80, replicas = 2, tags = ["front", "public"] }
    api = { port = 8080 }
  }
}

locals {
  names = sort(keys(var.services))
  flat  = flatten([for name, it in var.services : [for n in range(it.replicas) : "${name}-${n}"]])
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

output "names" {
  value = local.names
}

output "services" {
  value = { for key, it in terraform_data.service : key => it.output }
}

output "replicas" {
  value = terraform_data.replica[*].output
}

output "greetings" {
  value = { for key, it in module.greeting : key => it.text }
}

output "many" {
  value = length(terraform_data.replica) > 2 ? "many" : null
}

output "number" {
  value = 10 / 4
}
"#;

const GREETING: &str = r#"
variable "name" {
  type = string
}

variable "port" {
  type = number
}

resource "terraform_data" "text" {
  input = <<-EOT
    Hello ${upper(var.name)},
    %{if var.port < 1000~}
    you listen at the low port ${var.port}.
    %{else~}
    you listen at ${format("%06d", var.port)}.
    %{endif~}
  EOT
}

output "text" {
  value = trimspace(terraform_data.text.output)
}
"#;

/// Our words for resources of the `.tf` files, which Terraform must not mind.
const OURS: &str = r#"
stack {
  parallelism = 4
}

resource "terraform_data" "replica" {
  lifecycle {
    delete_first = true
    drift        = "warn"
  }
}
"#;

/// One that both programs keep apart: Terraform has its own state beside ours.
fn folder() -> Folder {
    let folder = stack(MAIN);
    folder.write("greeting/main.tf", GREETING);
    folder
}

/// Our values don't tell lists from tuples (docs/json.md).
fn list_as_tuple(output: &mut Value) {
    let items = output["value"].as_array().map_or(0, Vec::len);
    if output["type"][0] == "list" {
        let item = output["type"][1].take();
        output["type"] = serde_json::json!(["tuple", vec![item; items]]);
    }
}

/// OUTPUT-12: in the form of `output -json`.
#[test]
fn both_give_the_same_outputs_whatever_changes() {
    let folder = folder();
    let rounds = ["", "-var stage=prod", "-var-file=more.tfvars", "-var-file=more.tfvars -var stage=prod"];
    folder.write(
        "more.tfvars",
        "services = {\n  web = { port = 443 }\n  db  = { port = 5432, replicas = 3 }\n  mq  = { port = 999 }\n}\n",
    );
    let referee = Referee::new(&folder);
    for (round, arguments) in rounds.iter().enumerate() {
        if round == 2 {
            folder.write("words.tu.hcl", OURS);
        }
        folder.done(&format!("deploy -auto-approve --stage t {arguments}"));
        let ours = folder.json("output -json");
        assert_eq!(ours["names"]["value"].as_array().unwrap().len(), if round < 2 { 2 } else { 3 });
        assert!(folder.done(&format!("plan {arguments}")).out.contains("No changes"), "round {round}");
        let Some(referee) = &referee else { continue };
        referee.run(&format!("plan -no-color -input=false {arguments}"));
        referee.run(&format!("apply -auto-approve -no-color -input=false {arguments}"));
        let mut theirs: Map<String, Value> =
            serde_json::from_str(&referee.run("output -json -no-color")).unwrap();
        theirs.values_mut().for_each(list_as_tuple);
        let given = |outputs: &Map<String, Value>| -> Map<String, Value> {
            outputs
                .iter()
                .filter(|(_, output)| !output["value"].is_null())
                .map(|(n, v)| (n.clone(), v.clone()))
                .collect()
        };
        // Terraform leaves out outputs that are null.
        assert_eq!(given(ours.as_object().unwrap()), given(&theirs), "round {round}");
    }
}

/// The text of the `.tf` files stays Terraform's, and its layout too.
#[test]
fn both_lay_texts_out_alike() {
    let folder = folder();
    folder.write("words.tu.hcl", OURS);
    folder.done("fmt --check --recursive");
    let Some(referee) = Referee::new(&folder) else { return };
    referee.run("validate -no-color");
    referee.run("fmt -check -recursive -no-color");
}

/// Terraform, where there is one.
struct Referee<'a>(&'a Folder);

impl<'a> Referee<'a> {
    #[expect(clippy::print_stderr, reason = "what was left out is said, and nobody but people can be told")]
    fn new(folder: &'a Folder) -> Option<Self> {
        if Command::new("terraform").arg("version").output().is_err() {
            eprintln!("left out: there is no `terraform` on PATH to compare with");
            return None;
        }
        let referee = Referee(folder);
        referee.run("init -no-color -input=false");
        Some(referee)
    }

    fn run(&self, arguments: &str) -> String {
        let output = Command::new("terraform")
            .args(arguments.split_whitespace())
            .current_dir(self.0.path())
            .env("CHECKPOINT_DISABLE", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}
