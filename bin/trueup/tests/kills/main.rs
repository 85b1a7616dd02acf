//! The real binary, killed for real: at random requests of random runs, before an effect, between an effect and its
//! answer, and after the answer. Then it is run again, and what exists is compared with what is recorded.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::disallowed_methods, reason = "how much it does is said from outside")]
#![allow(clippy::print_stdout, reason = "what it did is worth a line")]

mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use server::{Moment, Server};

/// How many kills count, unless `TRUEUP_KILLS` says otherwise: those that left an operation open.
const KILLS: u64 = 200;

/// CRASH-7, INV-1, INV-2, INV-4, INV-5, INV-8
#[test]
fn a_killed_run_loses_nothing_and_doubles_nothing() {
    let wanted = std::env::var("TRUEUP_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    let seed = std::env::var("TRUEUP_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    // Two at a time: each waits for the disk most of the time.
    std::thread::scope(|scope| {
        for part in 0..2 {
            scope.spawn(move || campaign(seed * 2 + part, wanted.div_ceil(2)));
        }
    });
}

/// Kills runs in a folder of its own until enough of them left an operation open.
fn campaign(seed: u64, wanted: u64) {
    let mut chance = Chance(seed);
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let (mut counted, mut others, mut round) = (0, 0, 0);
    while counted < wanted {
        round += 1;
        assert!(
            round < wanted * 20,
            "seed {seed}: hardly any kill leaves an operation open: {counted} of {round}"
        );
        std::fs::write(folder.path().join("main.tf"), program(&server, &mut chance)).unwrap();
        // A run may be killed several times in a row before one gets through.
        for _ in 0..=chance.below(2) {
            let moments = [Moment::BeforeTheEffect, Moment::BeforeTheAnswer, Moment::AfterTheAnswer];
            let moment = moments[chance.below(3) as usize];
            if killed(folder.path(), &server, chance.below(6), moment) {
                let open = open_operations(folder.path());
                counted += u64::from(open > 0);
                others += u64::from(open == 0);
            }
        }
        let done = trueup(folder.path(), &["deploy", "--yes"]);
        assert!(done.status.success(), "seed {seed}, round {round}: {}", told(&done));
        compare(folder.path(), &server, &format!("seed {seed}, round {round}"));
    }
    println!("seed {seed}: {counted} kills with an open operation, {others} others, {round} programs");
}

/// Some of six things, in chains, of random sizes; what changes its kind is replaced.
fn program(server: &Server, chance: &mut Chance) -> String {
    let url = &server.url;
    let mut text = String::new();
    let mut last: Option<u64> = None;
    for number in 0..6 {
        if chance.below(4) == 0 {
            continue;
        }
        let (size, kind) = (chance.below(5), chance.below(2));
        let after = last.filter(|_| chance.below(2) == 0);
        let depends = after.map(|at| format!("  depends_on = [std_http.t{at}]\n")).unwrap_or_default();
        text += &format!(
            r#"resource "std_http" "t{number}" {{
  create {{
    url  = "{url}/things"
    body = {{ name = "{{name}}", size = {size} }}
  }}
  read {{ url = "{url}/things/{{id}}" }}
  update {{
    url  = "{url}/things/{{id}}"
    body = {{ size = {size} }}
  }}
  delete {{ url = "{url}/things/{{id}}" }}
  lookup {{
    url     = "{url}/things?name={{name}}"
    pointer = "/items/0"
  }}
  triggers = {kind}
{depends}}}
"#
        );
        last = Some(number);
    }
    text + "terraform {}\n"
}

/// Deploys and kills the run at a request. Whether the kill came before the run's own end.
fn killed(folder: &Path, server: &Server, countdown: u64, moment: Moment) -> bool {
    let child = command(folder, &["deploy", "--yes"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
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

/// How many operations were begun and not ended, by what is recorded.
fn open_operations(folder: &Path) -> usize {
    records(folder).iter().filter(|record| record["current"]["status"]["status"] != "ready").count()
}

/// What exists is what is recorded, nothing is doubled, and nothing is left to do.
fn compare(folder: &Path, server: &Server, at: &str) {
    let truth = server.truth();
    let recorded: BTreeMap<u64, String> = records(folder)
        .iter()
        .map(|record| {
            let id = record["current"]["object"]["outputs"]["id"].as_str().and_then(|id| id.parse().ok());
            (id.unwrap_or_else(|| panic!("{at}: no id in {record}")), record["address"].to_string())
        })
        .collect();
    let alive: Vec<u64> = truth.keys().copied().collect();
    let kept: Vec<u64> = recorded.keys().copied().collect();
    assert_eq!(alive, kept, "{at}: what exists {truth:?}, what is recorded {recorded:?}");
    assert!(server.doubled().is_empty(), "{at}: made twice: {:?}", server.doubled());
    let again = trueup(folder, &["plan", "--detailed-exitcode"]);
    assert_eq!(again.status.code(), Some(0), "{at}: {}", told(&again));
}

fn records(folder: &Path) -> Vec<Json> {
    let exported = trueup(folder, &["state", "export"]);
    assert!(exported.status.success(), "{}", told(&exported));
    let exported: Json = serde_json::from_slice(&exported.stdout).unwrap();
    exported["records"].as_array().cloned().unwrap_or_default()
}

fn trueup(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trueup"));
    command.args(arguments).arg("--stage").arg("test").current_dir(folder);
    command.env_clear().env("HOME", folder).env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn told(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Numbers that follow from a seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}
