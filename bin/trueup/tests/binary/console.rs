//! `console` in a terminal: lines are edited, go on, complete and are remembered.

use trueup_cli_harness::keys::{CONTROL_C, ENTER};
use trueup_cli_harness::{Folder, Screen};

use crate::binary::stack;

const HISTORY: &str = ".local/state/trueup/console_history";
const CONTROL_D: &[u8] = b"\x04";
const UP: &[u8] = b"\x1b[A";
const TAB: &[u8] = b"\t";

fn deployed() -> Folder {
    let folder = stack(
        "variable \"greeting\" {\n  default = \"hello\"\n}\n\nresource \"terraform_data\" \"shown\" {\n  input = var.greeting\n}\n",
    );
    folder.done("deploy --stage t --yes");
    folder
}

fn console(folder: &Folder) -> Screen {
    let mut screen = Screen::run(folder, "console");
    screen.wait_for("Ctrl-D ends.\n>");
    screen
}

/// Types a line, and waits until it is answered.
fn type_line(screen: &mut Screen, line: &str, answer: &str) {
    screen.press(line.as_bytes());
    screen.press(ENTER);
    screen.wait_for(&format!("{answer}\n>"));
}

#[test]
fn lines_are_edited_and_answered() {
    let folder = deployed();
    let mut screen = console(&folder);
    type_line(&mut screen, "upper(var.greeting)", "\"HELLO\"");
    // To the begin of the line, and a digit before what is there.
    screen.press(b"11 + 1\x01");
    type_line(&mut screen, "2", "212");
    // An open bracket goes on in the next line.
    screen.press(b"join(\"-\", [\r\"a\",\r");
    type_line(&mut screen, "\"b\"])", "\"a-b\"");
    screen.press(b"1 +\r");
    screen.wait_for("error: ");
    // Keys are read one by one again: only then is Ctrl-C no signal.
    type_line(&mut screen, "8 * 8", "64");
    // What was begun is given up.
    screen.press(b"nonsense(");
    screen.wait_for("nonsense(");
    screen.press(CONTROL_C);
    screen.wait_for("nonsense(\n>");
    type_line(&mut screen, "5 * 5", "25");
    screen.press(CONTROL_D);
    assert_eq!(screen.ended(), 0);
}

#[test]
fn names_complete() {
    let folder = deployed();
    let mut screen = console(&folder);
    screen.press(b"terraform_d");
    screen.press(TAB);
    screen.wait_for("> terraform_data.shown");
    screen.press(b".inp");
    type_line(&mut screen, "ut", "\"hello\"");
    screen.press(b"startsw");
    screen.press(TAB);
    screen.wait_for("> startswith(");
    type_line(&mut screen, "var.greeting, \"h\")", "true");
    screen.press(b"exit\r");
    assert_eq!(screen.ended(), 0);
}

/// SECRET-15.
#[test]
fn lines_are_remembered_without_secrets() {
    let folder = deployed();
    let mut screen = console(&folder);
    type_line(&mut screen, "1 + 41", "42");
    type_line(&mut screen, "length(sensitive(\"hunter2\"))", "(secret)");
    type_line(&mut screen, " upper(\"quiet\")", "\"QUIET\"");
    screen.press(CONTROL_D);
    assert_eq!(screen.ended(), 0);
    assert_eq!(folder.read(HISTORY), "\"1 + 41\"\n");
    #[cfg(unix)]
    {
        let mode = std::fs::metadata(folder.path().join(HISTORY)).unwrap().permissions();
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
    }
    let mut screen = console(&folder);
    screen.press(UP);
    screen.wait_for("> 1 + 41");
    type_line(&mut screen, "", "42");
    // Whoever ends it from outside finds the terminal as it was, and hears why.
    screen.signal("TERM");
    assert_eq!(screen.ended(), 130);
}

/// Without a terminal everything is as for a file of expressions.
#[test]
fn without_a_terminal_there_is_no_prompt() {
    let folder = deployed();
    let told = folder.done("console");
    assert_eq!((told.out.as_str(), told.err.as_str()), ("", ""));
    assert!(!folder.has(HISTORY));
}

/// SECRET-15: from the first line on, and whether or not an expression uses the secret.
#[test]
fn a_line_that_quotes_a_secret_is_not_remembered() {
    let secret = "v4lue-of-a-variable-71c9";
    let folder = stack(&format!(
        "variable \"s\" {{\n  default   = \"{secret}\"\n  sensitive = true\n}}\nvariable \"missing\" {{\n}}\n\
         resource \"std_random_password\" \"a\" {{\n  length  = 24\n  special = false\n}}\n\
         output \"made\" {{\n  value     = std_random_password.a.result\n  sensitive = true\n}}\n"
    ));
    folder.done("deploy --stage t --yes --var missing=1");
    let made = folder.done("output --raw made").out;
    let mut screen = console(&folder);
    type_line(&mut screen, &format!("length(\"{secret}\")"), "24");
    type_line(&mut screen, &format!("length(\"{made}\") + 100"), "124");
    type_line(&mut screen, "1 + 1", "2");
    screen.press(CONTROL_D);
    assert_eq!(screen.ended(), 0);
    assert_eq!(folder.read(HISTORY), "\"1 + 1\"\n");
}
