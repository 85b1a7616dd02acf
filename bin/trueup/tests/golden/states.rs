//! Golden state is read from each store, secrets and history included.

use serde_json::{Value as Json, json};

use crate::golden::expectation::assert_expected;
use crate::golden::place::Place;
use crate::golden::workplace::{STATE_FILE, Workplace};
use crate::golden::{Golden, STACKS};

/// Everything that commands say about the state of a stack, each thing once.
pub(crate) fn report(workplace: &Workplace) -> Json {
    let records = workplace.addresses().into_iter().map(|address| show_record(workplace, &address));
    let history = workplace.json("history --json");
    let runs = history["runs"].as_array().unwrap_or_else(|| panic!("{history}")).iter();
    let runs = runs.map(|it| summarize_run(workplace, it["run"].as_str().unwrap()));
    json!({
        "state list": workplace.json("state list --json"),
        "state show": records.collect::<Vec<_>>(),
        // The secrets open.
        "state export --show-secrets": workplace.json("state export --show-secrets"),
        "history": history,
        "history RUN": runs.collect::<Vec<_>>(),
        "output": workplace.json("output --json"),
    })
}

/// A record with its journal, without the values: the export has them.
fn show_record(workplace: &Workplace, address: &str) -> Json {
    let mut shown = workplace.json(&format!("state show {address} --json"));
    let record = &mut shown["records"][0];
    let (mut current, mut deposed) = (record["current"].take(), record["deposed"].take());
    for generation in deposed.as_array_mut().unwrap().iter_mut().chain([&mut current]) {
        if let Some(generation) = generation.as_object_mut() {
            generation.retain(|name, _| name != "inputs" && name != "outputs");
        }
    }
    (record["current"], record["deposed"]) = (current, deposed);
    record.take()
}

/// The events of a run by their names, and the digest of all that they say.
fn summarize_run(workplace: &Workplace, run: &str) -> Json {
    let told = workplace.done(&format!("history {run} --json"));
    let events = told.out.lines().map(|line| {
        let event: Json = serde_json::from_str(line).unwrap();
        let resource = event["resource"]["address"].as_str().unwrap_or("-");
        format!("{} {} {resource}", event["sequence"], event["event"].as_str().unwrap())
    });
    json!({ "run": run, "events": events.collect::<Vec<_>>(), "digest": blake3::hash(told.out.as_bytes()).to_string() })
}

/// The expectation of a stack in a store.
pub(crate) fn expected(store: &str, stack: &str) -> String {
    format!("expected/{store}/{stack}.json")
}

/// STATE-7, STATE-8, SECRET-3
#[test]
fn golden_state_in_sqlite_is_read() {
    for golden in Golden::all() {
        for stack in STACKS {
            let workplace = Workplace::with_state_file(&golden, stack);
            assert_expected(&golden, &expected("sqlite", stack), &report(&workplace));
        }
    }
}

/// STATE-7, STATE-8, STATE-10, SECRET-3
#[test]
fn golden_state_in_postgres_is_read() {
    for golden in Golden::all() {
        let Some(place) = Place::in_postgres() else { return };
        read_from(&golden, &place);
    }
}

/// STATE-7, STATE-8, STATE-10, SECRET-3
#[test]
fn golden_state_in_s3_is_read() {
    for golden in Golden::all() {
        let Some(place) = Place::in_s3() else { return };
        read_from(&golden, &place);
    }
}

fn read_from(golden: &Golden, place: &Place) {
    place.restore(golden);
    for stack in STACKS {
        let report = report(&place.workplace(golden, stack));
        assert_expected(golden, &expected(place.name(), stack), &report);
    }
}

/// STATE-7: a newer format is refused.
#[test]
fn golden_state_of_a_newer_format_is_refused() {
    let golden = Golden::all().last().unwrap();
    if let Some(place) = Place::in_postgres() {
        place.restore(&golden);
        place.sql("UPDATE trueup.meta SET format = 1000");
        place.workplace(&golden, "shop").refused("state list", "has format 1000, this program knows up to");
    }
    if let Some(place) = Place::in_s3() {
        place.restore(&golden);
        place.put("trueup", b"{\"format\":1000}");
        place.workplace(&golden, "shop").refused("state list", "has format 1000, this program knows up to");
    }
    let workplace = Workplace::of(&golden, "shop", STATE_FILE);
    let mut export = golden.json("exports/shop-sealed.json");
    export["version"] = 1000.into();
    workplace.write("copy.json", &export.to_string());
    workplace.refused("state import copy.json --yes", "it has version 1000, this program knows up to");
}

/// SECRET-3: without the key nothing secret is said, and all else is.
#[test]
fn golden_secrets_need_the_golden_key() {
    for golden in Golden::all() {
        let workplace = Workplace::with_state_file(&golden, "shop");
        workplace.remove("key/key");
        workplace.refused("state export --show-secrets", "the secrets of shop (prod) cannot be opened");
        workplace.done("state list");
        workplace.done("state export");
    }
}
