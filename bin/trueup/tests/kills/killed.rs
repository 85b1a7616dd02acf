//! Kills at random requests of random runs: before an effect, between an effect and its answer, and after the answer.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};

use trueup_test_servers::emulator::Emulator;
use trueup_test_servers::environment::number_variable;
use trueup_test_servers::postgres::Postgres;
use trueup_test_servers::sized;

use crate::kills::bench::{Place, told};
use crate::kills::chance::Chance;
use crate::kills::server::{Moment, Server};
use crate::kills::stores::{in_bucket, in_database};

/// The number of kills that must leave an operation open; `TRUEUP_KILLS` overrides it.
fn kills() -> u64 {
    number_variable("TRUEUP_KILLS").unwrap_or(sized(12, 200))
}

/// The same where the state is on a server.
fn kills_on_servers() -> u64 {
    kills() / sized(4, 8)
}

fn seed() -> u64 {
    number_variable("TRUEUP_SEED").unwrap_or(1)
}

/// CRASH-7, INV-1, INV-2, INV-4, INV-5, INV-8
#[test]
fn a_killed_run_loses_nothing_and_doubles_nothing() {
    // Two at a time: each waits for the disk most of the time.
    std::thread::scope(|scope| {
        for part in 0..2 {
            scope.spawn(move || {
                campaign(&Place::new(Vec::new()), seed() * 2 + part, kills().div_ceil(2));
            });
        }
    });
}

/// CRASH-7
#[test]
fn a_killed_run_loses_nothing_with_its_state_in_a_database() {
    let Some(postgres) = Postgres::shared() else { return };
    campaign(&in_database(postgres), seed(), kills_on_servers());
}

/// CRASH-7
#[test]
fn a_killed_run_loses_nothing_with_its_state_in_a_bucket() {
    let Some(emulator) = Emulator::Ministack.shared() else { return };
    campaign(&in_bucket(&emulator), seed(), kills_on_servers());
}

/// Kills runs until enough of them left an operation open.
fn campaign(place: &Place, seed: u64, wanted: u64) {
    let mut chance = Chance(seed);
    let server = Server::start();
    let (mut counted, mut others, mut round) = (0, 0, 0);
    while counted < wanted {
        round += 1;
        assert!(
            round < wanted * 20,
            "seed {seed}: hardly any kill leaves an operation open: {counted} of {round}"
        );
        place.write(&program(&server, &mut chance));
        // A run may be killed several times in a row before one gets through.
        for _ in 0..=chance.below(2) {
            let moments = [Moment::BeforeTheEffect, Moment::BeforeTheAnswer, Moment::AfterTheAnswer];
            let moment = moments[chance.below(3) as usize];
            if killed(place, &server, chance.below(6), moment) {
                let open = place.open_operations();
                counted += u64::from(open > 0);
                others += u64::from(open == 0);
            }
        }
        let done = place.deploy_after_kill();
        assert!(done.status.success(), "seed {seed}, round {round}: {}", told(&done));
        place.compare(&server, &format!("seed {seed}, round {round}"));
    }
    println!("seed {seed}: {counted} kills with an open operation, {others} others, {round} programs");
}

/// Some of six things, in chains, of random sizes; what changes its kind is replaced.
pub(crate) fn program(server: &Server, chance: &mut Chance) -> String {
    let mut text = String::new();
    let mut last: Option<u64> = None;
    for number in 0..6 {
        if chance.below(4) == 0 {
            continue;
        }
        let (size, kind) = (chance.below(5), chance.below(2));
        let after = last.filter(|_| chance.below(2) == 0);
        let depends = after.map(|at| format!("  depends_on = [std_http.t{at}]\n")).unwrap_or_default();
        text += &server.thing(number as usize, size, kind, &depends);
        last = Some(number);
    }
    text + "terraform {}\n"
}

/// Deploys and kills the run at a request. Whether the kill came before the run's own end.
fn killed(place: &Place, server: &Server, countdown: u64, moment: Moment) -> bool {
    let child =
        place.command(&["deploy", "--yes", "--no-wait"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let child: Arc<Mutex<Child>> = Arc::new(Mutex::new(child.unwrap()));
    let doomed = child.clone();
    server.strike_at(countdown, moment, move || doomed.lock().unwrap().kill().unwrap());
    loop {
        // Not held while waiting: whoever strikes needs it.
        if child.lock().unwrap().try_wait().unwrap().is_some() {
            return !server.call_off();
        }
        std::thread::yield_now();
    }
}
