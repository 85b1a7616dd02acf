//! Every exit of the program is searched, and each is proven to be: the same life of the same stack is led with a value
//! that is secret and with one that is not. The first shows nowhere, the second at every exit.

use trueup_cli_harness::{Folder, Screen, Told};

use super::finder::Finder;
use super::trial::{LOG, Trial};
use crate::binary::empty;

const VALUE: &str = "v4lue-that-may-be-secret-71c9";

/// Commands that show the value of a deployed stack, if it is not secret.
const SHOWING: [&str; 22] = [
    "plan --full --unchanged",
    "plan --full --unchanged --json",
    "drift",
    "drift --json",
    "output",
    "output --json",
    "show terraform_data.a",
    "show terraform_data.a --json",
    "show std_exec.a",
    "show std_exec.a --json",
    "state list",
    "state show std_exec.a",
    "state show std_exec.a --json",
    "state export",
    "export-state --partial",
    "why terraform_data.a --var suffix=-more",
    "why terraform_data.a --var suffix=-more --json",
    "graph --format dot",
    "graph --format mermaid",
    "graph --format svg",
    "graph --json",
    "console var.value",
];

fn text(is_secret: bool) -> String {
    // Addresses are shown everywhere, so that no secret may be part of one.
    let named = if is_secret { "[]" } else { "[var.value]" };
    format!(
        r#"
variable "value" {{ sensitive = {is_secret} }}
variable "suffix" {{ default = "" }}
variable "fail" {{ default = false }}

resource "terraform_data" "a" {{
  input = {{ text = "it is ${{var.value}}${{var.suffix}}" }}
}}

resource "terraform_data" "named" {{
  for_each = toset({named})
  input    = each.key
}}

resource "std_exec" "a" {{
  create = ["sh", "-c", "echo \"told $VALUE\" >&2; printf '{{\"echo\":\"%s\"}}' \"$VALUE\"; test $FAIL = false"]
  update = ["sh", "-c", "echo \"told $VALUE\" >&2; printf '{{\"echo\":\"%s\"}}' \"$VALUE\"; test $FAIL = false"]
  read   = ["sh", "-c", "printf '{{\"echo\":\"%s\"}}' \"$(cat drift 2> /dev/null)$VALUE\""]
  input       = {{ fail = var.fail, value = "x-${{var.value}}" }}
  environment = {{ VALUE = var.value, FAIL = tostring(var.fail) }}
}}

output "value" {{
  value     = terraform_data.a.output.text
  sensitive = {is_secret}
}}
"#
    )
}

fn trial(is_secret: bool) -> Trial {
    Trial::new(&text(is_secret), &[("TF_VAR_value", VALUE)], Finder::new(&[VALUE]))
}

/// Leads the life of the stack; what came out of each exit.
fn exits(trial: &Trial) -> Vec<(String, Vec<u8>)> {
    let mut exits = Vec::new();
    let failing = [("TF_VAR_fail", "true")];
    let run = |command: &str, variables: &[(&str, &str)]| trial.run_unsearched(command, variables);
    let mut heard = |place: &str, text: String| exits.push((place.to_owned(), text.into_bytes()));
    let all = |told: Told| told.out + &told.err;
    heard("plan", run("plan", &[]).out);
    heard("plan --json", run("plan --json --out s.plan", &[]).out);
    for command in ["show s.plan --full --unchanged", "show s.plan --json", "show s.plan --markdown"] {
        heard(command, all(run(command, &[])));
    }
    let failed = run("deploy --yes", &failing);
    assert_eq!(failed.code, 1, "{failed:?}");
    heard("the plan of a failed deploy", failed.out);
    heard("the errors of a failed deploy", failed.err);
    heard("the events of a failed deploy", run("deploy --yes --json", &failing).out);
    let runs: serde_json::Value = serde_json::from_str(&run("history --json", &[]).out).unwrap();
    let id = runs["runs"][0]["run"].as_str().unwrap();
    heard("history", all(run(&format!("history {id}"), &[])));
    heard("history --json", all(run(&format!("history {id} --json"), &[])));
    heard("the events of a deploy", run("deploy --yes --json", &[]).out);
    trial.folder.write("drift", "drifted-");
    for command in SHOWING {
        heard(command, all(run(command, &[])));
    }
    run("state export --to copy.json", &[]);
    for file in ["s.plan", "copy.json", LOG, ".trueup/state.db"] {
        exits.push((file.to_owned(), std::fs::read(trial.folder.path().join(file)).unwrap()));
    }
    for command in
        ["plan --destroy --full --unchanged", "drift --repair --yes --json", "destroy --yes --json"]
    {
        exits.push((command.to_owned(), run(command, &[]).out.into_bytes()));
    }
    exits
}

/// SECRET-5
#[test]
fn a_secret_shows_at_no_exit() {
    let trial = trial(true);
    for (exit, bytes) in exits(&trial) {
        trial.finder.assert_absent(&exit, &bytes);
    }
    trial.search_kept();
}

/// The planted leak: the same stack, where the value is not said to be secret.
#[test]
fn a_value_that_is_not_secret_is_found_at_every_exit() {
    let trial = trial(false);
    for (exit, bytes) in exits(&trial) {
        let found = trial.finder.find(&bytes);
        assert!(found.is_some(), "{exit} does not show the value:\n{}", String::from_utf8_lossy(&bytes));
    }
}

/// The screen of a terminal after a deploy that fails.
fn screen(is_secret: bool) -> (Folder, String) {
    let (folder, settings) = (empty(), empty());
    folder.write("main.tf", &text(is_secret));
    settings.write("settings", &format!("TF_VAR_value={VALUE}\nTF_VAR_fail=true\nTRUEUP_LOG=trace\n"));
    let settings_file = settings.path().join("settings");
    let command = format!("deploy --stage t --yes --log-file log.txt --env-file {}", settings_file.display());
    let mut screen = Screen::run(&folder, &command);
    assert_eq!(screen.ended(), 1, "{}", screen.text());
    (folder, screen.text())
}

/// SECRET-5: with the planted leak beside it.
#[test]
fn a_secret_shows_on_no_screen() {
    let finder = Finder::new(&[VALUE]);
    let (folder, shown) = screen(true);
    assert!(shown.contains("(secret)"), "{shown}");
    finder.assert_absent("the screen", shown.as_bytes());
    finder.assert_absent_below(folder.path());
    let (_, shown) = screen(false);
    assert!(finder.find(shown.as_bytes()).is_some(), "{shown}");
}
