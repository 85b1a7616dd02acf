//! A secret goes where it is sent and nowhere else.

use std::path::{Path, PathBuf};

use crate::binary::stack;

pub(crate) const CANARY: &str = "canary-7d1f0c-hush";

const TEXT: &str = r#"
variable "secret" {
  type      = string
  sensitive = true
}

variable "fail" {
  default = false
}

resource "std_file" "secret" {
  path    = "out/secret.txt"
  content = "key=${var.secret}"
  mode    = "0600"
}

resource "std_exec" "secret" {
  create      = ["sh", "-c", "echo \"using $SECRET\" >&2; echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\"; test $FAIL = false"]
  update      = ["sh", "-c", "echo \"using $SECRET\" >&2; echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\"; test $FAIL = false"]
  read        = ["sh", "-c", "echo \"{ \\\"got\\\": \\\"$SECRET\\\" }\""]
  input       = { length = length(var.secret), fail = var.fail, key = var.secret }
  environment = { SECRET = var.secret, FAIL = tostring(var.fail) }
}

output "secret" {
  value     = std_exec.secret.result.got
  sensitive = true
}
"#;

/// SECRET-1, SECRET-2, SECRET-5: not in what is printed, not in events, not in the log.
#[test]
fn a_secret_is_in_no_output_no_event_and_no_log() {
    let folder = stack(TEXT);
    let environment = [("TF_VAR_secret", CANARY), ("TRUEUP_LOG", "trace")];
    let failing = [environment[0], environment[1], ("TF_VAR_fail", "true")];
    for (command, environment) in [
        ("validate", &environment[..]),
        ("plan --stage t", &environment),
        ("plan --stage t --full --unchanged --json", &environment),
        ("plan --stage t --out s.plan", &environment),
        ("show s.plan --full --unchanged", &environment),
        ("show s.plan --json", &environment),
        ("show s.plan --markdown", &environment),
        ("deploy --stage t --yes", &failing),
        ("deploy --yes --json", &environment),
        ("plan --full --unchanged", &environment),
        ("deploy --force --yes", &environment),
        ("deploy --force --yes --json", &failing),
        ("drift", &environment),
        ("output", &environment),
        ("output --json", &environment),
        ("show std_file.secret", &environment),
        ("show std_exec.secret --json", &environment),
        ("state show std_exec.secret", &environment),
        ("why std_exec.secret", &environment),
        ("history", &environment),
        ("history --json", &environment),
        ("graph", &environment),
        ("graph --format svg", &environment),
        ("console var.secret", &environment),
        ("console std_exec.secret", &environment),
        ("console upper(std_file.secret.content) --json", &environment),
        ("config", &environment),
        ("plan --destroy --full --unchanged", &environment),
    ] {
        let told = folder.run_with(&format!("{command} --log-file log.txt"), environment);
        for text in [&told.out, &told.err] {
            assert!(!text.to_lowercase().contains(CANARY), "{command}:\n{text}");
        }
    }
    let runs = folder.json("history --json");
    for run in runs["runs"].as_array().unwrap() {
        let told = folder.done(&format!("history {} --json", run["run"].as_str().unwrap()));
        assert!(!told.out.contains(CANARY), "{}", told.out);
    }
    assert_eq!(folder.read("out/secret.txt"), format!("key={CANARY}"));
    // Whoever names one output means to have it.
    assert_eq!(folder.done("output --raw secret").out, CANARY);
    assert!(folder.read("log.txt").contains("reconciler."), "the log has no events");
    for file in holding(folder.path()) {
        assert!(file == "out/secret.txt", "the secret is in {file}");
    }
    let told = folder.run_with("destroy --yes --json --log-file log.txt", &environment);
    assert_eq!(told.code, 0, "{told:?}");
    assert!(
        !told.out.contains(CANARY) && !told.err.contains(CANARY) && !folder.read("log.txt").contains(CANARY)
    );
}

