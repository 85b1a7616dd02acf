//! Runs that are stopped for longer than their lease, and clocks that are set while a run lives.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use trueup_test_servers::emulator::Emulator;
use trueup_test_servers::postgres::Postgres;
use trueup_test_servers::{faketime, left_out, sized};

use crate::kills::bench::{Place, told};
use crate::kills::server::{Moment, Server};
use crate::kills::stores::{in_bucket, in_database};

const THINGS: usize = 3;

/// STATE-17: on a file the lock decides. Whoever comes later is refused, whatever their clock says, and the stopped run
/// finishes its work.
#[test]
fn a_stopped_run_keeps_its_lease_on_a_file_whatever_the_clock_says() {
    let mut times = vec![None];
    if !left_out(faketime::NAME) {
        times.extend([Some("+1h"), Some("+400d"), Some("-1h")]);
    }
    let (server, place) = (Server::start(), Place::new(Vec::new()));
    place.write(&program(&server));
    let run = StoppedRun::start(&place, &server, Moment::BeforeALateAnswer);
    for time in times {
        let mut other = place.command(&["deploy", "--yes", "--no-wait"]);
        if let Some(time) = time {
            faketime::fake(&mut other, time);
        }
        let refused = other.output().unwrap();
        let said = told(&refused);
        assert_eq!(refused.status.code(), Some(1), "at {time:?}: {said}");
        assert!(said.contains("the stage is held by"), "at {time:?}: {said}");
    }
    let ended = run.resume();
    assert!(ended.status.success(), "{}", told(&ended));
    place.compare(&server, "after it went on");
}

/// STATE-17: a lock ends with its process, however that ends, and nobody waits for the end of a term.
#[test]
fn a_killed_run_gives_its_lease_on_a_file_away_at_once() {
    let (server, place) = (Server::start(), Place::new(Vec::new()));
    place.write(&program(&server));
    let run = StoppedRun::start(&place, &server, Moment::BeforeALateAnswer);
    run.kill();
    let done = place.trueup(&["deploy", "--yes", "--no-wait"]);
    assert!(done.status.success(), "{}", told(&done));
    place.compare(&server, "after the kill");
}

/// STATE-4, STATE-18: the server's clock decides, and the stopped run learns from the server that it lost its lease.
#[test]
fn a_stopped_run_loses_its_lease_in_a_database_and_makes_nothing_twice() {
    let Some(postgres) = Postgres::shared() else { return };
    let place = in_database(postgres);
    let address = place.variable("TRUEUP_STATE");
    let database = address.rsplit('/').next().unwrap_or_default().to_owned();
    // In a soak the other one waits until the lease has expired, otherwise it finds one that has.
    taken_over(&place, |_| {
        if sized(true, false) {
            postgres.sql(&database, "UPDATE trueup.scopes SET expires = 0").unwrap();
        }
    });
}

/// STATE-4, STATE-18
#[test]
fn a_stopped_run_loses_its_lease_in_a_bucket_and_makes_nothing_twice() {
    let Some(emulator) = Emulator::Ministack.shared() else { return };
    if left_out(faketime::NAME) && sized(true, false) {
        return;
    }
    // In a soak the other one waits until the lease has expired, otherwise its time goes faster.
    taken_over(&in_bucket(&emulator), |other| {
        if sized(true, false) {
            faketime::fake(other, "+0 x60");
        }
    });
}

/// Stops a run at a request and lets another take over, after whatever lets it.
fn taken_over(place: &Place, let_over: impl Fn(&mut Command)) {
    let moments = [Moment::BeforeALateAnswer, Moment::BeforeTheEffect, Moment::BeforeTheAnswer];
    for moment in moments.into_iter().take(sized(1, 3)) {
        let (at, server) = (format!("{moment:?}"), Server::start());
        place.write(&program(&server));
        let run = StoppedRun::start(place, &server, moment);
        let refused = place.trueup(&["deploy", "--yes", "--no-wait"]);
        assert!(told(&refused).contains("the stage is held by"), "{at}: {}", told(&refused));
        let mut other = place.command(&["deploy", "--yes"]);
        let_over(&mut other);
        let done = other.output().unwrap();
        assert!(done.status.success(), "{at}: {}", told(&done));
        place.compare(&server, &at);
        let ended = run.resume();
        let said = told(&ended);
        assert_eq!(ended.status.code(), Some(1), "{at}: {said}");
        assert!(said.contains("another run took over the lease"), "{at}: {said}");
        place.compare(&server, &format!("{at}, after it went on"));
        place.write("terraform {}\n");
        let gone = place.trueup(&["deploy", "--yes"]);
        assert!(gone.status.success(), "{at}: {}", told(&gone));
    }
}

fn program(server: &Server) -> String {
    let depends = |number: usize| match number {
        0 => String::new(),
        _ => format!("  depends_on = [std_http.t{}]\n", number - 1),
    };
    (0..THINGS).map(|number| server.thing(number, 1, 0, &depends(number))).collect()
}

/// A deploy that stands still in the middle of its second request.
struct StoppedRun {
    child: Child,
}

impl StoppedRun {
    fn start(place: &Place, server: &Server, moment: Moment) -> Self {
        let (tell, told) = mpsc::channel::<Pid>();
        server.strike_at(1, moment, move || {
            kill_process(told.recv().unwrap(), Signal::STOP).unwrap();
        });
        let mut deploy = place.command(&["deploy", "--yes", "--no-wait"]);
        let child = deploy.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let run = StoppedRun { child };
        tell.send(run.pid()).unwrap();
        let (_, status) = waitpid(Some(run.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "it should be stopped, and has ended");
        run
    }

    fn pid(&self) -> Pid {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap()
    }

    /// Lets it go on to its end.
    fn resume(self) -> Output {
        kill_process(self.pid(), Signal::CONT).unwrap();
        self.child.wait_with_output().unwrap()
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
