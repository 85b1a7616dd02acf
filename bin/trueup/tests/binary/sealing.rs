//! Secrets at rest: where their key is, what is said without it, and how keys are changed.

use std::path::Path;

use trueup_cli_harness::{Folder, Screen, keys};

use crate::binary::gate::pipe;
use crate::binary::secrets::{CANARY, holding};
use crate::binary::stack;

const TEXT: &str = r#"
variable "secret" {
  type      = string
  sensitive = true
}

resource "std_file" "secret" {
  path    = "out/secret.txt"
  content = "key=${var.secret}"
}

resource "std_random_password" "made" {
  length = 20
}

resource "std_file" "made" {
  path    = "out/made.txt"
  content = std_random_password.made.result
}

output "secret" {
  value     = std_file.secret.content
  sensitive = true
}

output "path" {
  value = std_file.secret.path
}
"#;

fn deployed(environment: &[(&str, &str)]) -> Folder {
    let folder = stack(TEXT);
    done(&folder, "deploy --stage t --yes", environment);
    folder
}

/// Runs what must succeed, with the canary as the secret.
fn done(folder: &Folder, arguments: &str, environment: &[(&str, &str)]) -> String {
    let environment = [&[("TF_VAR_secret", CANARY)], environment].concat();
    let told = folder.run_with(arguments, &environment);
    assert_eq!(told.code, 0, "{arguments}: {told:?}");
    told.out + &told.err
}

fn refused(folder: &Folder, arguments: &str, environment: &[(&str, &str)]) -> String {
    let environment = [&[("TF_VAR_secret", CANARY)], environment].concat();
    let told = folder.run_with(arguments, &environment);
    assert_eq!(told.code, 1, "{arguments}: {told:?}");
    assert!(!told.err.contains(CANARY) && !told.out.contains(CANARY), "{told:?}");
    // Whatever the length of the folder's name, the lines break elsewhere.
    told.err.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "")
}

fn lose(folder: &Folder) {
    std::fs::rename(folder.path().join(KEY), folder.path().join("lost")).unwrap();
}

const KEY: &str = ".config/trueup/key";

/// SECRET-3, SECRET-14: the key is made by the first deploy, which says so, away from the state and for its owner alone, and
/// by nothing less.
#[test]
fn the_key_is_a_file_of_the_users() {
    let folder = stack(TEXT);
    done(&folder, "plan --stage t", &[]);
    assert!(!folder.has(KEY), "a plan makes no key");
    let told = done(&folder, "deploy --stage t --yes", &[]);
    assert!(told.contains("Created a key for the secrets in your state: ~/.config/trueup/key"), "{told}");
    assert!(told.contains("Keep a copy elsewhere"), "{told}");
    let told = done(&folder, "deploy --stage other --yes --adopt", &[]);
    assert!(!told.contains("Created a key"), "it is there already: {told}");
    done(&folder, "deploy --stage t --yes", &[]);
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(folder.path().join(KEY)).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
    assert_eq!(holding(folder.path()), ["out/secret.txt"]);
    assert!(done(&folder, "plan", &[]).contains("No changes"), "SECRET-2: the same secret is no change");
    let changed = folder.run_with("plan --json", &[("TF_VAR_secret", "another")]);
    assert!(changed.out.contains("update") && !changed.out.contains("another"), "{changed:?}");

    let folder = stack(TEXT);
    let inside = folder.path().join("keys/mine");
    let told = refused(&folder, "deploy --stage t --yes", &[("TRUEUP_KEY_FILE", inside.to_str().unwrap())]);
    assert!(told.contains("name another place"), "{told}");
    assert!(!inside.exists() && !folder.has(".trueup/state.db"), "nothing is left behind");
}

/// SECRET-3, SECRET-4: without the key, what needs it says where it was looked for, and all else goes on.
#[test]
fn without_the_key_only_secrets_are_out_of_reach() {
    let folder = deployed(&[]);
    let state = std::fs::read(folder.path().join(".trueup/state.db")).unwrap();
    lose(&folder);
    for command in ["plan", "deploy --yes", "destroy --yes", "drift", "output --raw secret", "console 1"] {
        let told = refused(&folder, command, &[]);
        assert!(told.contains("there is no key in") && told.contains(KEY), "{command}: {told}");
        assert!(told.contains("state rekey --forget"), "{command}: {told}");
    }
    assert!(!folder.has(KEY), "no other key is made");
    assert!(folder.read("out/secret.txt").contains(CANARY));
    for command in ["state list", "state show std_file.secret", "show std_file.secret", "history", "output"] {
        let told = done(&folder, command, &[]);
        assert!(!told.contains(CANARY) && !told.contains("sealed"), "{command}: {told}");
    }
    assert!(done(&folder, "show std_file.secret", &[]).contains("(secret)"));
    assert_eq!(done(&folder, "output --raw path", &[]), "out/secret.txt");
    assert_eq!(std::fs::read(folder.path().join(".trueup/state.db")).unwrap(), state, "nothing was touched");
    std::fs::rename(folder.path().join("lost"), folder.path().join(KEY)).unwrap();
    assert!(done(&folder, "plan", &[]).contains("No changes"));
}

