//! EVENT: the event stream.

use std::sync::{Arc, Mutex};

use serde_json::json;
use trueup_core::{Failure, FailureClass};
use trueup_engine::{Event, EventSink};
use trueup_program::{DataDeclaration, Expression, Node, Program};
use trueup_state::{Scope, Store as _};

use crate::lifecycle::event_faults::EventFaults;
use crate::lifecycle::scripted::{self, Mishap};
use crate::lifecycle::world::{Bench, address, lit, program, resource, thing, thing_from};

/// EVENT-1, EVENT-2
#[test]
fn events_come_in_the_order_of_what_happens() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(
        bench.heard(),
        [
            "reconciler.run.started",
            "reconciler.deploy.decision a",
            "reconciler.create.started a",
            "reconciler.create.completed a",
            "reconciler.run.finished",
        ]
    );
    bench.deployed(&program([]));
    assert_eq!(
        bench.heard(),
        [
            "reconciler.run.started",
            "reconciler.deploy.decision a",
            "reconciler.delete.started a",
            "reconciler.delete.completed a",
            "reconciler.run.finished",
        ]
    );
}

/// EVENT-1, EVENT-2: retries stand between start and end, and a failure takes the place of the end.
#[test]
fn retries_failures_and_skips_are_told_in_their_places() {
    let bench = Bench::new();
    bench.world.fail("create a", Failure::new(FailureClass::Retryable, "not yet"));
    bench.world.fail("create b", Failure::new(FailureClass::Denied, "not yours"));
    assert!(!bench.deploy(&program([thing("a", 1), thing_from("b", "a"), thing_from("c", "b")])).succeeded());
    let heard = bench.heard();
    let told: Vec<&str> = heard.iter().filter_map(|it| it.strip_prefix("reconciler.")).collect();
    assert_eq!(
        told,
        [
            "run.started",
            "deploy.decision a",
            "deploy.decision b",
            "deploy.decision c",
            "create.started a",
            "operation.retry a",
            "create.completed a",
            "create.started b",
            "operation.failed b",
            "operation.skipped c",
            "run.finished",
        ]
    );
}

/// EVENT-1: what was planned and needed no call is told too, so that a subscriber can count to the end.
#[test]
fn what_turns_out_unchanged_is_told() {
    let bench = Bench::new();
    let reading = |from: &str| program([resource("w_thing.a", [("from", lit(from))]), thing_from("b", "a")]);
    bench.deployed(&reading("x"));
    bench.heard();
    bench.deployed(&reading("y"));
    assert_eq!(
        bench.heard(),
        [
            "reconciler.run.started",
            "reconciler.deploy.decision a",
            "reconciler.deploy.decision b",
            "reconciler.update.started a",
            "reconciler.update.completed a",
            "reconciler.operation.unchanged b",
            "reconciler.run.finished",
        ]
    );
}

/// STATE-8
#[test]
fn the_history_holds_the_events_of_each_run() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let scope = Scope::new("stack", "test");
    let runs = bench.run(bench.store.runs(&scope)).unwrap();
    let lines = bench.run(bench.store.history(&scope, &runs[0].run)).unwrap();
    assert_eq!(lines.len(), 5);
    assert!(lines[1].event.contains("\"event\":\"reconciler.deploy.decision\""), "{}", lines[1].event);
}

/// STATE-8: what is decided of a large stack is written in several commits, each decision once and in order.
#[test]
fn the_history_of_a_large_plan_is_whole() {
    const COUNT: usize = 4096 + 5;
    let bench = Bench::new();
    let mut large = program([]);
    large.resources.extend((0..COUNT).map(|at| thing(&format!("t{at:04}"), 1)));
    bench.deployed(&large);
    let scope = Scope::new("stack", "test");
    let runs = bench.run(bench.store.runs(&scope)).unwrap();
    let lines = bench.run(bench.store.history(&scope, &runs[0].run)).unwrap();
    assert_eq!(lines.len(), 2 + 3 * COUNT);
    for (at, line) in lines[1..=COUNT].iter().enumerate() {
        assert!(line.event.contains("\"event\":\"reconciler.deploy.decision\""), "{}", line.event);
        assert!(line.event.contains(&format!("w_thing.t{at:04}\"")), "{}", line.event);
    }
}

