//! Golden event streams have the documented form, and today's binary still writes them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::golden::Golden;
use crate::golden::expectation::difference;
use crate::golden::workplace::{STATE_FILE, Workplace};

/// The file of commands, and that of what they wrote.
pub(crate) const COMMANDS: &str = "events/commands.txt";
pub(crate) const STREAM: &str = "events/stream.jsonl";

/// Runs commands one after the other and gathers their lines. `drift` stands for a change from outside.
pub(crate) fn stream(workplace: &Workplace, commands: &str) -> String {
    let mut stream = String::new();
    for command in commands.lines() {
        match command {
            "drift" => workplace.write("out/page.txt", "changed from outside"),
            command => stream.push_str(&workplace.run(command).out),
        }
    }
    stream
}

fn parsed(stream: &str) -> Vec<Json> {
    stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A stream as this binary writes it. Version 1 had values in the exact form of records.
fn as_written_now(mut lines: Vec<Json>) -> Vec<Json> {
    for line in lines.iter_mut().filter(|line| line["version"] == 1 && line["kind"] != "error") {
        line["version"] = 2.into();
        *line = plain(line.take());
    }
    lines
}

/// None of the streams has a key that is still escaped.
fn plain(json: Json) -> Json {
    let unescaped = |name: String| match name.strip_prefix('$') {
        Some(rest) if rest.starts_with('$') => rest.to_owned(),
        _ => name,
    };
    match json {
        Json::Array(items) => items.into_iter().map(plain).collect(),
        Json::Object(mut members) => match members.remove("$set").or_else(|| members.remove("$map")) {
            Some(inner) => plain(inner),
            None => members.into_iter().map(|(name, value)| (unescaped(name), plain(value))).collect(),
        },
        other @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_)) => other,
    }
}

/// The same stream with run ids numbered, and without times and durations.
fn steady(stream: &str) -> Vec<Json> {
    let mut runs = BTreeMap::new();
    let mut lines = parsed(stream);
    for line in &mut lines {
        if let Some(run) = line["run"].as_str() {
            let count = runs.len();
            line["run"] = (*runs.entry(run.to_owned()).or_insert(count)).into();
        }
        for name in
            ["time_ms", "took_ms"].into_iter().filter(|name| line.get(name).is_some()).collect::<Vec<_>>()
        {
            line[name] = Json::Null;
        }
        if line["event"] == "reconciler.operation.retry" {
            line["data"]["wait_ms"] = Json::Null;
        }
    }
    lines
}

/// The events of docs/json.md with what they carry. A create, update, delete, read or adoption carries nothing.
const EVENTS: [(&str, &[&str]); 12] = [
    ("reconciler.run.started", &["reason"]),
    ("reconciler.run.waiting", &["holder", "since_ms"]),
    ("reconciler.deploy.decision", &["decision", "diff", "params"]),
    ("reconciler.drift.detected", &["diff"]),
    ("reconciler.operation.unchanged", &[]),
    ("reconciler.operation.progress", &["doing"]),
    ("reconciler.operation.retry", &["operation", "attempts", "wait_ms", "error"]),
    ("reconciler.operation.failed", &["operation", "error"]),
    ("reconciler.operation.skipped", &["cause"]),
    ("reconciler.run.finished", &["succeeded"]),
    ("started", &[]),
    ("completed", &[]),
];

/// EVENT-1: each line has the documented form.
#[test]
fn golden_events_have_the_documented_form() {
    let common = ["version", "sequence", "time_ms", "stack", "stage", "run", "resource", "data"];
    for golden in Golden::all() {
        for line in parsed(&golden.text(STREAM)) {
            assert!(line["version"] == 1 || line["version"] == 2, "{line}");
            let Some(event) = line["event"].as_str() else {
                assert!(["plan", "run", "error"].contains(&line["kind"].as_str().unwrap()), "{line}");
                continue;
            };
            assert!(common.iter().all(|name| line.get(name).is_some()), "{line}");
            let last = event.rsplit('.').next().unwrap();
            let form = EVENTS.iter().find(|(name, _)| *name == event || *name == last);
            let (_, data) = form.unwrap_or_else(|| panic!("{event} is not documented"));
            assert!(data.iter().all(|name| line["data"].get(name).is_some()), "{line}");
        }
    }
}

/// The same commands lead to the same events, in the same order.
#[test]
fn golden_events_are_still_written() {
    for golden in Golden::all() {
        let workplace = Workplace::of(&golden, "events", STATE_FILE);
        workplace.accept_found("adopted");
        let now = steady(&stream(&workplace, &golden.text(COMMANDS)));
        let then = as_written_now(steady(&golden.text(STREAM)));
        for (index, (then, now)) in then.iter().zip(&now).enumerate() {
            if let Some(difference) = difference("", then, now) {
                panic!("line {}: {difference}", index + 1);
            }
        }
        assert_eq!(then.len(), now.len());
    }
}