/// SECRET-4: after a lost key secret inputs count as changed and secret outputs as unknown; nothing else is lost.
#[test]
fn a_lost_key_can_be_given_up() {
    let folder = deployed(&[]);
    assert!(done(&folder, "state rekey --forget --yes", &[]).contains("nothing to give up"));
    lose(&folder);
    let told = refused(&folder, "state rekey --forget", &[]);
    assert!(told.contains("--yes"), "{told}");
    let told = done(&folder, "state rekey --forget --yes", &[]);
    assert!(told.contains("std_file.secret: ") && told.contains("inputs.content"), "{told}");
    assert!(told.contains("std_random_password.made: outputs.result"), "{told}");
    assert!(done(&folder, "state show std_file.secret", &[]).contains("out/secret.txt"));
    let plan = done(&folder, "plan", &[]);
    assert!(plan.contains("std_file.secret"), "{plan}");
    // A password that is nowhere else is lost: what needs it says what to do.
    let password = folder.read("out/made.txt");
    let told = refused(&folder, "deploy --yes", &[]);
    assert!(told.contains("std_file.made") && told.contains("--replace ADDRESS"), "{told}");
    assert_eq!(folder.read("out/made.txt"), password);
    done(&folder, "deploy --replace std_random_password.made --yes", &[]);
    assert_eq!(folder.read("out/made.txt").len(), 20);
    assert_ne!(folder.read("out/made.txt"), password);
    assert!(folder.read("out/secret.txt").contains(CANARY));
    assert!(done(&folder, "plan", &[]).contains("No changes"));
    assert_eq!(done(&folder, "output --raw secret", &[]), format!("key={CANARY}"));
    assert_eq!(holding(folder.path()), ["out/secret.txt"]);
}

