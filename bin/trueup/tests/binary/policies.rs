//! Plans that are held against policies.

use std::process::Command;

use trueup_cli_harness::Folder;

use crate::binary::stack;

const STACK: &str = r#"
resource "std_file" "open" {
  path    = "open.txt"
  content = "x"
  mode    = "0666"
}
"#;

const DENY: &str = r#"
[[policy]]
name = "private"
when = 'resource.type == "std_file" && resource.inputs != null && resource.inputs.mode == "0666"'
message = "nobody else may write it"
"#;

fn with_policy(text: &str) -> Folder {
    let folder = stack(STACK);
    folder.write("policies/p.toml", text);
    folder
}

/// POLICY-1
#[test]
fn what_a_policy_denies_is_neither_planned_saved_nor_deployed() {
    let folder = with_policy(DENY);
    for command in ["plan --stage t", "plan --stage t --out p.plan", "deploy --stage t --yes"] {
        let denied = folder.run(command);
        assert_eq!(denied.code, 1, "{denied:?}");
        assert!(denied.err.contains("policy `private`: nobody else may write it"), "{denied:?}");
        assert!(denied.out.contains("std_file.open"), "the plan is shown all the same: {denied:?}");
    }
    assert!(!folder.has("open.txt") && !folder.has("p.plan") && !folder.has(".trueup"));
}

/// PLANFILE-1: a plan is held against the policies of the day on which it is carried out.
#[test]
fn a_saved_plan_is_judged_again() {
    let folder = stack(STACK);
    folder.done("plan --stage t --out p.plan");
    folder.write("ours/p.toml", DENY);
    let denied = folder.run("deploy p.plan --policy ours");
    assert_eq!(denied.code, 1, "{denied:?}");
    assert!(denied.err.contains("policy `private`"), "{denied:?}");
    assert!(!folder.has("open.txt"));
    folder.done("deploy p.plan");
    assert!(folder.has("open.txt"));
}

/// POLICY-1
#[test]
fn a_warning_is_told_and_no_more() {
    let folder = with_policy(&DENY.replace("name =", "effect = \"warn\"\nname ="));
    let told = folder.json("plan --stage t --json");
    let expected = serde_json::json!([
        { "effect": "warn", "address": "std_file.open", "message": "policy `private`: nobody else may write it" }
    ]);
    assert_eq!(told["policies"], expected);
    let deployed = folder.done("deploy --stage t --yes");
    assert!(deployed.err.contains("warning"), "{deployed:?}");
}

#[test]
fn a_policy_that_cannot_be_read_stops_everything() {
    let folder = with_policy("[[policy]]\nname = 'x'\nwhen = 'resource.'\nmessage = 'm'");
    for command in ["plan --stage t", "plan --stage t --policy nowhere"] {
        let refused = folder.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains("a policy cannot be read"), "{refused:?}");
    }
    let refused = folder.run("plan --stage t");
    assert!(refused.err.contains("\n    |\n  1 | resource.\n    |          ^\n"), "{}", refused.err);
}

/// POLICY-1
#[test]
fn a_policy_that_cannot_be_evaluated_shows_the_place() {
    let folder =
        with_policy("[[policy]]\nname = 'x'\nwhen = 'resource.inputs.tags.team == 1'\nmessage = 'm'");
    let refused = folder.run("plan --stage t");
    assert_eq!(refused.code, 1, "{refused:?}");
    let excerpt = "\n    |\n  1 | resource.inputs.tags.team == 1\n    | ^^^^^^^^^^^^^^^^^^^^\n";
    assert!(refused.err.contains(excerpt), "{}", refused.err);
}

/// The mode is known once `origin` is made; `after` depends on the file, `beside` on nothing.
const LATE: &str = r#"
resource "terraform_data" "origin" {
  input = "0666"
}
resource "std_file" "open" {
  path    = "open.txt"
  content = "x"
  mode    = terraform_data.origin.output
}
resource "std_file" "after" {
  path    = "after.txt"
  content = std_file.open.path
}
resource "std_file" "beside" {
  path    = "beside.txt"
  content = "x"
}
"#;