/// SECRET-1, SECRET-5: nor is one of a `provider` block, though the commands and errors of that provider repeat it.
#[test]
fn a_secret_of_a_provider_block_is_in_no_output_no_event_and_no_log() {
    let folder = stack(
        r#"
variable "secret" {
  type      = string
  sensitive = true
}

variable "fail" {
  default = false
}

provider "std" {
  folder = var.secret
}

resource "std_exec" "secret" {
  create      = ["sh", "-c", "pwd >&2; echo \"{ \\\"got\\\": \\\"$PWD\\\" }\"; test $FAIL = false"]
  update      = ["sh", "-c", "pwd >&2; echo \"{ \\\"got\\\": \\\"$PWD\\\" }\"; test $FAIL = false"]
  delete      = ["sh", "-c", "pwd >&2; test $FAIL = false"]
  input       = var.fail
  environment = { FAIL = tostring(var.fail) }
}

resource "std_file" "beside" {
  path    = "beside.txt"
  content = "beside"
}

data "std_file" "missing" {
  count = var.fail ? 1 : 0
  path  = "missing.txt"
}
"#,
    );
    let environment = [("TF_VAR_secret", CANARY), ("TRUEUP_LOG", "trace")];
    let failing = [environment[0], environment[1], ("TF_VAR_fail", "true")];
    let run = |command: &str, environment: &[(&str, &str)]| {
        let told = folder.run_with(&format!("{command} --log-file log.txt"), environment);
        for text in [&told.out, &told.err] {
            assert!(!text.contains(CANARY), "{command}:\n{text}");
        }
        told
    };
    // Where a folder is wanted there is a file: the provider itself says so.
    folder.write(CANARY, "in the way");
    let told = run("deploy --stage t --yes", &environment);
    assert!(told.code == 1 && told.err.contains("(secret)"), "{told:?}");
    std::fs::remove_file(folder.path().join(CANARY)).unwrap();
    std::fs::create_dir(folder.path().join(CANARY)).unwrap();
    run("plan", &failing);
    let told = run("deploy --yes --json --exclude data.std_file.missing", &failing);
    assert!(told.code == 1 && told.out.contains("(secret)"), "{told:?}");
    assert_eq!(run("deploy --yes", &environment).code, 0);
    for command in
        ["deploy --yes", "destroy --yes --json", "history", "history --json", "plan --full --unchanged"]
    {
        run(command, &failing);
    }
    for command in ["show std_exec.secret", "state export", "output --json", "destroy --yes"] {
        run(command, &environment);
    }
    assert_eq!(holding(folder.path()), [""; 0]);
}

/// The secret as an argument is not in the command that is offered to be run again, nor in the log.
#[test]
fn a_secret_argument_is_not_repeated() {
    let folder = stack(TEXT);
    let told =
        folder.run(&format!("deploy --stage t --yes --log-file log.txt -var fail=true -var secret={CANARY}"));
    assert_eq!(told.code, 1, "{told:?}");
    assert!(told.err.contains("--var secret=…"), "{told:?}");
    assert!(!told.err.contains(CANARY) && !told.out.contains(CANARY), "{told:?}");
    assert!(!folder.read("log.txt").contains(CANARY));
}

/// The files below the folder that hold the secret.
pub(crate) fn holding(folder: &Path) -> Vec<String> {
    holding_except(folder, &[])
}

/// The same, but for some that are not looked into.
pub(crate) fn holding_except(folder: &Path, except: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if except.contains(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(CANARY) {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// SECRET-12: the password of a store's address is in nothing that is said or logged, however the address is wrong.
#[test]
fn passwords_in_addresses_are_told_to_nobody() {
    const PASSWORD: &str = "hunter22pw";
    let folder = stack("output \"a\" {\n  value = 1\n}\n");
    folder.done("deploy --stage t --yes");
    let addresses = [
        "postgres://ada:hunter22pw@127.0.0.1:1/db",
        "postgresql://ada:hunter22pw@127.0.0.1:1/db?sslmode=sometimes",
        "postgres://127.0.0.1:1/db?password=hunter22pw",
        "postgres://ada:hunter22pw@x@127.0.0.1/db",
        "mysql://ada:hunter22pw@127.0.0.1/db",
        "s3://states?region=x&endpoint=http://ada:hunter22pw@127.0.0.1:1",
    ];
    for address in addresses {
        for command in ["state migrate --yes --to", "state migrate --yes --json --to", "plan --too", "show"] {
            let command = format!("{command} {address} --log-file told.log");
            let failed = folder.run_with(&command, &[("TRUEUP_LOG", "trace")]);
            assert_ne!(failed.code, 0, "{command}: {failed:?}");
            assert!(!format!("{failed:?}").contains(PASSWORD), "{command}: {failed:?}");
            let log = if folder.has("told.log") { folder.read("told.log") } else { String::new() };
            let leaking = log.lines().find(|line| line.contains(PASSWORD));
            assert_eq!(leaking, None, "{command}");
        }
    }
    assert!(folder.read("told.log").contains("state migrate --yes --to 'postgres://ada:…@127.0.0.1:1/db'"));
}
