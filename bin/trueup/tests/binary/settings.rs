//! Where variables, stages and other stacks' outputs come from.

use crate::binary::{empty, stack};

const VARIABLES: &str = r#"
variable "a" {
  default = "default"
}

variable "list" {
  type    = list(number)
  default = []
}

resource "terraform_data" "a" {
  input = var.a
}

output "a" {
  value = var.a
}

output "list" {
  value = var.list
}
"#;

/// Later ones count more: environment, the folder's own files, then arguments in their order.
#[test]
fn variables_come_from_everywhere_in_terraforms_order() {
    let folder = stack(VARIABLES);
    folder.write("other.tfvars", "a = \"file\"\nlist = [1, 2]\n");
    let value = |arguments: &str, environment: &[(&str, &str)]| {
        let told = folder.run_with(&format!("console var.a --stage t {arguments}"), environment);
        assert_eq!(told.code, 0, "{told:?}");
        told.out.trim().trim_matches('"').to_owned()
    };
    assert_eq!(value("", &[]), "default");
    assert_eq!(value("", &[("TF_VAR_a", "theirs")]), "theirs");
    assert_eq!(value("", &[("TF_VAR_a", "theirs"), ("TRUEUP_VAR_a", "ours")]), "ours");
    assert_eq!(value("--var-file other.tfvars", &[("TF_VAR_a", "theirs")]), "file");
    assert_eq!(value("-var-file=other.tfvars -var a=argument", &[]), "argument");
    assert_eq!(value("-var a=argument -var-file other.tfvars", &[]), "file");
    folder.write("terraform.tfvars", "a = \"folder\"\n");
    assert_eq!(value("", &[("TF_VAR_a", "theirs"), ("TRUEUP_VAR_a", "ours")]), "folder");
    assert_eq!(value("--var a=argument", &[]), "argument");
    let told = folder.run("deploy --stage t --yes -var list=[3,4] -var a=x");
    assert_eq!(told.code, 0, "{told:?}");
    assert_eq!(folder.json("output --json"), serde_json::json!({ "a": "x", "list": [3, 4] }));
    let told = folder.run("plan --var b=1");
    assert_eq!(told.code, 1);
    assert!(told.err.contains("`b`"), "{told:?}");
}

#[test]
fn terraforms_spellings_work() {
    let folder = stack(VARIABLES);
    folder.done("apply -auto-approve -stage=t -var a=1 -parallelism=3");
    folder.done("plan -refresh=false -no-color -detailed-exitcode -var=a=1");
    assert_eq!(folder.run("plan -detailed-exitcode -var a=2").code, 2);
    assert_eq!(folder.done("output -raw a").out, "1");
    folder.done("-chdir=. output -json");
    folder.done("destroy -auto-approve");
}

/// In CI nobody's own stage is meant.
#[test]
fn ci_names_its_stage() {
    let folder = stack(VARIABLES);
    for command in ["plan", "deploy --yes", "destroy --yes", "drift"] {
        let told = folder.run_with(command, &[("CI", "true")]);
        assert_eq!(told.code, 1, "{command}: {told:?}");
        assert!(told.err.contains("no stage is named") && told.err.contains("--stage"), "{told:?}");
        assert!(!folder.has(".trueup"));
    }
    assert_eq!(folder.run_with("plan --stage prod", &[("CI", "true")]).code, 0);
    let told = folder.run_with("deploy --yes", &[("CI", "true"), ("TRUEUP_STAGE", "prod")]);
    assert_eq!(told.code, 0, "{told:?}");
    // What was last used here counts for people, not for machines.
    assert!(folder.done("plan").out.contains("stage prod"));
    assert_eq!(folder.run_with("plan", &[("CI", "true")]).code, 1);
}

/// APPLY-12: another folder's stack, as of its last deploy in the same stage.
#[test]
fn a_stack_reads_what_another_gives() {
    let folder = empty();
    folder.write(
        "network/main.tu.hcl",
        "stack {\n  name = \"network\"\n}\n\noutput \"port\" {\n  value = 8080\n}\n",
    );
    folder.write(
        "site/main.tu.hcl",
        r#"
stack {
  name = "site"
}

data "stack_output" "network" {
  stack  = "network"
  folder = "../network"
}

resource "std_file" "port" {
  path    = "port.txt"
  content = data.stack_output.network.outputs.port
}
"#,
    );
    let told = folder.run("-C site plan --stage t");
    assert_eq!(told.code, 1);
    assert!(!folder.has("network/.trueup") && told.err.contains("network"), "{told:?}");
    insta::assert_snapshot!("error_other_stack_not_deployed", told.err);
    folder.done("-C network deploy --stage t --yes");
    folder.done("-C site deploy --stage t --yes");
    assert_eq!(folder.read("site/port.txt"), "8080");
    assert!(folder.done("-C site plan").out.contains("No changes"));
    // A failure of the other store says what to do, as the other stack's own commands do.
    folder.write("network/.trueup/state.db", "no database at all");
    let told = folder.run("-C site plan");
    let words: Vec<&str> = told.err.split_whitespace().collect();
    assert!(words.join(" ").contains("help: put a copy of it back"), "{told:?}");
}
