//! The real binary in a real terminal. Tests wait for what stands on the screen, never for time to pass.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

use trueup_cli_harness::keys::{CONTROL_C, ENTER, LEFT, RIGHT};
use trueup_cli_harness::{Folder, Screen};

const ONE_FILE: &str = "stack site\ntest_file a path=a.txt content=hello\n";
const GATED: &str = "stack site\ntest_file a path=a.txt content=hello\ntest_gate g until=open\n\
                     test_file late path=late.txt content=@test_gate.g.passed\n";

/// A folder with this text.
fn folder(text: &str) -> Folder {
    let folder = Folder::of(env!("CARGO_BIN_EXE_lines"));
    folder.write("stack.lines", text);
    folder
}

/// Makes the file that a gate waits for.
fn hold(folder: &Folder, name: &str) {
    folder.write(name, "");
}

#[test]
fn the_prompt_says_no_unless_yes_is_chosen() {
    let folder = folder(ONE_FILE);
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("Deploy to t?  ▸ No     Yes");
    screen.press(RIGHT);
    screen.wait_for("  No   ▸ Yes");
    screen.press(LEFT);
    screen.wait_for("▸ No     Yes");
    screen.press(ENTER);
    screen.wait_for("Nothing was changed.");
    assert_eq!(screen.ended(), 0);
    assert!(!folder.path().join("a.txt").exists());
}

/// DELETE-4: a destroy shows its plan and asks too.
#[test]
fn yes_deploys_and_tells_what_was_done() {
    let folder = folder(ONE_FILE);
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("▸ No");
    screen.press(RIGHT);
    screen.wait_for("▸ Yes");
    screen.press(ENTER);
    screen.wait_for("Deployed site to t in ");
    assert_eq!(screen.ended(), 0);
    screen.wait_for("✓ test_file.a                 created");
    assert!(screen.cursor_is_shown());
    let mut screen = Screen::run(&folder, "destroy");
    screen.wait_for("Plan: 1 to delete");
    screen.wait_for("Destroy t?  ▸ No");
    screen.press(b"y");
    screen.wait_for("1 deleted");
    assert_eq!(screen.ended(), 0);
    assert!(!folder.path().join("a.txt").exists());
}

#[test]
fn control_c_at_the_prompt_changes_nothing() {
    let folder = folder(ONE_FILE);
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("▸ No");
    screen.press(CONTROL_C);
    screen.wait_for("Interrupted; nothing was changed.");
    assert_eq!(screen.ended(), 130);
}

#[test]
fn a_signal_at_the_prompt_changes_nothing() {
    let folder = folder(ONE_FILE);
    let mut screen = Screen::run(&folder, "deploy --stage t");
    screen.wait_for("▸ No");
    screen.signal("TERM");
    screen.wait_for("Interrupted; nothing was changed.");
    assert_eq!(screen.ended(), 130);
}

#[test]
fn progress_is_live_and_leaves_no_trace() {
    let folder = folder(GATED);
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("waiting at the gate");
    screen.wait_for("1/3  1 running · 1 waiting");
    screen.wait_for("✓ test_file.a                 created");
    assert!(!screen.cursor_is_shown());
    hold(&folder, "open");
    screen.wait_for("Deployed site to t in ");
    assert_eq!(screen.ended(), 0);
    let text = screen.text();
    assert!(!text.contains("running") && !text.contains("creating"), "{text}");
    assert!(screen.cursor_is_shown());
}

/// APPLY-11
#[test]
fn the_first_control_c_finishes_what_is_under_way() {
    let folder = folder(GATED);
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("waiting at the gate");
    screen.wait_for("1/3  1 running");
    screen.press(CONTROL_C);
    screen.wait_for("Finishing 1 operation: test_gate.g (");
    screen.wait_for("Again to stop waiting.");
    hold(&folder, "open");
    screen.wait_for("1 not started, 2 done and recorded");
    screen.wait_for("Running again is safe: lines deploy --stage t --yes");
    assert_eq!(screen.ended(), 130);
    assert!(!folder.path().join("late.txt").exists());
    let mut screen = Screen::run(&folder, "deploy --yes");
    screen.wait_for("1 created, 2 unchanged");
    assert_eq!(screen.ended(), 0);
}

/// APPLY-11
#[test]
fn the_second_control_c_stops_waiting_and_leaves_an_intent() {
    let folder = folder(GATED);
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("waiting at the gate");
    screen.press(CONTROL_C);
    screen.wait_for("Again to stop waiting.");
    screen.press(CONTROL_C);
    screen.wait_for("Stopped after");
    screen.wait_for("1 not finished, 1 not started,");
    screen.wait_for("1 done and recorded");
    assert_eq!(screen.ended(), 130);
    assert!(screen.cursor_is_shown());
    let mut screen = Screen::run(&folder, "state list");
    screen.wait_for("test_gate.g  (create not finished)");
    assert_eq!(screen.ended(), 0);
    // Neither of these says that all is well.
    for command in ["drift", "plan --refresh-only"] {
        let mut screen = Screen::run(&folder, command);
        screen.wait_for("test_gate.g: an earlier run did not finish it; `lines deploy` does");
        assert_eq!(screen.ended(), 0, "{command}");
    }
}

#[test]
fn other_signals_are_like_control_c() {
    for signal in ["TERM", "HUP"] {
        let folder = folder(GATED);
        let mut screen = Screen::run(&folder, "deploy --stage t --yes");
        screen.wait_for("waiting at the gate");
        screen.wait_for("1/3  1 running");
        screen.signal(signal);
        screen.wait_for("Finishing 1 operation");
        hold(&folder, "open");
        screen.wait_for("1 not started");
        assert_eq!(screen.ended(), 130);
    }
}