/// STATE-6, STATE-8: a change writes as often in a large stack as in a small one.
#[test]
fn what_is_left_as_it_is_costs_no_commit() {
    let commits_of_a_change = |count: usize| {
        let bench = Bench::new();
        let mut stack = program([]);
        stack.resources.extend((0..count).map(|at| thing(&format!("t{at:04}"), 1)));
        let newest = || {
            let recorded = bench.run(bench.store.load(&Scope::new("stack", "test"))).unwrap();
            recorded.records.iter().map(|(_, version)| version.0).max().unwrap()
        };
        bench.deployed(&stack);
        let before = newest();
        stack.resources[0] = thing("t0000", 2);
        bench.deployed(&stack);
        newest() - before
    };
    assert_eq!(commits_of_a_change(4096 + 5), commits_of_a_change(2));
}

/// EVENT-3, EVENT-5: each event as JSON and as a line for people.
#[test]
fn events_carry_all_that_a_subscriber_needs() {
    use trueup_engine::{ConsoleLines, JsonLines};
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (json, console) = (Shared::default(), Shared::default());
    let sink = EventSink::new().with(JsonLines(json.clone())).with(ConsoleLines(console.clone()));
    let bench = Bench::new();
    bench.deploy_heard_by(&program([thing("a", 1)]), sink);
    let text = |shared: &Shared| String::from_utf8(shared.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<serde_json::Value> =
        text(&json).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decision = &lines[1];
    for key in ["version", "sequence", "time_ms", "stack", "stage", "run", "resource", "data"] {
        assert!(!decision[key].is_null(), "{key}: {decision}");
    }
    assert_eq!(decision["resource"]["type"], "w_thing");
    assert_eq!(decision["data"]["decision"], "create");
    assert_eq!(decision["data"]["params"]["size"], 1);
    let told: Vec<String> = text(&console).lines().map(|line| line[9..].to_owned()).collect();
    assert_eq!(
        told,
        [
            "deploy started",
            "w_thing.a to create",
            "w_thing.a create started",
            "w_thing.a create completed",
            "finished",
        ]
    );
}

/// The events of a resource in what a bench does, each with its name and data.
fn told_of(name: &str, work: impl FnOnce(EventSink)) -> Vec<(String, serde_json::Value)> {
    let (heard, faults) = (Arc::new(Mutex::new(Vec::new())), EventFaults::default());
    let (also, found) = (heard.clone(), faults.clone());
    let sink = EventSink::new().with(move |event: &Event| also.lock().unwrap().push(found.line_of(event)));
    work(sink.clone());
    sink.close();
    faults.assert_none();
    let lines = std::mem::take(&mut *heard.lock().unwrap());
    let of_it = lines.into_iter().filter(|line| line["resource"]["address"] == name);
    let short = |line: &serde_json::Value| {
        line["event"].as_str().unwrap().trim_start_matches("reconciler.").to_owned()
    };
    let told = of_it.map(|line| (short(&line), line["data"].clone()));
    told.filter(|(name, _)| name != "operation.progress").collect()
}

fn deployed(bench: &Bench, program: &Program, name: &str) -> Vec<(String, serde_json::Value)> {
    told_of(name, |sink| bench.deploy_heard_by(program, sink))
}

/// EVENT-3: subscribers see what an operation is given, what it changes and what comes of it.
#[test]
fn operations_tell_inputs_changes_and_outputs() {
    let bench = Bench::new();
    let created = deployed(&bench, &program([thing("a", 1)]), "w_thing.a");
    let [_, (started, begun), (completed, done)] = &created[..] else { panic!("{created:?}") };
    assert_eq!((started.as_str(), completed.as_str()), ("create.started", "create.completed"));
    assert_eq!((&begun["params"]["size"], &begun["diff"]), (&json!(1), &json!([])), "{begun}");
    assert!(done["outputs"]["url"].is_string(), "{done}");
    let updated = deployed(&bench, &program([thing("a", 2)]), "w_thing.a");
    let [_, (started, begun), (completed, done)] = &updated[..] else { panic!("{updated:?}") };
    assert_eq!((started.as_str(), completed.as_str()), ("update.started", "update.completed"));
    assert_eq!(begun["diff"], json!([{ "path": "size", "before": 1, "after": 2 }]));
    assert_eq!(begun["params"]["size"], 2);
    assert!(done["outputs"]["url"].is_string(), "{done}");
    let deleted = deployed(&bench, &program([]), "w_thing.a");
    let [_, (started, begun), (completed, done)] = &deleted[..] else { panic!("{deleted:?}") };
    assert_eq!((started.as_str(), completed.as_str()), ("delete.started", "delete.completed"));
    assert_eq!((&begun["params"]["size"], &done["outputs"]), (&json!(2), &json!(null)));
    bench.world.fail("create a", Failure::new(FailureClass::Denied, "not yours"));
    let failing = |sink| {
        let wanted = program([thing("a", 1)]);
        drop(bench.run(bench.reconciler(sink).deploy(&wanted, &bench.options, &bench.cancellation)).unwrap());
    };
    let refused = told_of("w_thing.a", failing);
    let (failed, why) = refused.last().unwrap();
    assert_eq!((failed.as_str(), &why["operation"]), ("operation.failed", &json!("create")));
    let error = (&why["error"]["class"], &why["error"]["message"]);
    assert_eq!(error, (&json!("denied"), &json!("not yours")), "{why}");
}

/// DRIFT-6, EVENT-3: an object that is gone has drifted too.
#[test]
fn an_object_that_is_gone_is_drift() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let id = bench.world.by_name("a").unwrap();
    bench.world.cloud().things.remove(&id);
    let told = deployed(&bench, &program([thing("a", 1)]), "w_thing.a");
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["deploy.decision", "drift.detected", "create.started", "create.completed"]);
    let drift = &told[1].1;
    assert_eq!(drift["gone"], true);
    let diff = drift["diff"].as_array().unwrap();
    assert!(diff.iter().any(|it| it["path"] == "url" && it["before"].is_string()), "{drift}");
    assert!(diff.iter().all(|it| it["after"].is_null()), "{drift}");
}

