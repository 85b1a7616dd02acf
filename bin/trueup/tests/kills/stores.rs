//! State on servers, which die too.

use trueup_test_servers::emulator::{Emulator, RunningEmulator};
use trueup_test_servers::postgres::Postgres;
use trueup_test_servers::sized;

use crate::kills::bench::{Place, told};
use crate::kills::chance::Chance;
use crate::kills::killed::program;
use crate::kills::server::{Moment, Server};

/// The key of whoever shares state.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// A place whose state is in a database of its own.
pub(crate) fn in_database(postgres: &Postgres) -> Place {
    let database = postgres.new_database().unwrap();
    Place::new(vec![("TRUEUP_STATE", postgres.url(&database)), ("TRUEUP_KEY", KEY.to_owned())])
}

/// A place whose state is in a bucket of its own.
pub(crate) fn in_bucket(emulator: &RunningEmulator) -> Place {
    let bucket = emulator.new_bucket();
    Place::new(vec![
        ("TRUEUP_KEY", KEY.to_owned()),
        ("TRUEUP_STATE", format!("s3://{bucket}/team?endpoint={}", emulator.endpoint())),
        ("AWS_ACCESS_KEY_ID", "test".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "test".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ])
}

/// CRASH-7, STATE-3: the database is killed in the middle of a run, at any moment of a request.
#[test]
fn a_database_that_dies_in_mid_run_loses_nothing() {
    let Some(postgres) = Postgres::own() else { return };
    let postgres = std::sync::Arc::new(postgres);
    let (place, doomed) = (in_database(&postgres), postgres.clone());
    outlive(&place, move || doomed.kill().unwrap(), || postgres.restart().unwrap());
}

/// CRASH-7, STATE-3
#[test]
fn a_bucket_that_goes_away_in_mid_run_loses_nothing() {
    let Some(emulator) = Emulator::Ministack.start() else { return };
    let place = in_bucket(&emulator);
    let emulator = std::sync::Arc::new(std::sync::Mutex::new(emulator));
    let doomed = emulator.clone();
    outlive(&place, move || doomed.lock().unwrap().kill(), || emulator.lock().unwrap().restart());
}

/// Runs whose store goes away, and comes back after they have given up.
fn outlive(place: &Place, kill: impl Fn() + Clone + Send + 'static, restart: impl Fn()) {
    let (mut chance, server) = (Chance(7), Server::start());
    let moments = [Moment::BeforeTheAnswer, Moment::BeforeTheEffect, Moment::AfterTheAnswer];
    for moment in moments.into_iter().take(sized(1, 3)) {
        let at = format!("{moment:?}");
        place.write(&program(&server, &mut chance));
        server.strike_at(chance.below(3), moment, kill.clone());
        let run = place.trueup(&["deploy", "--yes", "--no-wait"]);
        let struck = !server.call_off();
        if struck {
            let said = told(&run);
            assert_eq!(run.status.code(), Some(1), "{at}: {said}");
            assert!(said.contains("the state at "), "{at}: it should say what is out of reach:\n{said}");
            assert!(said.contains("Running again is safe"), "{at}: {said}");
            restart();
        }
        let done = place.deploy_after_kill();
        assert!(done.status.success(), "{at}: {}", told(&done));
        place.compare(&server, &at);
    }
}
