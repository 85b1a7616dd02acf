//! Secrets that nobody was given: a server or a command issues them, and repeats them.

use trueup_cli_harness::Folder;

use super::finder::Finder;
use super::server::{self, ISSUED};
use super::trial::Trial;
use crate::binary::empty;

/// SECRET-9: in the same answer, as part of the id and of a URL.
#[test]
fn a_secret_that_a_server_issues_is_secret_wherever_it_repeats_it() {
    let url = server::start();
    let text = format!(
        r#"
resource "std_http" "issued" {{
  create {{ url = "{url}/issue/object" }}
  read   {{ url = "{url}/issue/object" }}
  update {{ url = "{url}/issue/object" }}
  delete {{ url = "{url}/issue/object" }}
  # It answers for ever.
  consistency_window = 0
  secret_responses = ["/token"]
}}

resource "std_http" "unread" {{
  create {{ url = "{url}/issue/unread-object" }}
  delete {{ url = "{url}/issue/unread-object" }}
  secret_responses = ["/token"]
}}
"#
    );
    let trial = Trial::new(&text, &[], Finder::new(&[ISSUED]));
    for command in [
        "deploy --yes",
        "show std_http.unread",
        "deploy --force --yes --json",
        "plan --full --unchanged",
        "plan --full --unchanged --json",
        "drift --json",
        "show std_http.issued",
        "state show std_http.issued --json",
        "why std_http.issued",
        "console std_http.issued.id",
        "console std_http.unread.response.url",
    ] {
        trial.done(command);
    }
    let shown = trial.done("show std_http.issued --json").out;
    assert!(shown.contains("nothing to hide"), "only what repeats the secret is secret: {shown}");
    let told = trial.failed("destroy --yes");
    assert!(told.err.contains("is in use"), "{told:?}");
    trial.search_kept();
}

/// SECRET-8, SECRET-9: a pointer tells no parts of JSON that is cut short, nor of other text: any part may be the secret.
#[test]
fn an_answer_without_parts_hides_the_secret_that_a_server_issues() {
    let url = server::start();
    let text = |path: &str, pointer: &str| {
        format!(
            "resource \"std_http\" \"a\" {{\n  create {{\n    url = \"{url}/{path}\"\n{pointer}  }}\n  \
             secret_responses = [\"/token\"]\n}}\n"
        )
    };
    let trial = Trial::new(&text("refuse-issue-broken", ""), &[], Finder::new(&[ISSUED]));
    for pointer in ["", "    pointer = \"/item\"\n"] {
        trial.folder.write("main.tf", &text("refuse-issue-broken", pointer));
        for command in ["deploy --yes", "deploy --yes --json"] {
            let told = trial.failed(command);
            assert!(
                (told.out + &told.err).contains("was answered with 400: (secret)"),
                "{command}, {pointer}"
            );
        }
    }
    for path in ["issue-broken", "issue-text"] {
        trial.folder.write("main.tf", &text(path, ""));
        trial.done("deploy --yes --json --replace std_http.a");
        for command in ["show std_http.a --json", "plan --full --unchanged", "console std_http.a"] {
            trial.done(command);
        }
        trial.search_kept();
    }
}

/// SECRET-1: an answer that is said to be secret is, whatever its status.
#[test]
fn a_refusal_to_a_data_source_with_a_secret_answer_is_not_shown() {
    let url = server::start();
    for path in ["refuse-issue", "refuse-issue-broken"] {
        let text = format!("data \"std_http\" \"a\" {{\n  url    = \"{url}/{path}\"\n  secret = true\n}}\n");
        let trial = Trial::new(&text, &[], Finder::new(&[ISSUED]));
        for command in ["plan", "plan --json", "deploy --yes --json"] {
            let told = trial.failed(command);
            assert!((told.out + &told.err).contains("(secret)"), "{command}");
        }
        trial.search_kept();
    }
}

/// A command that issues a secret. It stands in a folder of its own, which is not searched.
fn issuing() -> (Folder, Trial) {
    let commands = empty();
    commands.write(
        "issue.sh",
        &format!(
            r#"
            cat > /dev/null
            echo "issued {ISSUED}, which is" >&2
            printf %s {ISSUED} | base64 -w0 >&2
            echo '{{"token": "{ISSUED}", "id": "object-{ISSUED}", "url": "https://example.com/?t={ISSUED}", "plain": "nothing to hide"}}'
            test "$FAIL" = false
            "#
        ),
    );
    let script = commands.path().join("issue.sh");
    let script = script.display();
    let text = format!(
        r#"
variable "fail" {{ default = false }}

resource "std_exec" "issued" {{
  create = ["sh", "{script}"]
  read   = ["sh", "{script}"]
  update = ["sh", "{script}"]
  delete = ["sh", "{script}"]
  # It answers for ever.
  consistency_window = 0
  input          = {{ fail = var.fail }}
  environment    = {{ FAIL = tostring(var.fail) }}
  secret_results = ["token"]
}}

resource "std_exec" "unread" {{
  create         = ["sh", "{script}"]
  delete         = ["true"]
  input          = {{ fail = var.fail }}
  environment    = {{ FAIL = tostring(var.fail) }}
  secret_results = ["token"]
}}
"#
    );
    let trial = Trial::new(&text, &[], Finder::new(&[ISSUED]));
    (commands, trial)
}

const FAILING: [(&str, &str); 1] = [("TF_VAR_fail", "true")];

/// SECRET-8, SECRET-9
#[test]
fn a_secret_that_a_command_issues_is_secret_wherever_it_repeats_it() {
    let (_commands, trial) = issuing();
    trial.done("deploy --yes");
    let shown = trial.done("show std_exec.issued --json").out;
    assert!(shown.contains("nothing to hide"), "only what repeats the secret is secret: {shown}");
    trial.done("show std_exec.unread --json");
    for command in ["plan --full --unchanged --json", "deploy --yes --json", "drift --json"] {
        trial.run_with(command, &FAILING);
    }
    for command in ["deploy --yes", "state show std_exec.issued --json", "console std_exec.issued.result.url"]
    {
        trial.done(command);
    }
    trial.search_kept();
    trial.done("destroy --yes");
    trial.search_kept();
}

/// SECRET-8: nobody knew the secret before the command that fails printed it.
#[test]
fn a_command_that_fails_cannot_show_the_secret_that_it_issues() {
    let (_commands, trial) = issuing();
    for command in ["deploy --yes", "deploy --yes --json"] {
        let told = trial.run_with(command, &FAILING);
        assert_eq!(told.code, 1, "{told:?}");
    }
    trial.done("show std_exec.issued --json");
    trial.search_kept();
}
