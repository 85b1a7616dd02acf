//! Plans of real stacks: each action, and what stops a plan or a run.

use trueup_cli_harness::{Folder, Told, steady};

use crate::binary::stack;

const BEFORE: &str = r#"
stack {
  name = "site"
}

resource "std_file" "kept" {
  path    = "kept.txt"
  content = "kept\n"
}

resource "std_file" "changed" {
  path    = "changed.html"
  content = "<html>\n<h1>Helo</h1>\n</html>\n"
}

resource "std_file" "reader" {
  path    = "reader.txt"
  content = std_exec.published.result.url
}

resource "std_exec" "published" {
  create = ["sh", "-c", "echo '{ \"url\": \"http://localhost\" }'"]
  update = ["sh", "-c", "echo '{ \"url\": \"http://localhost\" }'"]
  input  = { version = 1 }
}

resource "std_exec" "replaced" {
  create = ["sh", "-c", "echo '{}'"]
  input  = "one"
}

resource "std_file" "replaced" {
  path    = "old/name.txt"
  content = "same\n"
}

resource "terraform_data" "replaced" {
  input            = "one"
  triggers_replace = ["one"]
}

resource "std_file" "removed" {
  path    = "removed.txt"
  content = "removed\n"
}

resource "std_file" "before" {
  path    = "moved.txt"
  content = "moved\n"
}
"#;

fn after() -> String {
    let mut text = BEFORE.to_owned();
    for (before, after) in [
        ("Helo", "Hello"),
        ("version = 1", "version = 2"),
        ("\"one\"", "\"two\""),
        ("old/name.txt", "new/name.txt"),
        ("\"before\"", "\"after\""),
    ] {
        assert!(text.contains(before));
        text = text.replace(before, after);
    }
    let removed = text.find("resource \"std_file\" \"removed\"").unwrap();
    let next = text.find("resource \"std_file\" \"after\"").unwrap();
    text.replace_range(removed..next, "");
    text + r#"
moved {
  from = std_file.before
  to   = std_file.after
}

resource "std_file" "created" {
  path    = "created.txt"
  content = "user-agent: *\n"
  mode    = "0600"
}

data "std_file" "later" {
  path       = "kept.txt"
  depends_on = [std_file.created]
}

output "later" {
  value = data.std_file.later.content
}
"#
}

fn shown(told: &Told) -> String {
    // Random ones differ from run to run.
    let lines = told.out.lines().map(|line| match line.trim_start().starts_with("id ") {
        true => format!("{}ID → (known after apply)", &line[..line.find('"').unwrap_or(line.len())]),
        false => line.to_owned(),
    });
    steady(&lines.collect::<Vec<_>>().join("\n"))
}

/// PLAN-1, PLAN-3, PLAN-4, PLAN-5, PLAN-18, PLAN-19, UNKNOWN-7, MOVE-1
#[test]
fn every_action_is_shown() {
    let folder = stack(BEFORE);
    insta::assert_snapshot!("plan_creates", shown(&folder.done("plan --stage t")));
    folder.done("deploy --stage t --yes");
    folder.write("main.tf", &after());
    insta::assert_snapshot!("plan_changes", shown(&folder.done("plan")));
    insta::assert_snapshot!("plan_changes_full", shown(&folder.done("plan --full --unchanged")));
    insta::assert_snapshot!("plan_destroys", shown(&folder.done("plan --destroy")));
    let told = folder.done("deploy --yes");
    assert!(told.err.contains("Deployed site to t"), "{told:?}");
    assert!(folder.done("plan").out.contains("No changes"));
    insta::assert_snapshot!("plan_unchanged", shown(&folder.done("plan")));
    assert!(folder.has("new/name.txt") && !folder.has("old/name.txt") && !folder.has("removed.txt"));
}

/// PLAN-5
#[test]
fn a_removed_key_deletes_its_instance_alone() {
    let each = |keys: &str| {
        format!(
            "resource \"std_file\" \"x\" {{\n  for_each = toset({keys})\n  path     = each.key\n  content  = each.key\n}}\n"
        )
    };
    let folder = stack(&each("[\"a\", \"b\", \"c\"]"));
    folder.done("deploy --stage t --yes");
    folder.write("main.tf", &each("[\"a\", \"c\"]"));
    let plan = folder.json("plan --json");
    let changed: Vec<_> =
        plan["actions"].as_array().unwrap().iter().filter(|it| it["action"] != "no-op").collect();
    assert_eq!(changed.len(), 1, "{plan}");
    assert_eq!(
        (&changed[0]["address"], &changed[0]["action"]),
        (&"std_file.x[\"b\"]".into(), &"delete".into())
    );
    folder.done("deploy --yes");
    assert!(folder.has("a") && !folder.has("b") && folder.has("c"));
}

/// ADOPT-2, REPLACE-9
#[test]
fn what_stops_a_plan_is_told_on_its_resource() {
    let folder = stack("resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = \"mine\"\n}\n");
    folder.write("a.txt", "someone else's");
    let told = folder.run("plan --stage t");
    assert_eq!((told.code, folder.read("a.txt").as_str()), (1, "someone else's"));
    insta::assert_snapshot!("error_owned_by_someone_else", told.err);
    std::fs::remove_file(folder.path().join("a.txt")).unwrap();
    let protected = "resource \"std_file\" \"a\" {\n  path    = \"a.txt\"\n  content = \"mine\"\n\
                     \n  lifecycle {\n    prevent_destroy = true\n  }\n}\n";
    folder.write("main.tf", protected);
    folder.done("deploy --stage t --yes");
    folder.write("main.tf", &protected.replace("a.txt", "b.txt"));
    let told = folder.run("plan");
    assert_eq!(told.code, 1);
    insta::assert_snapshot!("error_protected", told.err);
    let told = folder.run("destroy --yes");
    assert_eq!((told.code, folder.read("a.txt").as_str()), (1, "mine"));
    insta::assert_snapshot!("error_protected_from_destroy", told.err);
}

/// APPLY-4
#[test]
fn what_fails_in_a_run_is_told_with_what_it_stopped() {
    let folder = stack(
        r#"stack {
  name = "site"
}

resource "std_exec" "jobs" {
  create = ["sh", "-c", "echo 'the queue is full' >&2; exit 1"]
}

resource "std_file" "worker" {
  path    = "worker.txt"
  content = std_exec.jobs.name
}

resource "std_file" "free" {
  path    = "free.txt"
  content = "free"
}
"#,
    );
    let told = folder.run("deploy --stage t --yes");
    assert_eq!(told.code, 1);
    assert!(folder.has("free.txt") && !folder.has("worker.txt"));
    insta::assert_snapshot!("error_in_a_run", failed(&folder, &told));
}

fn failed(folder: &Folder, told: &Told) -> String {
    let history = folder.json("history --json");
    let run = history["runs"][0]["run"].as_str().unwrap_or_else(|| panic!("{history}"));
    let text = steady(&told.err).replace(&run[..12], "RUN");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // What does not depend on one another ends in any order.
    let is_logged = |line: &String| line.starts_with("HH:MM:SS");
    let first = lines.iter().position(is_logged).unwrap_or_default();
    let logged = lines[first..].iter().take_while(|line| is_logged(line)).count();
    lines[first..][..logged].sort();
    lines.join("\n")
}
