//! A run that is killed: what it has written by then stays in the write-ahead log of the state file.

use std::fs::File;
use std::process::Output;

use trueup_cli_harness::Told;

use super::finder::Finder;
use super::trial::Trial;
use crate::binary::gate::pipe;

const VALUE: &str = "wr1tten-ahead-and-never-checkpointed";

/// The files of a state that was not closed.
const STATE: [&str; 3] = [".trueup/state.db", ".trueup/state.db-wal", ".trueup/state.db-shm"];

fn text(is_secret: bool) -> String {
    format!(
        r#"
variable "value" {{ sensitive = {is_secret} }}

resource "terraform_data" "before" {{
  input = {{ text = "it is ${{var.value}}" }}
}}

resource "std_exec" "before" {{
  create      = ["sh", "-c", "echo \"$VALUE\" >&2; printf '{{\"echo\":\"%s\"}}' \"$(printf %s \"$VALUE\" | base64 -w0)\""]
  environment = {{ VALUE = "key=${{var.value}}" }}
}}

resource "std_exec" "slow" {{
  create      = ["sh", "-c", "echo \"$VALUE\" >&2; test -e second || {{ echo > reached; cat gate; }}; echo '{{}}'"]
  recover     = "token"
  input       = {{ header = "Bearer ${{var.value}}", document = jsonencode({{ key = var.value }}) }}
  environment = {{ VALUE = var.value }}
  depends_on  = [terraform_data.before, std_exec.before]
}}
"#
    )
}

/// Kills a deploy while a command of it waits.
fn killed(is_secret: bool) -> Trial {
    let trial = Trial::new(&text(is_secret), &[("TF_VAR_value", VALUE)], Finder::new(&[VALUE]));
    let folder = &trial.folder;
    pipe(folder, "reached");
    pipe(folder, "gate");
    let printed = |name: &str| File::create(folder.path().join(name)).unwrap();
    let mut command = trial.command("deploy --yes --json", &[]);
    let mut run = command.stderr(printed("noted")).stdout(printed("printed")).spawn().unwrap();
    folder.read("reached");
    run.kill().unwrap();
    let output =
        Output { status: run.wait().unwrap(), stdout: folder.read("printed").into(), stderr: Vec::new() };
    assert!(!Told::of(output, "deploy --yes --json").out.is_empty());
    for file in STATE {
        let length = std::fs::metadata(folder.path().join(file)).map_or(0, |it| it.len());
        assert!(length > 0, "{file} is missing or empty");
    }
    folder.write("second", "");
    trial
}

/// SECRET-3, SECRET-5: nor in what the next run, which finishes it, says and writes.
#[test]
fn a_killed_run_leaves_no_secret() {
    let trial = killed(true);
    trial.finder.assert_absent_below(trial.folder.path());
    trial.done("deploy --yes --json");
    trial.search_kept();
}

/// The planted leak: the same stack, where the value is not said to be secret.
#[test]
fn a_value_that_is_not_secret_is_found_in_what_a_killed_run_leaves() {
    let trial = killed(false);
    for file in [STATE[1], "printed", super::trial::LOG] {
        let bytes = std::fs::read(trial.folder.path().join(file)).unwrap();
        assert!(trial.finder.find(&bytes).is_some(), "{file} does not show the value");
    }
}
