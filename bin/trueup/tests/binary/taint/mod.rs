//! Secrets are put in by every way there is, servers and commands repeat them in every form, and then every byte that
//! the program shows or keeps is searched for them (SECRET-5, SECRET-8, SECRET-9).

mod answers;
mod credentials;
mod exits;
mod finder;
mod garbled;
mod killed;
mod odd_places;
mod own_words;
mod planted;
mod plugin;
mod refused_deletes;
mod server;
mod trial;
mod views;

use finder::Finder;
use trial::Trial;

use crate::binary::stack;

const TOKEN: &str = "tok_9f8e7d6c5b4a39281706";
const PASSWORD: &str = "p\"ss\\w0rd/&<ä>+%41 two words";
const QUERY: &str = "qu?ry=k&y/with+signs";
const PAIR: &str = "ada-the-user:lovelace-1815-engine";
const PAIR_PART: &str = "lovelace-1815-engine";
const COMMAND: &str = "c0mmand-line-s3cret-value";
const KEY: &str = "k3y-of-a-map-that-is-secret";
const PIN: &str = "8317264055";

/// All of them.
const SECRETS: [&str; 7] = [TOKEN, PASSWORD, QUERY, PAIR_PART, COMMAND, KEY, PIN];

fn text(url: &str) -> String {
    format!(
        r#"
variable "token" {{ sensitive = true }}
variable "password" {{ sensitive = true }}
variable "query" {{ sensitive = true }}
variable "pair" {{ sensitive = true }}
variable "command" {{ sensitive = true }}
variable "key" {{ sensitive = true }}
variable "pin" {{
  type      = number
  sensitive = true
}}
variable "path" {{ default = "things" }}
variable "fail" {{ default = false }}

locals {{
  part = split(":", var.pair)[1]
}}

resource "std_http" "echo" {{
  # It answers for ever.
  consistency_window = 0
  headers = {{
    Authorization = "Bearer ${{var.token}}"
    X-Basic       = base64encode("user:${{local.part}}")
    X-Pin         = "pin=${{var.pin}}"
  }}
  create {{
    url  = "{url}/${{var.path}}?q=${{urlencode(var.query)}}"
    body = {{ login = {{ password = "it is ${{var.password}}" }}, document = jsonencode({{ p = var.password }}) }}
  }}
  update {{
    url  = "{url}/${{var.path}}?q=${{urlencode(var.query)}}"
    body = {{ login = {{ password = "it is ${{var.password}}" }}, fail = var.fail }}
  }}
  read   {{ url = "{url}/${{var.path}}?q=${{urlencode(var.query)}}" }}
  delete {{ url = "{url}/${{var.path}}?q=${{urlencode(var.query)}}" }}
}}

resource "std_exec" "echo" {{
  consistency_window = 0
  create = ["sh", "-c", <<-EOT
    env >&2
    env | od -An -tx1 | tr -d ' \n' >&2
    env | base64 >&2
    echo "$ARGUMENT ${{base64encode("--key=${{var.command}}")}}" | base64 -w0 >&2
    printf '{{"echo":"%s","encoded":"%s"}}' "$ARGUMENT" "$(printf %s "$ARGUMENT" | base64 -w0)"
    test "$FAIL" = false
  EOT
  ]
  update = ["sh", "-c", "env >&2; env | base64 >&2; printf '{{\"echo\":\"%s\"}}' \"$ARGUMENT\"; test \"$FAIL\" = false"]
  read   = ["sh", "-c", "printf '{{\"echo\":\"%s\"}}' \"$ARGUMENT\"; test \"$FAIL\" = false || {{ env >&2; exit 9; }}"]
  input  = {{ fail = var.fail, argument = "--key=${{var.command}}" }}
  environment = {{
    ARGUMENT = "--key=${{var.command}}"
    FAIL     = tostring(var.fail)
  }}
}}

resource "terraform_data" "keys" {{
  input = {{ (var.key) = 1, "x-${{var.key}}" = 2, open = 3 }}
}}

data "std_http" "echo" {{
  url     = "{url}/${{var.path}}"
  headers = {{ Authorization = "Basic ${{base64encode("x:${{var.token}}")}}" }}
}}

output "echo" {{
  value     = std_http.echo.response.echo
  sensitive = true
}}
"#
    )
}

fn trial() -> Trial {
    let variables = [
        ("TF_VAR_token", TOKEN),
        ("TF_VAR_password", PASSWORD),
        ("TF_VAR_query", QUERY),
        ("TF_VAR_pair", PAIR),
        ("TF_VAR_command", COMMAND),
        ("TF_VAR_key", KEY),
        ("TF_VAR_pin", PIN),
    ];
    Trial::new(&text(&server::start()), &variables, Finder::new(&SECRETS))
}

/// SECRET-5, SECRET-8: whatever refuses a request repeats it.
#[test]
fn nobody_who_refuses_can_make_a_secret_show() {
    let trial = trial();
    let refusing = [("TF_VAR_path", "refuse"), ("TF_VAR_fail", "true")];
    for command in ["plan", "plan --json --full --unchanged", "deploy --yes", "deploy --yes --json", "drift"]
    {
        let told = trial.run_with(command, &refusing);
        assert!(told.code != 0 || command.starts_with("plan"), "{command}: {told:?}");
    }
    let told = trial.run_with("deploy --yes --exclude data.std_http.echo", &refusing);
    assert!(told.err.contains("(secret)") && told.err.contains("bad words"), "{}", told.err);
    for command in ["history", "history --json", "plan --destroy", "state export", "destroy --yes --json"] {
        trial.run_with(command, &refusing);
    }
    trial.search_kept();
}

/// SECRET-8, SECRET-1: the warning of a secret that is too short does not show it either.
#[test]
fn a_secret_that_is_too_short_is_warned_of_and_not_shown() {
    let folder = stack(
        "variable \"pin\" {\n  sensitive = true\n  default   = \"#7@\"\n}\n\
         resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = var.pin\n}\n",
    );
    let told = folder.run("plan --stage t");
    assert!(told.err.contains("shorter than 4 characters"), "{told:?}");
    assert!(!told.err.contains("#7@") && !told.out.contains("#7@"), "{told:?}");
}

/// SECRET-5, SECRET-9: whatever answers repeats what it was sent, and answers are kept as they are.
#[test]
fn nobody_who_answers_can_make_a_secret_show() {
    let trial = trial();
    trial.done("plan --out s.plan --full --unchanged");
    for command in [
        "show s.plan --full --unchanged",
        "show s.plan --json",
        "show s.plan --markdown",
        "deploy s.plan --yes",
        "plan --full --unchanged",
        "drift --json",
        "deploy --force --yes --json",
        "output --json",
        "show std_http.echo",
        "show std_http.echo --json",
        "show std_exec.echo --json",
        "show terraform_data.keys --json",
        "state show std_http.echo",
        "state export",
        "why std_http.echo",
        "history --json",
        "graph --format svg",
        "console std_http.echo.response",
        "console data.std_http.echo.body",
        "console terraform_data.keys.output --json",
    ] {
        trial.done(command);
    }
    trial.run_with("deploy --yes", &[("TF_VAR_fail", "true")]);
    let shown = trial.done("show std_http.echo --json").out;
    assert!(shown.contains("nothing to hide"), "only what repeats a secret is secret: {shown}");
    // The answer itself was not altered.
    let echo = trial.run_unsearched("output --raw echo", &[]).out;
    assert!(echo.contains(&format!("Bearer {TOKEN}")), "{echo}");
    trial.search_kept();
    trial.done("destroy --yes --json");
    trial.search_kept();
}
