//! The program in a real terminal. Tests wait for what stands on the screen, never for time to pass.

use trueup_cli_harness::keys::{CONTROL_C, ENTER, LEFT, RIGHT};
use trueup_cli_harness::{Folder, Screen};

use crate::binary::gate::{open, pipe};
use crate::binary::stack;

const ONE_FILE: &str = r#"
resource "std_file" "hello" {
  path    = "out/hello.txt"
  content = "hello\n"
}
"#;

/// A file, something that takes as long as the test wants, and a file that waits for it.
const GATED: &str = r#"
stack { name = "site" }
resource "std_file" "before" {
  path    = "before.txt"
  content = "before\n"
}
resource "std_exec" "slow" {
  create = ["sh", "-c", "cat gate"]
  lookup = ["sh", "-c", "test ! -e made || echo '{}'"]
  update = ["true"]
}
resource "std_file" "after" {
  path       = "after.txt"
  content    = "after\n"
  depends_on = [std_exec.slow]
}
"#;

fn gated() -> Folder {
    let folder = stack(GATED);
    pipe(&folder, "gate");
    folder
}

/// STATE-13
#[test]
fn the_prompt_takes_no_and_yes() {
    let folder = stack(ONE_FILE);
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("Deploy to t?  ▸ No     Yes");
    screen.press(RIGHT);
    screen.wait_for("▸ Yes");
    screen.press(LEFT);
    screen.wait_for("▸ No");
    screen.press(ENTER);
    screen.wait_for("Nothing was changed.");
    assert_eq!(screen.ended(), 0);
    assert!(!folder.has("out") && !folder.has(".trueup"));
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("▸ No");
    screen.press(RIGHT);
    screen.wait_for("▸ Yes");
    screen.press(ENTER);
    screen.wait_for("1 created");
    assert_eq!(screen.ended(), 0);
    assert_eq!(folder.read("out/hello.txt"), "hello\n");
}

/// STATE-13: it spun before, reading the end of the terminal over and over.
#[test]
fn a_prompt_ends_with_its_terminal() {
    let folder = stack(ONE_FILE);
    assert!(Screen::ends_when_closed(&folder, "deploy --stage t", "▸ No"), "it goes on without a terminal");
    assert!(!folder.has("out") && !folder.has(".trueup"));
}

#[test]
fn progress_is_live_and_leaves_no_trace() {
    let folder = gated();
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("std_exec.slow");
    screen.wait_for("1/3  1 running · 1 waiting");
    assert!(!screen.cursor_is_shown());
    open(&folder);
    screen.wait_for("3 created");
    assert_eq!(screen.ended(), 0);
    let text = screen.text();
    assert!(!text.contains("running") && !text.contains("creating"), "{text}");
    assert!(screen.cursor_is_shown());
}

/// APPLY-11
#[test]
fn the_first_control_c_lets_the_command_finish() {
    let folder = gated();
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("1/3  1 running · 1 waiting");
    screen.press(CONTROL_C);
    screen.wait_for("Finishing 1 operation: std_exec.slow (");
    screen.wait_for("Again to stop waiting.");
    open(&folder);
    screen.wait_for("1 not started, 2 done and recorded");
    assert_eq!(screen.ended(), 130);
    assert!(folder.has("before.txt") && !folder.has("after.txt"));
    assert!(folder.done("deploy --yes").err.contains("1 created, 2 unchanged"));
}

/// APPLY-11
#[test]
fn the_second_control_c_stops_at_once_and_the_next_run_finds_out() {
    let folder = gated();
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("1/3  1 running · 1 waiting");
    screen.press(CONTROL_C);
    screen.wait_for("Again to stop waiting.");
    screen.press(CONTROL_C);
    screen.wait_for("Stopped after");
    assert_eq!(screen.ended(), 130);
    assert!(screen.cursor_is_shown());
    assert!(folder.done("state list").out.contains("std_exec.slow  (create not finished)"));
    folder.write("made", "");
    let told = folder.done("deploy --yes");
    assert!(told.out.contains("std_exec.slow") && told.err.contains("std_file.after created"), "{told:?}");
}

/// STATE-4, STATE-12: also for what nobody could look up.
#[test]
fn a_second_deploy_waits_for_the_first_and_takes_up_from_there() {
    let folder = stack(&GATED.replace("lookup", "# lookup"));
    pipe(&folder, "gate");
    let mut first = Screen::run(&folder, "deploy --stage t --yes");
    first.wait_for("1/3  1 running · 1 waiting");
    let mut second = Screen::run(&folder, "deploy --stage t --yes");
    second.wait_for("Waiting: stage t is held by");
    open(&folder);
    first.wait_for("3 created");
    assert_eq!(first.ended(), 0);
    second.wait_for("3 unchanged");
    assert_eq!(second.ended(), 0);
}

#[test]
fn a_resize_is_followed() {
    let folder = gated();
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("1/3  1 running · 1 waiting");
    screen.resize(24, 120);
    screen.resize(10, 40);
    // The bar takes what room there is.
    screen.wait_for("\n━━━━────────  1/3  1 running · 1 waiting");
    open(&folder);
    screen.wait_for("3 created");
    assert_eq!(screen.ended(), 0);
}

#[test]
fn dev_follows_edits_and_survives_mistakes() {
    let folder = stack(ONE_FILE);
    let write = |content: &str| folder.write("main.tf", &ONE_FILE.replace("hello\\n", content));
    let mut screen = Screen::run(&folder, "dev --stage t --yes");
    screen.wait_for("1 created");
    // The file that was written lies in the folder that is watched: worth a look, and a word.
    screen.wait_for("No changes");
    assert_eq!(screen.text().matches("Deployed").count(), 1, "{}", screen.text());
    write("first");
    screen.wait_for("1 updated");
    folder.write("main.tf", "resource \"std_file\" {");
    screen.wait_for("error");
    screen.wait_for("main.tf:1");
    folder.write("more.tf", "resource \"std_file\" \"second\" {\n  path = \"b.txt\"\n  content = \"b\"\n}\n");
    write("second");
    screen.wait_for("1 created, 1 updated");
    screen.press(CONTROL_C);
    screen.wait_for("Stopped watching");
    assert_eq!(screen.ended(), 0);
    assert_eq!((folder.read("out/hello.txt"), folder.read("b.txt")), ("second".to_owned(), "b".to_owned()));
}

/// A long value goes beyond no line: what stands beside it would be broken in mid-word.
#[test]
fn settings_fit_the_terminal() {
    let path = format!("{}/state.db", "long".repeat(11));
    let folder = stack(&format!("stack {{\n  state \"sqlite\" {{\n    path = \"{path}\"\n  }}\n}}\n"));
    let mut screen = Screen::run(&folder, "config");
    assert_eq!(screen.ended(), 0, "{}", screen.text());
    let text = screen.text();
    assert!(text.contains(&path) && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}