/// EVENT-1, EVENT-4, UNKNOWN-12: data sources that are read at apply have a beginning and an end. This one is, because what it
/// depends on changes.
#[test]
fn reads_at_apply_are_told() {
    let (bench, _) = scripted::bench();
    let mut both = program([thing("a", 1)]);
    both.data.push(DataDeclaration {
        depends_on: vec![address("w_thing.a")],
        ..DataDeclaration::new(address("data.h_data.d"), Expression::new(Node::Object(Vec::new())))
    });
    let told = deployed(&bench, &both, "data.h_data.d");
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["deploy.decision", "read.started", "read.completed"]);
    assert_eq!(told[0].1["decision"], "read");
}

/// EVENT-8, CRASH-1: a create that is repeated by its token.
#[test]
fn a_repeated_create_has_events_of_its_own() {
    let (bench, script) = scripted::bench();
    script.find_by_token();
    let declared = program([resource("h_thing.a", [("size", lit(1))])]);
    script.mishap("create", Mishap::Fail(Failure::new(FailureClass::Indeterminate, "no answer")));
    assert!(!bench.deploy(&declared).succeeded());
    let told = deployed(&bench, &declared, "h_thing.a");
    let [_, (started, begun), (completed, done), ..] = &told[..] else { panic!("{told:?}") };
    assert_eq!((started.as_str(), completed.as_str()), ("create.started", "create.completed"));
    assert_eq!((&begun["params"]["size"], &done["outputs"]["shown"]), (&json!(1), &json!("a-0")));
    // The same where it is repeated only to learn which object goes.
    script.mishap("create", Mishap::Fail(Failure::new(FailureClass::Indeterminate, "no answer")));
    bench.deployed(&program([]));
    assert!(!bench.deploy(&declared).succeeded());
    let told = deployed(&bench, &program([]), "h_thing.a");
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    let all = ["deploy.decision", "create.started", "create.completed", "delete.started", "delete.completed"];
    assert_eq!(names, all);
}

