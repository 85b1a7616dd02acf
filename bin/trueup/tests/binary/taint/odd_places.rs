//! Secrets where few people put them: keys of maps.

use super::finder::Finder;
use super::trial::Trial;

const KEY: &str = "customer-acme-4711";

/// Leads the life of a stack with `std_exec.a`, which repeats the key of a secret map.
fn a_key_stays_secret(text: &str) {
    let trial = Trial::new(text, &[("TF_VAR_key", KEY)], Finder::new(&[KEY]));
    let failing = [("TF_VAR_test", "false")];
    for command in ["deploy --yes", "deploy --yes --json", "plan --json"] {
        trial.run_with(command, &failing);
    }
    for command in [
        "deploy --yes --json",
        "plan --full --json",
        "state show std_exec.a",
        "console std_exec.a.result",
        "export-state --partial",
    ] {
        trial.run(command);
    }
    let shown = trial.done("show std_exec.a --json").out;
    assert!(shown.contains("nothing to hide"), "only what repeats the key is secret: {shown}");
    trial.search_kept();
}

/// SECRET-8, SECRET-9: a text that is made of the keys of a secret map.
#[test]
fn the_keys_of_a_secret_map_are_secret_as_texts() {
    a_key_stays_secret(
        r#"
variable "key" {}
variable "test" { default = "true" }

resource "std_exec" "a" {
  create      = ["sh", "-c", "tee /dev/stderr; echo \"of $NAMES\" >&2; $TEST"]
  update      = ["sh", "-c", "tee /dev/stderr; echo \"of $NAMES\" >&2; $TEST"]
  input       = { names = join(",", keys(sensitive({ (var.key) = "x" }))), open = "nothing to hide" }
  environment = { NAMES = join(" ", keys(sensitive({ (var.key) = "x" }))), TEST = var.test }
}
"#,
    );
}
