//! Secrets in what the program says itself: about files of values, about arguments, about states that it takes over.

use super::finder::Finder;
use super::trial::Trial;

const SECRET: &str = "hunter2-s3cret-8317";

const DECLARED: &str = r#"
variable "secret" {
  type      = number
  sensitive = true
  default   = 1
}

output "secret" {
  value     = var.secret
  sensitive = true
}
"#;

/// SECRET-13, SECRET-5: whatever is wrong with a file of values, no command repeats it.
#[test]
fn no_command_quotes_a_file_of_values() {
    let files = [
        ("terraform.tfvars", format!("secret = \"{SECRET}\"\n")),
        ("terraform.tfvars", format!("secret = \"{SECRET}\n")),
        ("terraform.tfvars", format!("secret = {SECRET}\n")),
        ("terraform.tfvars", format!("secrte = \"{SECRET}\"\n")),
        ("terraform.tfvars", format!("secret = <<EOT\n{SECRET}\n")),
        ("terraform.tfvars.json", format!("{{\"secret\": \"{SECRET}\"}}")),
        ("terraform.tfvars.json", format!("{{\"secret\": {SECRET}}}")),
    ];
    for (name, text) in files {
        let trial = Trial::new(DECLARED, &[], Finder::new(&[SECRET]));
        trial.folder.write(name, &text);
        for command in [
            "validate",
            "validate --json",
            "plan",
            "plan --json",
            "deploy --yes",
            "deploy --yes --json",
            "console var.secret",
            "drift",
            "graph",
            "fmt",
            "fmt --check",
        ] {
            let told = trial.run(command);
            // A name that no variable has is worth a warning.
            let refuses = command.starts_with("deploy") && !text.starts_with("secrte");
            assert!(told.code == 1 || !refuses, "{command} of {text}: {told:?}");
        }
        std::fs::remove_file(trial.folder.path().join(name)).unwrap();
        trial.finder.assert_absent_below(trial.folder.path());
    }
}

/// SECRET-13: neither on the command line nor in the files that are named there.
#[test]
fn no_usage_error_quotes_a_value() {
    let trial = Trial::new(DECLARED, &[], Finder::new(&[SECRET]));
    trial.folder.write("variables", &format!("{SECRET}\n"));
    trial.folder.write(".config/trueup/config.toml", &format!("parallelism = \"{SECRET}\"\n"));
    for command in [
        format!("plan --var {SECRET}"),
        format!("plan --var secret:{SECRET}"),
        format!("plan --var 7secret={SECRET}"),
        format!("plan --var secret={SECRET}"),
        format!("plan --json --var secret={SECRET}"),
        "plan --env-file variables".to_owned(),
        "config".to_owned(),
    ] {
        assert_eq!(trial.run(&command).code, 1, "{command}");
    }
}

/// SECRET-9: Terraform marks what its program marked, not what repeats it.
#[test]
fn what_repeats_a_secret_of_a_state_of_terraform_is_secret() {
    let text = "resource \"terraform_data\" \"a\" {\n  input = sensitive(\"x\")\n}\n";
    let trial = Trial::new(text, &[], Finder::new(&[SECRET]));
    let value = format!("{{\"value\": \"it is {SECRET}\", \"type\": \"string\"}}");
    let sensitive = "[[{\"type\": \"get_attr\", \"value\": \"input\"}]]";
    let state = format!(
        r#"{{"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "x", "outputs": {{}}, "resources": [{{
          "mode": "managed", "type": "terraform_data", "name": "a",
          "provider": "provider[\"terraform.io/builtin/terraform\"]",
          "instances": [{{"schema_version": 0, "sensitive_attributes": {sensitive},
            "attributes": {{"id": "x", "input": {value}, "output": {value}, "triggers_replace": null}}}}]}}]}}"#
    );
    trial.folder.write("old.tfstate", &state);
    trial.done("import-state old.tfstate --yes");
    std::fs::remove_file(trial.folder.path().join("old.tfstate")).unwrap();
    for command in ["show terraform_data.a --json", "state show terraform_data.a", "plan --full --json"] {
        trial.done(command);
    }
    trial.search_kept();
}