/// EVENT-7
#[test]
fn dry_runs_tell_what_is_decided() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let id = bench.world.by_name("a").unwrap();
    bench.world.cloud().things.get_mut(&id).unwrap().size = 9;
    bench.options.dry_run = true;
    let heard = |work: &dyn Fn(EventSink)| {
        let told = told_of("w_thing.a", work);
        told.into_iter().map(|(name, data)| format!("{name} {}", data["decision"])).collect::<Vec<_>>()
    };
    let one = program([thing("a", 1)]);
    let drifted = ["deploy.decision \"drift-update\"", "drift.detected null"];
    let deploy = |sink| {
        drop(bench.run(bench.reconciler(sink).deploy(&one, &bench.options, &bench.cancellation)).unwrap());
    };
    assert_eq!(heard(&deploy), drifted);
    let plan = |sink| drop(bench.run(bench.reconciler(sink).plan(&one, &bench.options.plan)).unwrap());
    assert_eq!(heard(&plan), drifted);
    let destroy = |sink| {
        let reconciler = bench.reconciler(sink);
        drop(bench.run(reconciler.destroy(&one, &bench.options, &bench.cancellation)).unwrap());
    };
    assert_eq!(heard(&destroy), ["deploy.decision \"delete\""]);
    let history = bench.run(bench.store.runs(&Scope::new("stack", "test"))).unwrap();
    assert_eq!(history.len(), 1, "no history has a dry run");
}

/// EVENT-4
#[test]
fn decisions_have_the_names_of_the_reconciler() {
    let bench = Bench::new();
    let decision = |program: &Program, of: &str| {
        bench.try_plan(program).unwrap().action(of).unwrap().decision().to_string()
    };
    let one = program([thing("a", 1)]);
    assert_eq!(decision(&one, "w_thing.a"), "create");
    bench.deployed(&one);
    assert_eq!(decision(&one, "w_thing.a"), "noop");
    assert_eq!(decision(&program([thing("a", 2)]), "w_thing.a"), "update");
    assert_eq!(
        decision(&program([resource("w_thing.a", [("colour", lit("blue"))])]), "w_thing.a"),
        "replace"
    );
    assert_eq!(decision(&program([]), "w_thing.a"), "delete");
    let mut retained = thing("r", 1);
    retained.options.retain = true;
    bench.deployed(&program([thing("a", 1), retained]));
    assert_eq!(decision(&one, "w_thing.r"), "forget");
    let dependent = |size: u64, input: &str| {
        let url = crate::lifecycle::world::output("w_thing.a", "url");
        program([thing("a", size), resource("w_thing.b", [(input, url)])])
    };
    bench.deployed(&dependent(1, "from"));
    assert_eq!(decision(&dependent(2, "from"), "w_thing.b"), "may-update");
    assert_eq!(decision(&dependent(2, "colour"), "w_thing.b"), "may-replace");
    let id = bench.world.by_name("a").unwrap();
    bench.world.cloud().things.get_mut(&id).unwrap().size = 9;
    assert_eq!(decision(&one, "w_thing.a"), "drift-update");
    bench.world.cloud().things.remove(&id);
    assert_eq!(decision(&one, "w_thing.a"), "drift-recreate");
    let lost = Bench::in_world(bench.world.clone());
    let adopted = lost.try_plan(&program([thing("b", 1)])).unwrap();
    assert_eq!(adopted.action("w_thing.b").unwrap().decision(), "adopt");
}

