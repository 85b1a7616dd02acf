//! A disk that is full: no file may grow beyond a limit, or all together beyond the size of their file system.

use std::fs;
use std::process::Command;

use trueup_test_servers::{disk, left_out, sized};

use crate::kills::bench::{Place, told};
use crate::kills::server::Server;

/// Enough for the state to outgrow the limits.
const THINGS: usize = 12;

/// INV-1, INV-2, INV-4, INV-8: a run that cannot write says so and stops; after room is made, the next one ends as if
/// nothing had been.
#[test]
fn a_full_disk_loses_nothing_and_doubles_nothing() {
    let limits = (0..=220).step_by(20).chain([2048]);
    // All at a time: each mostly waits until it is sure that what it cannot see was not made.
    let enough = std::thread::scope(|scope| {
        let cases: Vec<_> = limits.map(|kilobytes| scope.spawn(move || filled(kilobytes))).collect();
        cases.into_iter().map(|case| case.join().unwrap()).collect::<Vec<bool>>()
    });
    let (succeeded, failed): (Vec<bool>, Vec<bool>) = enough.into_iter().partition(|enough| *enough);
    assert!(
        failed.len() > 5 && !succeeded.is_empty(),
        "{} failed, {} did not",
        failed.len(),
        succeeded.len()
    );
    println!("{} deploys failed for want of room, {} had enough", failed.len(), succeeded.len());
}

/// STATE-15, INV-1, INV-2, INV-4: the file system as a whole is full. A limit on each file never ends a run between
/// a file that was written and one that it is copied to.
#[test]
fn a_full_file_system_leaves_no_half_made_state() {
    if left_out(disk::NAME) {
        return;
    }
    let sizes = (64..=200).step_by(sized(16, 4));
    let enough: Vec<bool> = std::thread::scope(|scope| {
        let cases: Vec<_> = sizes.map(|kilobytes| scope.spawn(move || filled_together(kilobytes))).collect();
        cases.into_iter().map(|case| case.join().unwrap()).collect()
    });
    let failed = enough.iter().filter(|enough| !**enough).count();
    assert!(failed > 5, "{failed} of {} ran out of room", enough.len());
    println!("{failed} first deploys of {} failed on a file system without room", enough.len());
}

/// The same where all files of the state share the room.
fn filled_together(kilobytes: u64) -> bool {
    const DEPLOY_TWICE: &str = r#"
        "$@" > first 2>&1; echo $? > first-code
        mount -o remount,size=8m .trueup
        "$@" > second 2>&1; echo $? > second-code
        cp -a .trueup kept"#;
    let (server, place) = (Server::start(), Place::new(Vec::new()));
    let at = format!("on a file system of {kilobytes} kB");
    place.write(&program(&server, 1));
    let state = place.path().join(".trueup");
    fs::create_dir(&state).unwrap();
    let deploy = place.command(&["deploy", "--yes"]);
    let mut both = disk::mounted(&state, kilobytes, DEPLOY_TWICE);
    both.arg(deploy.get_program()).args(deploy.get_args()).current_dir(place.path());
    both.env_clear().envs(deploy.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = both.output().unwrap();
    assert!(ran.status.success(), "{at}: {}", told(&ran));
    let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    let enough = read("first-code") == "0\n";
    assert!(enough || read("first").contains("error: "), "{at}: {}", read("first"));
    assert_eq!(read("second-code"), "0\n", "{at}: {}\n{}", read("first"), read("second"));
    fs::remove_dir(&state).unwrap();
    fs::rename(place.path().join("kept"), &state).unwrap();
    place.compare(&server, &at);
    enough
}

/// Deploys with too little room, and again with enough. Whether the first time it was enough too.
fn filled(kilobytes: u64) -> bool {
    let server = Server::start();
    let place = Place::new(Vec::new());
    let at = format!("with files of {kilobytes} kB at most");
    place.write(&program(&server, 1));
    let limited = limited(&place, kilobytes).output().unwrap();
    let (enough, said) = (limited.status.success(), told(&limited));
    if enough {
        place.compare(&server, &at);
    } else {
        assert_eq!(limited.status.code(), Some(1), "{at}: {said}");
        assert!(said.contains("error: cannot "), "{at}: it should say what could not be written:\n{said}");
        assert!(!said.contains("panicked"), "{at}: {said}");
    }
    // With room again, also for something else.
    place.write(&program(&server, 2));
    let done = place.trueup(&["deploy", "--yes"]);
    assert!(done.status.success(), "{at}: {}", told(&done));
    place.compare(&server, &at);
    assert_eq!(place.records().len(), THINGS, "{at}");
    enough
}

fn program(server: &Server, size: u64) -> String {
    (0..THINGS).map(|number| server.thing(number, size, 0, "")).collect()
}

/// A deploy whose files may not grow beyond a size. Where the kernel would end the process for trying, it fails the write
/// instead, as a full disk does.
fn limited(place: &Place, kilobytes: u64) -> Command {
    let deploy = place.command(&["deploy", "--yes"]);
    let mut shell = Command::new("bash");
    shell.args(["-c", "trap '' XFSZ; ulimit -f \"$0\"; exec \"$@\""]).arg(kilobytes.to_string());
    shell.arg(deploy.get_program()).args(deploy.get_args());
    shell.current_dir(deploy.get_current_dir().unwrap());
    shell.env_clear().envs(deploy.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}
