//! EVENT: the event stream.

use crate::world::{Bench, program, thing};

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

/// STATE-8
#[test]
fn the_history_holds_the_events_of_each_run() {
    use trueup_state::{Scope, Store};
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1)]));
    let scope = Scope::new("stack", "test");
    let runs = bench.run(bench.store.runs(&scope)).unwrap();
    let lines = bench.run(bench.store.history(&scope, &runs[0].run)).unwrap();
    assert_eq!(lines.len(), 5);
    assert!(lines[1].event.contains("\"event\":\"reconciler.deploy.decision\""), "{}", lines[1].event);
}