/// EVENT-6
#[test]
fn a_failing_subscriber_neither_stops_nor_reorders_the_run() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let also = heard.clone();
    let sink = EventSink::new()
        .with(|_: &Event| panic!("a subscriber of the user's"))
        .with(move |event: &Event| also.lock().unwrap().extend(event.sequence));
    let bench = Bench::new();
    bench.deploy_heard_by(&program([thing("a", 1), thing("b", 1)]), sink);
    let heard = heard.lock().unwrap();
    assert!(heard.is_sorted() && heard.len() == 8, "{heard:?}");
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
}

/// EVENT-6: a subscriber that is stuck until the run is over.
#[test]
fn a_slow_subscriber_does_not_stop_the_run() {
    use std::sync::mpsc;

    let (over, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let also = heard.clone();
    let sink = EventSink::new().with(move |event: &Event| {
        // Fails once the sender is gone, and from then on nothing waits.
        let _ = wait.lock().unwrap().recv();
        also.lock().unwrap().extend(event.sequence);
    });
    let bench = Bench::new();
    let reconciler = bench.reconciler(sink.clone());
    let both = program([thing("a", 1), thing("b", 1)]);
    bench.run(reconciler.deploy(&both, &bench.options, &bench.cancellation)).unwrap();
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    assert!(heard.lock().unwrap().is_empty(), "it was stuck all the time");
    drop(over);
    sink.close();
    let heard = heard.lock().unwrap();
    assert!(heard.is_sorted() && heard.len() == 8, "{heard:?}");
}

/// EVENT-6: subscribers may lag behind; whoever must know how things stand can wait for them. One that has failed is not
/// waited for.
#[test]
fn what_has_happened_can_be_waited_for() {
    let heard = Arc::new(Mutex::new(0));
    let also = heard.clone();
    let sink = EventSink::new()
        .with(|_: &Event| panic!("a subscriber of the user's"))
        .with(move |_: &Event| *also.lock().unwrap() += 1);
    let bench = Bench::new();
    for run in 1..=100 {
        let changed = program([thing("a", 1 + run % 2)]);
        let reconciler = bench.reconciler(sink.clone());
        bench.run(reconciler.deploy(&changed, &bench.options, &bench.cancellation)).unwrap();
        sink.settle();
        // A run begins, decides, begins an operation, ends it, and ends.
        assert_eq!(*heard.lock().unwrap(), 5 * run, "after run {run}");
    }
}

/// EVENT-3: neither progress nor waiting is part of the history, nor is a plan that is not carried out.
#[test]
fn what_is_not_history_has_no_sequence() {
    let (bench, _) = scripted::bench();
    bench.hold_lease(std::time::Duration::from_secs(30));
    let (heard, faults) = (Arc::new(Mutex::new(Vec::new())), EventFaults::default());
    let (also, found) = (heard.clone(), faults.clone());
    let sink = EventSink::new().with(move |event: &Event| {
        let line = found.line_of(event);
        also.lock().unwrap().push((event.kind.name(), line["sequence"].as_u64()));
    });
    let wanted = program([resource("h_thing.a", [("size", lit(1))])]);
    drop(bench.run(bench.reconciler(sink.clone()).plan(&wanted, &bench.options.plan)).unwrap());
    sink.settle();
    let planned = std::mem::take(&mut *heard.lock().unwrap());
    assert_eq!(planned, [("reconciler.deploy.decision".to_owned(), None)]);
    bench.deploy_heard_by(&wanted, sink);
    faults.assert_none();
    let heard = heard.lock().unwrap();
    let (history, others): (Vec<_>, Vec<_>) = heard.iter().partition(|(_, sequence)| sequence.is_some());
    let others: Vec<&str> = others.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(others, ["reconciler.run.waiting", "reconciler.operation.progress"]);
    assert!(history.iter().filter_map(|(_, sequence)| *sequence).eq(0..history.len() as u64), "{heard:?}");
}
