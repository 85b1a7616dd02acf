//! The state is taken away under the run that uses it: its files are removed, replaced or renamed.

use std::fs;
use std::path::Path;
use std::process::Command;

use trueup_test_servers::sized;

use crate::kills::bench::{Place, told};
use crate::kills::server::{Moment, Server};

const THINGS: usize = 6;

/// What happens to the state, given its folder.
type Blow = fn(&Path);

const BLOWS: [(&str, Blow); 5] = [
    ("the folder is removed", |state| fs::remove_dir_all(state).unwrap()),
    ("the folder is renamed", |state| fs::rename(state, state.with_file_name("elsewhere")).unwrap()),
    ("the file is removed", |state| fs::remove_file(state.join("state.db")).unwrap()),
    ("the file is replaced", |state| {
        fs::copy(state.join("state.db"), state.join("other.db")).unwrap();
        fs::rename(state.join("other.db"), state.join("state.db")).unwrap();
    }),
    ("the log is removed", |state| fs::remove_file(state.join("state.db-wal")).unwrap()),
];

/// STATE-16, INV-1, INV-2
#[test]
fn a_state_that_is_taken_away_in_mid_run_fails_the_run_and_loses_nothing() {
    const SOME: &[u64] = &[1, 5];
    const ALL: &[u64] = &[0, 1, 2, 3, 4, 5];
    let moments = sized(SOME, ALL);
    std::thread::scope(|scope| {
        for (name, blow) in BLOWS {
            scope.spawn(move || moments.iter().for_each(|moment| taken_away(name, blow, *moment)));
        }
    });
}

/// Deploys and takes the state away while a request is under way; then does what the error says and deploys again.
fn taken_away(name: &str, blow: Blow, moment: u64) {
    let (server, place) = (Server::start(), Place::new(Vec::new()));
    let at = format!("{name} at request {moment}");
    let chained = |number: usize| format!("  depends_on = [std_http.t{}]\n", number - 1);
    let depends = |number| if number == 0 { String::new() } else { chained(number) };
    let program: String = (0..THINGS).map(|number| server.thing(number, 1, 0, &depends(number))).collect();
    place.write(&program);
    let state = place.path().join(".trueup");
    let doomed = state.clone();
    server.strike_at(moment, Moment::BeforeALateAnswer, move || blow(&doomed));

    let run = place.trueup(&["deploy", "--yes"]);
    let said = told(&run);
    assert!(!server.call_off(), "{at}: {said}");
    assert_eq!(run.status.code(), Some(1), "{at}: {said}");
    let unwrapped = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("was taken away while in use"), "{at}: {said}");
    assert!(said.contains("Done by this run, and no longer recorded at "), "{at}: {said}");
    for number in 0..moment {
        assert!(said.contains(&format!("  std_http.t{number} created\n")), "{at}: {said}");
    }
    assert!(said.contains(&format!("  std_http.t{moment} perhaps created\n")), "{at}: {said}");
    assert!(!said.contains("Running again is safe"), "{at}: {said}");

    let (_, command) = unwrapped.split_once("is deployed again: `").unwrap();
    let command = command.split('`').next().unwrap();
    let put_back = Command::new("sh").args(["-c", command]).output().unwrap();
    assert!(put_back.status.success(), "{at}: {command}: {}", told(&put_back));
    let done = place.trueup(&["deploy", "--yes", "--no-wait"]);
    assert!(done.status.success(), "{at}: {}", told(&done));
    place.compare(&server, &at);
}
