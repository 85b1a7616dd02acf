//! A Terraform provider that logs, fails, crashes and answers with what it was given.

use trueup_cli_harness::{Folder, Told};

use super::finder::Finder;
use crate::binary::empty;
use crate::plugins::bench::{Bench, unfolded, versions};

const TOKEN: &str = "pr0vider-token+9f8e7d6c/5b4a";
const TAG: &str = "t4g that \"only\" the 0wner reads";
const KEY: &str = "k3y-of-a-tag-71c9d4";

struct Trial {
    bench: Bench,
    finder: Finder,
    /// Where the provider keeps its objects, with their secrets. It is not searched.
    objects: Folder,
}

impl Trial {
    fn new(version: u8) -> Self {
        let mut bench = Bench::new(version);
        let variables =
            [("TF_VAR_token", TOKEN), ("TF_VAR_tag", TAG), ("TF_VAR_key", KEY), ("TRUEUP_LOG", "trace")];
        bench.variables = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
        Trial { bench, finder: Finder::new(&[TOKEN, TAG, KEY]), objects: empty() }
    }

    /// Writes a stack whose provider is in trouble, by its block or by that of a thing.
    fn write(&self, block: &str, trouble: &str) {
        let objects = self.objects.path().display();
        self.bench.write(&format!(
            r#"
variable "token" {{ sensitive = true }}
variable "tag" {{ sensitive = true }}
variable "key" {{ sensitive = true }}

provider "fixture" {{
  folder  = "{objects}"
  token   = var.token
  trouble = "{block}"
}}

resource "fixture_thing" "a" {{
  name    = "a"
  trouble = "{trouble}"
  secret  = "x-${{var.tag}}"
}}

resource "fixture_open" "a" {{
  name  = "a"
  value = {{
    tag      = "x-${{var.tag}}"
    header   = "Basic ${{base64encode("user:${{var.tag}}")}}"
    document = jsonencode({{ tag = var.tag }})
    keys     = {{ (var.key) = 1 }}
    open     = "nothing to hide"
  }}
}}
"#
        ));
    }

    #[track_caller]
    fn run(&self, command: &str) -> Told {
        let command = self.bench.named(command);
        let told = self.bench.run(&format!("{command} --log-file log.txt"));
        self.finder.assert_absent(&command, told.out.as_bytes());
        self.finder.assert_absent(&command, told.err.as_bytes());
        told
    }

    #[track_caller]
    fn search_files(&self) {
        self.finder.assert_absent_below(self.bench.folder.path());
    }
}

/// SECRET-5, SECRET-9
#[test]
fn a_plugin_that_answers_cannot_make_a_secret_show() {
    for version in versions() {
        let trial = Trial::new(version);
        trial.write("warn", "warn");
        for command in [
            "plan --out s.plan",
            "show s.plan --json",
            "deploy --yes --json",
            "plan --full --unchanged --json",
            "show fixture_open.a",
            "state show fixture_open.a --json",
            "state export",
            "console fixture_open.a.echo",
        ] {
            let told = trial.run(command);
            assert_eq!(told.code, 0, "{command}: {told:?}");
        }
        // Terraform keeps secrets in the clear, so this is refused.
        assert_eq!(trial.run("export-state").code, 1);
        let shown = trial.run("show fixture_open.a --json").out;
        assert!(shown.matches("nothing to hide").count() >= 2, "the echo of what is open is open: {shown}");
        let log = trial.bench.folder.read("log.txt");
        assert!(log.contains("configured, for the log"), "the provider's own log is missing");
        trial.search_files();
    }
}

/// SECRET-5, SECRET-8: in errors, in its log, and in its last words.
#[test]
fn a_plugin_that_fails_cannot_make_a_secret_show() {
    for version in versions() {
        let trial = Trial::new(version);
        for (block, trouble, commands, said) in [
            ("fail", "", &["plan", "plan --json"][..], "Cannot configure"),
            ("", "fail-plan", &["plan"], "Cannot plan"),
            ("", "fail-create", &["deploy --yes", "deploy --yes --json"], "Cannot create"),
            ("", "fail-delete", &["deploy --yes", "destroy --yes", "history --json"], "Cannot delete"),
        ] {
            trial.write(block, trouble);
            let told = commands.iter().map(|command| trial.run(command)).map(|told| told.out + &told.err);
            let told = unfolded(&told.collect::<String>());
            assert!(told.contains(said) && told.contains("(secret)"), "{said}: {told}");
        }
        trial.search_files();
    }
}

/// SECRET-5: the last words of a provider that crashes, whether or not someone asks for backtraces.
#[test]
fn a_plugin_that_crashes_cannot_make_a_secret_show() {
    for (version, backtrace) in versions().into_iter().flat_map(|version| [(version, "0"), (version, "1")]) {
        let mut trial = Trial::new(version);
        trial.bench.variables.push(("RUST_BACKTRACE", backtrace.to_owned()));
        for (block, trouble, command) in
            [("crash", "", "plan --json"), ("", "crash-before", "deploy --yes --target fixture_thing.a")]
        {
            trial.write(block, trouble);
            let told = trial.run(command);
            let said = unfolded(&(told.out + &told.err));
            assert!(said.contains("asked to crash") && said.contains("(secret)"), "{command}: {said}");
        }
        trial.search_files();
    }
}
