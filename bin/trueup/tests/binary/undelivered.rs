//! Output that could not be written is an error; output that nobody wants any more is none.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};

use trueup_cli_harness::{Folder, Screen, Told};
use trueup_test_servers::environment::search_path;
use trueup_test_servers::{disk, left_out};

use crate::binary::gate::{open, pipe};
use crate::binary::stack;

const TEXT: &str = r#"
resource "std_file" "a" {
  path    = "a.txt"
  content = "a"
}

output "path" {
  value = std_file.a.path
}
"#;

/// Commands whose product is on standard output.
const PRODUCING: [&str; 27] = [
    "state export",
    "export-state --partial",
    "output",
    "output --raw path",
    "output --json",
    "graph",
    "graph --format svg",
    "graph --json",
    "show std_file.a",
    "show std_file.a --json",
    "show t.plan",
    "show t.plan --markdown",
    "state list",
    "state show std_file.a",
    "history",
    "history --json",
    "plan",
    "plan --json",
    "drift",
    "console 1+1",
    "schema",
    "schema std_file",
    "config",
    "version",
    "completions bash",
    "providers",
    "plan --help",
];

fn deployed() -> Folder {
    let folder = stack(TEXT);
    folder.done("deploy --stage t --yes");
    folder.done("plan --out t.plan");
    folder
}

fn to_full(folder: &Folder, arguments: &str) -> Output {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    folder.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap()
}

/// OUTPUT-4.
#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = deployed();
    for command in PRODUCING {
        let told = Told::unchecked(to_full(&folder, command));
        assert_eq!(told.code, 1, "{command}: {told:?}");
        let expected = "error: cannot write to standard output: No space left on device";
        assert!(told.err.contains(expected), "{command}: {told:?}");
    }
    let unwritable = folder
        .command("output")
        .stdout(File::open("/dev/null").unwrap())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(unwritable.code(), Some(1), "it was opened to be read");
    // What was asked for besides is done all the same, and recorded.
    folder.write("main.tf", &TEXT.replace("\"a\"\n}", "\"b\"\n}"));
    let told = Told::unchecked(to_full(&folder, "deploy --yes"));
    assert!(told.code == 1 && told.err.contains("1 updated"), "{told:?}");
    assert!(folder.done("plan").out.contains("No changes"));
    // Neither is a failure told twice as success.
    let told = Told::unchecked(to_full(&folder, "show std_file.none --json"));
    assert_eq!(told.code, 1, "{told:?}");
}

/// OUTPUT-4: a person in a terminal, and a plan that went to a full disk.
#[cfg(target_os = "linux")]
#[test]
fn nobody_is_asked_to_approve_what_could_not_be_shown() {
    let folder = Folder::of("/bin/sh");
    folder.write("main.tf", TEXT);
    let trueup = env!("CARGO_BIN_EXE_trueup");
    folder.write("run.sh", &format!("exec {trueup} deploy --stage t > /dev/full\n"));
    let mut screen = Screen::run(&folder, "run.sh");
    assert_eq!(screen.ended(), 1, "{}", screen.text());
    assert!(screen.text().contains("nobody can approve what could not be shown"), "{}", screen.text());
    assert!(!folder.has("a.txt") && !folder.has(".trueup"));
}

/// OUTPUT-6: the reader is gone before anything is written.
#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let folder = deployed();
    for command in PRODUCING {
        let child = unread(folder.command(command).stdin(Stdio::null()), Stdio::piped());
        let told = Told::unchecked(child.wait_with_output().unwrap());
        // It says no more on the side than it would to a reader.
        let read = folder.done(command);
        assert_eq!((told.code, told.err), (0, read.err), "{command}");
    }
}