const GUARDED: &str = r#"
[[policy]]
name = "private"
when = 'has(resource.inputs.mode) && resource.inputs.mode == "0666"'
message = "nobody else may write it"
"#;

/// POLICY-2
#[test]
fn a_secret_does_not_get_past_a_policy() {
    let folder = stack(&STACK.replace(r#""0666""#, r#"sensitive("0666")"#));
    folder.write("policies/p.toml", DENY);
    let denied = folder.run("deploy --stage t --yes");
    assert_eq!(denied.code, 1, "{denied:?}");
    assert!(denied.err.contains("policy `private`: nobody else may write it"), "{denied:?}");
    assert!(!format!("{denied:?}").contains("0666") && !folder.has("open.txt"), "{denied:?}");
}

/// POLICY-3, POLICY-4: on every path, an unknown value is judged before it is sent.
#[test]
fn what_is_unknown_in_the_plan_is_judged_before_it_is_sent() {
    let guarded = || {
        let folder = stack(LATE);
        folder.write("policies/p.toml", GUARDED);
        folder
    };
    let folder = guarded();
    let open = "policy `private` can't be decided yet for std_file.open: it depends on unknown values. It is checked again at apply.";
    let planned = folder.done("plan --stage t --out p.plan");
    assert!(planned.err.contains(open), "{planned:?}");
    let told = folder.json("plan --stage t --json");
    let expected = serde_json::json!([
        { "effect": "undecided", "address": "std_file.open", "message": "policy `private` is checked again at apply" }
    ]);
    assert_eq!(told["policies"], expected);
    let stopped = [
        (folder, "deploy p.plan"),
        (guarded(), "deploy --stage t --yes"),
        (guarded(), "deploy --stage t --yes --json"),
    ];
    for (folder, command) in &stopped {
        let stopped = folder.run(command);
        assert_eq!(stopped.code, 1, "{stopped:?}");
        let told = format!("{}{}", stopped.out, stopped.err);
        assert!(told.contains("policy `private`: nobody else may write it"), "{told}");
        assert!(
            told.contains("std_file.open") && told.contains("nothing was sent to the provider for it"),
            "{told}"
        );
        assert!(!folder.has("open.txt") && !folder.has("after.txt"), "{command}");
        assert!(folder.has("beside.txt"), "the rest of the run goes on");
    }
    let (folder, _) = &stopped[0];
    let recorded = folder.done("state list --stage t").out;
    assert!(!recorded.contains("std_file.open") && recorded.contains("std_file.beside"), "{recorded}");
    folder.write("main.tf", &LATE.replace("0666", "0600"));
    folder.done("deploy --stage t --yes");
    assert!(folder.has("open.txt") && folder.has("after.txt"));
}

/// POLICY-7: the same block is judged alike, whether its inputs are known while planning or not.
#[test]
fn data_sources_that_planning_reads_are_judged() {
    let folder = stack(
        r#"
data "std_file" "notes" {
  path = "notes.txt"
}

resource "std_file" "copy" {
  path    = "copy.txt"
  content = data.std_file.notes.content
}
"#,
    );
    folder.write("notes.txt", "n");
    folder.done("plan --stage t --out p.plan");
    let no_reads = r#"
[[policy]]
name = "no-reads"
when = 'resource.action == "read" && resource.inputs.path == "notes.txt"'
message = "notes are private"
"#;
    folder.write("ours/p.toml", no_reads);
    for command in ["plan --stage t", "deploy --stage t --yes", "deploy p.plan"] {
        let denied = folder.run(&format!("{command} --policy ours"));
        assert_eq!(denied.code, 1, "{denied:?}");
        assert!(denied.err.contains("policy `no-reads`: notes are private"), "{denied:?}");
        assert!(denied.err.contains("data.std_file.notes"), "{denied:?}");
    }
    assert!(!folder.has("copy.txt"));
    folder.done("deploy p.plan");
    let destroyed = folder.done("destroy --stage t --yes --policy ours");
    assert!(!folder.has("copy.txt"), "nothing is read for a destroy: {destroyed:?}");
}

/// POLICY-1: a folder of policies that is a link, such as to those of a team that are not checked out.
#[cfg(unix)]
#[test]
fn policies_that_a_link_does_not_lead_to_are_not_left_out() {
    let folder = stack(STACK);
    std::os::unix::fs::symlink("team/policies", folder.path().join("policies")).unwrap();
    for command in ["plan --stage t", "deploy --stage t --yes"] {
        let refused = folder.run(command);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains("a policy cannot be read"), "{refused:?}");
    }
    folder.write("team/policies/p.toml", DENY);
    assert!(folder.run("plan --stage t").err.contains("policy `private`"));
    assert!(!folder.has("open.txt"));
}

/// POLICY-1: whatever is in the place of policies, they are not left out.
#[cfg(unix)]
#[test]
fn what_takes_the_place_of_policies_stops_everything() {
    let unreadable = "a policy cannot be read";
    let rows = [
        ("a file", "echo text > policies", unreadable),
        ("a pipe", "mkfifo policies", unreadable),
        ("a folder in place of a file", "mkdir -p policies/a.toml", unreadable),
        ("a pipe in place of a file", "mkdir policies; mkfifo policies/a.toml", unreadable),
        ("a device", "mkdir policies; ln -s /dev/zero policies/a.toml", unreadable),
        ("a link to itself", "mkdir policies; ln -s a.toml policies/a.toml", unreadable),
        ("a link to nowhere", "mkdir policies; ln -s none policies/a.toml", unreadable),
        (
            "a link to its folder",
            "mkdir policies; ln -s . policies/a.toml; ln -s . policies/b.toml",
            unreadable,
        ),
        ("a large file", "mkdir policies; truncate -s 50G policies/a.toml", unreadable),
        ("no text", "mkdir policies; printf '\\377\\376' > policies/a.toml", unreadable),
        (
            "nested arrays",
            "mkdir policies; printf 'a = %0200000d' 0 | tr 0 '[' > policies/a.toml",
            unreadable,
        ),
        ("dotted keys", "mkdir policies; yes a. | head -100000 | tr -d '\\n' > policies/a.toml", unreadable),
        ("capitals", "mkdir policies; cp deny policies/a.TOML", "policy `private`"),
        ("a hidden file", "mkdir policies; cp deny policies/.a.toml", "policy `private`"),
        ("a file with policies", "cp deny policies", "policy `private`"),
    ];
    for (what, script, expected) in rows {
        let folder = stack(STACK);
        folder.write("deny", DENY);
        let made = Command::new("sh").args(["-c", script]).current_dir(folder.path()).status().unwrap();
        assert!(made.success(), "{what}");
        let refused = folder.run("deploy --stage t --yes");
        assert!(refused.code == 1 && refused.err.contains(expected), "{what}: {refused:?}");
        assert!(!folder.has("open.txt") && !folder.has(".trueup"), "{what}");
    }
}

/// POLICY-4: the repair of drift is a change like any other.
#[test]
fn drift_is_not_repaired_against_a_policy() {
    let folder = stack(STACK);
    folder.done("deploy --stage t --yes");
    folder.write("open.txt", "changed");
    folder.write("policies/p.toml", DENY);
    let denied = folder.run("drift --stage t --repair --yes");
    assert_eq!(denied.code, 1, "{denied:?}");
    assert!(denied.err.contains("policy `private`"), "{denied:?}");
    assert_eq!(folder.read("open.txt"), "changed");
}