#[test]
fn a_resize_is_followed() {
    let folder = folder(GATED);
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("─  1/3  1 running · 1 waiting");
    screen.resize(24, 120);
    screen.wait_for("1/3  1 running");
    screen.resize(24, 50);
    screen.wait_for("1/3  1 running");
    hold(&folder, "open");
    screen.wait_for("Deployed site to t in ");
    assert_eq!(screen.ended(), 0);
}

#[test]
fn retries_are_counted_on_the_line_of_their_resource() {
    let folder = folder(GATED);
    folder.write("open", "retry");
    let mut screen = Screen::run(&folder, "deploy --stage t --yes");
    screen.wait_for("retry 1/10 in ");
    folder.write("open", "fine");
    screen.wait_for("Deployed site to t in ");
    assert_eq!(screen.ended(), 0);
}

#[test]
fn a_protected_stage_asks_for_its_name() {
    let folder = folder(&format!("protect prod\n{ONE_FILE}"));
    let mut screen = Screen::run(&folder, "deploy --stage prod --yes");
    screen.wait_for("1 created");
    assert_eq!(screen.ended(), 0);
    let mut screen = Screen::run(&folder, "destroy --yes");
    screen.wait_for("Type its name to destroy it:");
    screen.press(b"prdo\x7f\x7fod\r");
    screen.wait_for("1 deleted");
    assert_eq!(screen.ended(), 0);
}

/// STATE-4
#[test]
fn a_second_deploy_waits_and_says_for_whom() {
    let folder = folder(GATED);
    let mut first = Screen::run(&folder, "deploy --stage t --yes");
    first.wait_for("waiting at the gate");
    let mut second = Screen::run(&folder, "deploy --stage t --yes --no-drift --no-wait");
    second.wait_for("the stage is held by");
    assert_eq!(second.ended(), 1);
    let mut third = Screen::run(&folder, "deploy --stage t --yes");
    third.wait_for("Waiting: stage t is held by");
    third.press(CONTROL_C);
    third.wait_for("Interrupted; nothing was changed.");
    assert_eq!(third.ended(), 130);
    hold(&folder, "open");
    first.wait_for("Deployed site to t");
    assert_eq!(first.ended(), 0);
}

#[test]
fn dev_deploys_at_every_change_and_survives_mistakes() {
    let folder = folder(ONE_FILE);
    let write = |text: &str| std::fs::write(folder.path().join("stack.lines"), text).unwrap();
    let mut screen = Screen::run(&folder, "dev --stage t --yes");
    screen.wait_for("1 created");
    screen.wait_for("watching");
    write("stack site\nnonsense\n");
    screen.wait_for("`nonsense` alone says nothing");
    write("stack site\ntest_file a path=a.txt content=forbidden\n");
    screen.wait_for("not authorized to write this");
    write("stack site\ntest_file a path=a.txt content=better\n");
    screen.wait_for("1 updated");
    screen.press(CONTROL_C);
    screen.wait_for("Stopped watching");
    assert_eq!(screen.ended(), 0);
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "better");
}

/// A terminal breaks long lines wherever they end.
#[test]
fn sentences_are_broken_between_words() {
    let folder = folder("stack a-shop-with-quite-a-long-name\ntest_file a path=a.txt content=hello\n");
    folder.done("deploy --stage preproduction --yes");
    folder.done("destroy --stage preproduction --yes");
    let mut screen = Screen::run(&folder, "stage delete preproduction --yes");
    screen.wait_for("are kept.");
    assert_eq!(screen.ended(), 0);
    let said = "Deleted stage preproduction of a-shop-with-quite-a-long-name: its history, outputs and sealing \
                keys. Key files are kept.";
    let text = screen.text();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(said.split(' ').all(|word| words.contains(&word)), "{text}");
    assert!(text.lines().all(|line| line.trim_end().len() < 80), "{text}");
}

/// A stack in Rust is deployed again when it is built anew.
#[test]
fn dev_starts_each_new_build_of_a_compiled_stack() {
    let built = std::path::Path::new(env!("CARGO_BIN_EXE_shelf"));
    let place = Folder::of(built);
    let build = || {
        // As cargo does: the new file takes the place of the old one.
        std::fs::copy(built, place.path().join("shelf.new")).unwrap();
        std::fs::rename(place.path().join("shelf.new"), place.path().join("shelf")).unwrap();
    };
    build();
    let folder = Folder::of(place.path().join("shelf"));
    let mut screen = Screen::run(&folder, "dev --stage t");
    screen.wait_for("Deploy to t at every change, without asking again?");
    screen.press(RIGHT);
    screen.press(ENTER);
    screen.wait_for("2 created");
    screen.wait_for("waiting for a new build");
    std::fs::remove_file(folder.path().join("about.txt")).unwrap();
    build();
    screen.wait_for("it was built anew");
    screen.wait_for("1 created");
    screen.wait_for("waiting for a new build");
    assert!(folder.has("about.txt"));
    screen.press(CONTROL_C);
    screen.wait_for("Stopped watching");
    assert_eq!(screen.ended(), 0);
}

#[test]
fn a_console_is_left_with_control_d() {
    let folder = folder(ONE_FILE);
    let mut screen = Screen::run(&folder, "console --stage t");
    screen.press(b"word\r");
    screen.wait_for("\"word\"\n>");
    screen.press(b"half");
    screen.wait_for("> half");
    screen.press(CONTROL_C);
    screen.wait_for("> half\n>");
    screen.press(b"\x04");
    assert_eq!(screen.ended(), 0);
}