/// OUTPUT-4: whoever started it left the pipe non-blocking, and reads late.
#[cfg(target_os = "linux")]
#[test]
fn a_slow_reader_of_a_non_blocking_pipe_gets_everything() {
    let folder =
        stack("output \"long\" {\n  value = join(\"\", [for i in range(1000) : format(\"%0200d\", i)])\n}\n");
    folder.done("deploy --stage t --yes");
    let (mut reader, writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    let mut child =
        folder.command("output --raw long").stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    // So much fits; then it has to wait.
    while rustix::io::ioctl_fionread(&reader).unwrap() < 65_536 {
        assert!(child.try_wait().unwrap().is_none(), "{:?}", child.wait_with_output());
        std::thread::yield_now();
    }
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    let told = Told::unchecked(child.wait_with_output().unwrap());
    assert_eq!((told.code, read.len()), (0, 200_000), "{told:?}");
}

/// Starts a command whose standard output nobody reads.
fn unread(command: &mut Command, err: Stdio) -> Child {
    let mut child = command.stdout(Stdio::piped()).stderr(err).spawn().unwrap();
    drop(child.stdout.take());
    child
}

/// OUTPUT-6, INV-1: readers of both streams go while a deploy is at work; it goes on, and all of it is recorded.
#[test]
fn a_deploy_goes_on_when_nobody_reads_any_more() {
    for arguments in ["deploy --stage t --yes", "deploy --stage t --yes --json"] {
        let folder = stack(
            r#"
            resource "std_exec" "slow" {
              create = ["sh", "-c", "echo here > reached; cat gate"]
            }

            resource "std_exec" "failing" {
              create     = ["sh", "-c", "echo told >&2; exit 1"]
              depends_on = [std_exec.slow]
            }

            resource "std_file" "after" {
              path       = "after.txt"
              content    = "after"
              depends_on = [std_exec.slow]
            }
            "#,
        );
        pipe(&folder, "gate");
        pipe(&folder, "reached");
        let mut command = folder.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        assert_eq!(folder.read("reached"), "here\n");
        drop((child.stdout.take(), child.stderr.take()));
        open(&folder);
        assert_eq!(child.wait().unwrap().code(), Some(1), "one of them fails");
        assert_eq!(folder.read("after.txt"), "after");
        let listed = folder.done("state list").out;
        assert!(listed.contains("std_exec.slow") && listed.contains("std_file.after"), "{listed}");
    }
}

/// OUTPUT-4: standard error and a log that cannot be written are in nobody's way.
#[cfg(target_os = "linux")]
#[test]
fn commands_go_on_when_standard_error_or_the_log_is_full() {
    let folder = stack(TEXT);
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status =
        folder.command("deploy --stage t --yes").stdout(Stdio::null()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(folder.done("plan").out.contains("No changes"));
    let told = Told::by(folder.command("plan --log-file /dev/full").env("TRUEUP_LOG", "trace"));
    let warned = told.err.matches("warning: the log in /dev/full is not complete: No space left").count();
    assert_eq!((told.code, warned), (0, 1), "{told:?}");
    let mut unheard = folder.command("plan --log-file /dev/full");
    assert!(
        unheard.env("TRUEUP_LOG", "trace").stdout(Stdio::null()).stderr(full()).status().unwrap().success()
    );
    let status = folder.command("plan --none").stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// OUTPUT-5: a file that does not fit is not there; one that was there stays.
#[test]
fn files_are_written_whole_or_not_at_all() {
    if left_out(disk::NAME) {
        return;
    }
    let folder = stack(&TEXT.replace(
        "content = \"a\"",
        "content = join(\"\", [for i in range(1000) : \"0123456789ABCDEFGHIJ\"])",
    ));
    folder.done("deploy --stage t --yes");
    folder.write("ugly.tf", "locals {\n  a   =   1\n}\n");
    let small = folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    // 8 kB hold none of them; the page of what was there before stays free for its name.
    let script = r#"
        cp ugly.tf small/ugly.tf; head -c 3000 /dev/zero | tr '\0' ' ' >> small/ugly.tf; cp small/ugly.tf ugly-before
        echo before > small/kept.plan
        head -c 100000 /dev/zero > small/filler 2> /dev/null
        for command in "state export --to small/export.json" "export-state --partial --out small/terraform.json" \
            "plan --out small/kept.plan" "plan --out small/new.plan" "fmt small/ugly.tf" "man small"; do
            "$1" $command > said 2>&1 && { echo "$command: should fail"; cat said; }
            grep -q "cannot write .*small.*No space left" <(tr -s '\n ' ' ' < said) || { echo "$command"; cat said; }
        done
        cmp small/ugly.tf ugly-before; cat small/kept.plan; ls -A small"#;
    let binary = folder.binary().to_owned();
    let mut command = disk::mounted(&small, 16, script);
    // Nothing of whoever runs the tests: in CI, a stage would have to be named.
    command
        .arg(&binary)
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("PATH", search_path());
    let told = Told::unchecked(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(told.out, "before\nfiller\nkept.plan\nugly.tf\n", "{told:?}");
}

/// OUTPUT-5: a pipe or device is written to as it is.
#[test]
fn a_plan_can_be_written_to_a_pipe() {
    let folder = stack(TEXT);
    pipe(&folder, "out.plan");
    let run = folder.start("plan --stage t --out out.plan");
    let mut plan = Vec::new();
    File::open(folder.path().join("out.plan")).unwrap().read_to_end(&mut plan).unwrap();
    assert!(!plan.is_empty());
    let told = run.ended();
    assert_eq!(told.code, 0, "{told:?}");
}