/// SECRET-3: other keys, of the same kind and of every other.
#[test]
fn keys_can_be_changed() {
    let folder = deployed(&[]);
    let (old, new) = ("0a".repeat(32), "0b".repeat(32));
    done(&folder, "state rekey --yes", &[]);
    assert!(done(&folder, "plan", &[]).contains("No changes"));
    let with_old = [("TRUEUP_KEY", old.as_str())];
    done(&folder, "state rekey --to env --yes", &with_old);
    lose(&folder);
    assert!(refused(&folder, "plan", &[]).contains("no key in TRUEUP_KEY"));
    assert!(done(&folder, "plan", &with_old).contains("No changes"));
    done(&folder, "state rekey --yes", &[with_old[0], ("TRUEUP_NEW_KEY", &new)]);
    let told = refused(&folder, "plan", &with_old);
    assert!(told.contains("and the secrets are sealed by") && !told.contains(&old), "{told}");
    let with_new = [("TRUEUP_KEY", new.as_str())];
    let phrase = ("TRUEUP_NEW_PASSPHRASE", "correct horse battery");
    done(&folder, "state rekey --to passphrase --yes", &[with_new[0], phrase]);
    let with_phrase = [("TRUEUP_PASSPHRASE", phrase.1)];
    assert!(done(&folder, "plan", &with_phrase).contains("No changes"));
    folder.write("keeper.sh", "read line\necho \"$line\" | rev\n");
    let command = format!("sh {}", folder.path().join("keeper.sh").display());
    let to_command = ("TRUEUP_NEW_KEY_COMMAND", command.as_str());
    let told = done(&folder, "state rekey --to command --yes --json", &[with_phrase[0], to_command]);
    assert!(told.contains(r#""key":"command""#), "{told}");
    assert!(done(&folder, "plan", &[("TRUEUP_KEY_COMMAND", &command)]).contains("No changes"));
    // The file that was given up is made anew where it is needed.
    done(&folder, "state rekey --to file --yes", &[("TRUEUP_KEY_COMMAND", &command)]);
    assert!(done(&folder, "plan", &[]).contains("No changes") && folder.has(KEY));
    assert_eq!(holding(folder.path()), ["out/secret.txt"]);
}

#[test]
fn a_passphrase_is_asked_for_in_a_terminal_and_not_shown() {
    let folder = stack(TEXT);
    folder.write("terraform.tfvars", &format!("secret = \"{CANARY}\"\n"));
    folder.write(".config/trueup/config.toml", "[key]\nkind = \"passphrase\"\n");
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("New passphrase");
    screen.press(b"correct horse");
    screen.press(keys::ENTER);
    screen.wait_for("Repeat the passphrase");
    screen.press(b"correct horse");
    screen.press(keys::ENTER);
    assert_eq!(screen.ended(), 0, "{}", screen.text());
    assert!(!screen.text().contains("correct"), "{}", screen.text());
    let mut screen = Screen::run(&folder, "plan");
    screen.wait_for("Passphrase:");
    screen.press(b"correct horse");
    screen.press(keys::ENTER);
    screen.wait_for("No changes");
    assert_eq!(screen.ended(), 0);
    let mut screen = Screen::run(&folder, "plan");
    screen.wait_for("Passphrase:");
    screen.press(b"wrong");
    screen.press(keys::ENTER);
    assert_eq!(screen.ended(), 1, "{}", screen.text());
    let told = folder.run("plan");
    assert!(told.code == 1 && told.err.contains("TRUEUP_PASSPHRASE"), "{told:?}");
}

/// STATE-9: an export is sealed unless it is asked to show secrets, and can be imported with the key.
#[test]
fn an_export_is_sealed_unless_asked_otherwise() {
    let folder = deployed(&[]);
    done(&folder, "state export --to copy.json", &[]);
    assert_eq!(holding(folder.path()), ["out/secret.txt"]);
    done(&folder, "state import copy.json --stage other --yes", &[]);
    assert!(done(&folder, "plan --stage other", &[]).contains("No changes"));
    done(&folder, "state export --show-secrets --to open.json", &[]);
    assert!(folder.read("open.json").contains(CANARY));
    done(&folder, "state import open.json --stage third --yes", &[]);
    assert!(done(&folder, "plan --stage third", &[]).contains("No changes"));
    std::fs::remove_file(folder.path().join("open.json")).unwrap();
    lose(&folder);
    let told = refused(&folder, "state import copy.json --stage fourth --yes", &[]);
    assert!(told.contains("there is no key in"), "{told}");
    done(&folder, "state export --stage t --to without-key.json", &[]);
    assert_eq!(holding(folder.path()), ["out/secret.txt"]);
}

/// SECRET-3: the outputs of another stack are sealed as well, and read with the same key.
#[test]
fn secret_outputs_of_another_stack_are_read_with_the_key() {
    let folder = crate::binary::empty();
    folder.write(
        "one/main.tu.hcl",
        &format!("stack {{\n  name = \"one\"\n}}\n\noutput \"a\" {{\n  value = \"{CANARY}\"\n  sensitive = true\n}}\n"),
    );
    folder.write(
        "two/main.tu.hcl",
        "stack {\n  name = \"two\"\n}\n\ndata \"stack_output\" \"one\" {\n  stack  = \"one\"\n  folder = \"../one\"\n}\n\n\
         resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = data.stack_output.one.outputs.a\n}\n",
    );
    folder.done("-C one deploy --stage t --yes");
    folder.done("-C two deploy --stage t --yes");
    assert_eq!(folder.read("two/a.txt"), CANARY);
    let found = holding(folder.path());
    assert!(found.iter().all(|file| file == "one/main.tu.hcl" || file == "two/a.txt"), "{found:?}");
}

/// SECRET-5: not in the database nor in the log beside it while a run lasts, nor in what a kill leaves.
#[test]
fn nothing_is_left_in_the_clear_by_a_run_that_is_killed() {
    let folder = stack(
        r#"
        variable "secret" {
          sensitive = true
        }

        resource "std_file" "first" {
          path    = "out/secret.txt"
          content = var.secret
        }

        resource "std_exec" "slow" {
          create      = ["sh", "-c", "echo here > reached; cat gate"]
          environment = { SECRET = var.secret }
          input       = std_file.first.content
        }
        "#,
    );
    pipe(&folder, "gate");
    pipe(&folder, "reached");
    folder.write("terraform.tfvars", &format!("secret = \"{CANARY}\"\n"));
    let run = folder.start("deploy --stage t --yes --log-file log.txt");
    assert_eq!(folder.read("reached"), "here\n");
    let allowed =
        |files: Vec<String>| files.iter().all(|it| it == "out/secret.txt" || it == "terraform.tfvars");
    assert!(folder.has(".trueup/state.db-wal"), "the log of the database is there while it is open");
    assert!(allowed(holding_files(folder.path())), "{:?}", holding_files(folder.path()));
    run.kill();
    assert!(allowed(holding_files(folder.path())), "{:?}", holding_files(folder.path()));
}

/// The same for a folder with pipes in it, which nobody may read.
fn holding_files(folder: &Path) -> Vec<String> {
    let pipes = [folder.join("gate"), folder.join("reached")];
    crate::binary::secrets::holding_except(folder, &pipes)
}

/// SECRET-14: a key that is made on purpose is where it was asked for, and takes no other's place.
#[test]
fn a_key_file_is_made_on_purpose() {
    let folder = stack(TEXT);
    let told = folder.done("key new team.key");
    assert!(told.err.contains("Created a key") && told.err.contains("Keep a copy elsewhere"), "{told:?}");
    let key = folder.read("team.key");
    let told = folder.run("key new team.key");
    assert!(
        told.code == 1 && told.err.contains("there is a key in") && folder.read("team.key") == key,
        "{told:?}"
    );
    assert_eq!(folder.json("key new other.key --json")["kind"], "key-made");
    let path = folder.path().join("team.key");
    let told = done(&folder, "deploy --stage t --yes", &[("TRUEUP_KEY_FILE", path.to_str().unwrap())]);
    assert!(!told.contains("Created a key") && !folder.has(KEY), "{told}");
}
