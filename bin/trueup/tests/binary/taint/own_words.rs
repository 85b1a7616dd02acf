//! Secrets in what the program says itself: about files of values, about arguments, about states that it takes over.

use trueup_cli_harness::Told;

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

/// SECRET-12: in the line of a program that an error shows.
#[test]
fn no_line_of_a_program_shows_the_password_of_an_address() {
    let text = format!("provider \"pg\" {{\n  adress = \"postgres://ada:{SECRET}@db/x\"\n}}\n");
    let trial = Trial::new(&text, &[], Finder::new(&[SECRET]));
    for command in ["validate", "plan", "plan --json", "fmt --check"] {
        let told = trial.run(command);
        assert!(command.starts_with("fmt") || told.err.contains("ada:*"), "{command}: {told:?}");
    }
}

/// SECRET-12, SECRET-13: a slip in an argument, or in an address, shows neither in the log nor in the history.
#[test]
fn no_slip_on_the_command_line_shows_a_secret() {
    let trial = Trial::new(DECLARED, &[], Finder::new(&[SECRET]));
    trial.done("deploy --yes --var secret=8317264055");
    for address in [
        "postgres:/ada:{}@127.0.0.1:1/x",
        "postgres:ada:{}@127.0.0.1:1/x",
        "Postgres://ada:{}@127.0.0.1:1/x",
        "postgres://ada:{}@127.0.0.1:1/x?sslmode=disable",
        "postgres://ada:pw@127.0.0.1:1/x?pwd={}",
        "postgresql+asyncpg://ada:{}@127.0.0.1:1/x",
        "host=127.0.0.1;password={}",
        "s3://AKIA1:{}@states/team",
        "s3://states/team?aws_secret_access_key={}",
        "s3://states/team?endpoint=http://ada:{}@127.0.0.1:1",
    ] {
        let address = address.replace("{}", SECRET);
        trial.failed(&format!("state migrate --to {address}"));
        trial.failed(&format!("state migrate --from {address}"));
        for command in ["plan", "config", "deploy --yes --json", "state list --json"] {
            let told = trial.run_with(command, &[("TRUEUP_STATE", &address)]);
            assert!(told.code == 1 || command == "config", "{command} at {address}: {told:?}");
        }
    }
    for arguments in [
        &["plan", "secret={}"][..],
        &["deploy", "--yes", "--", "--var", "secret={}"],
        &["plan", "postgres://ada:{} x@db/x"],
        &["plan", "--retry=postgres://ada:{} x@db/x"],
        &["deploy", "--adopt=secret={}"],
    ] {
        let arguments: Vec<String> = arguments.iter().map(|it| it.replace("{}", SECRET)).collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let told = Told::by(&mut trial.folder.command_of(&words));
        assert_eq!(told.code, 1, "{told:?}");
        trial.finder.assert_absent(&words.join(" "), (told.out + &told.err).as_bytes());
    }
    for arguments in ["deploy secret={}", "deploy TF_VAR_secret={} --yes", "deploy --yes -var secret={}"] {
        trial.failed(&arguments.replace("{}", SECRET));
    }
    trial.search_kept();
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
    for command in
        ["show terraform_data.a --json", "state show terraform_data.a", "plan --full --unchanged --json"]
    {
        trial.done(command);
    }
    trial.search_kept();
}
