//! `std_file` under readers, kills and refusals of the operating system.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trueup_core::value;

use crate::bench::{Bench, program, resource};

/// INV-8: a reader never sees half a file, nor none.
#[test]
fn a_reader_sees_the_old_file_or_the_new_one() {
    let bench = Bench::new();
    let of = |letter: &str| {
        let content = letter.repeat(300_000);
        program([resource("std_file.a", value!({ path: "a", content: (content.as_str()) }))])
    };
    bench.deployed(&of("a"));
    let (path, done) = (bench.path("a"), Arc::new(AtomicBool::new(false)));
    let ended = done.clone();
    let reader = std::thread::spawn(move || {
        let mut reads = 0;
        while !ended.load(Ordering::Relaxed) || reads == 0 {
            let seen = fs::read(&path).unwrap();
            assert_eq!(seen.len(), 300_000);
            assert!(seen.iter().all(|byte| *byte == seen[0]));
            reads += 1;
        }
    });
    for round in 0..10 {
        bench.deployed(&of(if round % 2 == 0 { "b" } else { "a" }));
    }
    done.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    assert_eq!(bench.files(), ["a"]);
}

/// CRASH-7: what a killed run left under its own name is cleared by the next.
#[test]
fn what_a_killed_run_left_half_written_is_cleared() {
    let bench = Bench::new();
    let of = |text: &str| program([resource("std_file.a", value!({ path: "a", content: text }))]);
    bench.deployed(&of("one"));
    // The name that the resource writes under is seen while its folder cannot take the file's own name.
    fs::remove_file(bench.path("a")).unwrap();
    let name = bench.records()["a"].origin.clone();
    let context = trueup_provider::CallContext::new("stack", "test", name);
    let unfinished = format!(".{}.unfinished", context.physical_name());
    fs::write(bench.path(&unfinished), "hal").unwrap();
    bench.deployed(&of("two"));
    assert_eq!(bench.content("a"), "two");
    assert_eq!(bench.files(), ["a"]);
}

/// A failed write leaves nothing behind, and says what could not be done to which path.
#[test]
fn what_cannot_be_written_is_told_with_its_path() {
    let bench = Bench::new();
    fs::write(bench.path("plain"), "").unwrap();
    let below = program([resource("std_file.a", value!({ path: "plain/a", content: "x" }))]);
    let refused = bench.refused(&below);
    assert!(refused.contains("plain/a") && refused.contains("Not a directory"), "{refused}");
    let long = "x".repeat(300);
    let too_long = program([resource("std_file.a", value!({ path: (long.as_str()), content: "x" }))]);
    assert!(bench.refused(&too_long).contains("File name too long"));
    let zero = program([resource("std_file.a", value!({ path: "a\0b", content: "x" }))]);
    assert!(bench.refused(&zero).contains("cannot plan std_file.a: "));
    assert_eq!(bench.files(), ["plain"]);
}

/// A file system that takes nothing, not even from root.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_told_as_denied_or_worse() {
    let bench = Bench::new();
    let program = program([resource("std_file.a", value!({ path: "/proc/trueup-test", content: "x" }))]);
    let failed = bench.failed(&program);
    assert!(failed.contains("cannot write `/proc/trueup-test`"), "{failed}");
}

/// The name of the variable by which the test below knows that it is the one without privileges.
const UNPRIVILEGED: &str = "TRUEUP_TEST_UNPRIVILEGED";

/// DRIFT-5, INV-15: denied is an error of its own, for reading and for writing. Root is never denied, so the test runs
/// itself again as nobody.
#[test]
#[expect(clippy::disallowed_methods, reason = "how the test learns who it is")]
fn a_denied_path_is_never_gone() {
    if let Ok(folder) = std::env::var(UNPRIVILEGED) {
        return denied_as_nobody(&folder);
    }
    let folder = tempfile::tempdir().unwrap();
    let open_to_all = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("a"), "x").unwrap();
    // A copy, because nobody may be unable to reach the original; by another process, because a child of another test
    // could hold what this one writes to, and then it does not start.
    let copy = folder.path().join("test");
    let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy).status();
    assert!(copied.unwrap().success());
    open_to_all(&copy);
    open_to_all(folder.path());
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let mut again = Command::new(&copy);
    again.args(["--exact", "file_atomic::a_denied_path_is_never_gone"]);
    again.env(UNPRIVILEGED, &closed).current_dir("/");
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        again.uid(65534).gid(65534);
    }
    let output = again.output().unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

fn denied_as_nobody(closed: &str) {
    let bench = Bench::new();
    for name in ["a", "not-there"] {
        let path = format!("{closed}/{name}");
        let program = program([resource("std_file.a", value!({ path: (path.as_str()), content: "x" }))]);
        let refused = bench.refused(&program);
        assert!(refused.contains("denied") && refused.contains(&path), "{refused}");
    }
}
