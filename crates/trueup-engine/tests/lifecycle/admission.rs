//! POLICY: changes that are judged on real values, and stopped before anything is sent.

use std::sync::{Arc, Mutex};

use trueup_core::{Diagnostic, Diagnostics, FailureClass};
use trueup_engine::{AdmissionControl, FinalChange, Outcome, Plan, RunReport};
use trueup_program::{DataDeclaration, Expression, Node, Program};

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, thing_from};

/// Refuses all changes of one resource, and notes what it sees of them.
#[derive(Default)]
struct Refusing {
    name: &'static str,
    seen: Mutex<Vec<String>>,
}

impl AdmissionControl for Refusing {
    fn begin(&self, _: &Plan) {
        self.seen.lock().unwrap().clear();
    }

    fn review(&self, change: &FinalChange<'_>) -> Diagnostics {
        let mut found = Diagnostics::new();
        if change.address.name() == self.name {
            self.seen.lock().unwrap().push(format!("{} {}", change.action.name(), change.inputs));
            found.push(Diagnostic::error("not here").hint("ask someone"));
        } else {
            found.push(Diagnostic::warning(format!("{} is watched", change.address.name())));
        }
        found
    }
}

impl Bench {
    /// Refuses all changes of a resource from now on.
    fn refuse(&mut self, name: &'static str) -> Arc<Refusing> {
        let refusing = Arc::new(Refusing { name, ..Refusing::default() });
        self.admission = Some(refusing.clone());
        self.world.calls();
        refusing
    }

    /// The calls about a resource that change something.
    fn sent(&self, name: &str) -> Vec<String> {
        let about = |call: &String| call.ends_with(&format!(" {name}"));
        let looks = |call: &String| call.starts_with("read") || call.starts_with("lookup");
        self.world.calls().into_iter().filter(|call| about(call) && !looks(call)).collect()
    }
}

fn refusal(report: &RunReport, address: &str) -> String {
    match report.outcome(address) {
        Some(Outcome::Failed(failure)) => {
            assert_eq!(failure.class, FailureClass::Invalid);
            format!("{}; {}", failure.message, failure.hints.join("; "))
        }
        other => panic!("{address}: {other:?}"),
    }
}

/// POLICY-4
#[test]
fn what_is_not_admitted_stops_its_dependents_and_nothing_else() {
    let mut bench = Bench::new();
    let program = program([thing("a", 1), thing_from("b", "a"), thing_from("c", "b"), thing("d", 1)]);
    let refusing = bench.refuse("b");
    let report = bench.deploy(&program);
    assert_eq!(refusal(&report, "w_thing.b"), "not here; ask someone");
    assert!(matches!(report.outcome("w_thing.c"), Some(Outcome::Skipped(cause)) if cause.name() == "b"));
    assert_eq!(bench.world.things(), ["a=1", "d=1"]);
    assert!(!bench.records().contains_key("b"), "not even an intent is recorded");
    let seen = refusing.seen.lock().unwrap().clone();
    assert_eq!(seen, [r#"create { colour = "red", from = "thing/1/1", size = 1 }"#]);
    let warned: Vec<&str> = report.warnings.iter().map(String::as_str).collect();
    assert!(warned.iter().any(|it| it.contains("a is watched")), "{warned:?}");
    bench.admission = None;
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1", "b=1", "c=1", "d=1"]);
}

/// POLICY-4: whichever way a change comes about, it is judged before anything of it is sent.
#[test]
fn every_way_to_make_a_change_is_judged() {
    let red = |size| program([thing("a", size), thing_from("b", "a")]);
    let coloured = |kind: &str, size| {
        let b = resource(&format!("{kind}.b"), [("colour", output("w_thing.a", "url")), ("name", lit("x"))]);
        program([thing("a", size), b])
    };
    let replaced = |size| {
        let b = resource("w_thing.b", [("colour", output("w_thing.a", "url"))]);
        program([thing("a", size), b])
    };
    let nothing = || program([thing("a", 1)]);
    let ways: [(&str, Option<Program>, Program, &str); 6] = [
        ("create", None, red(1), "create"),
        ("update on a value that was unknown", Some(red(1)), red(2), "update"),
        ("replacement, new object first", Some(replaced(1)), replaced(2), "replace"),
        ("replacement, old object first", Some(coloured("w_named", 1)), coloured("w_named", 2), "replace"),
        ("convergent create", None, coloured("w_database", 1), "create"),
        ("delete", Some(red(1)), nothing(), "delete"),
    ];
    for (way, before, after, action) in ways {
        for saved in [false, true] {
            let mut bench = Bench::new();
            before.iter().for_each(|before| drop(bench.deployed(before)));
            let things = bench.world.things();
            let refusing = bench.refuse("b");
            let report = match saved {
                false => bench.deploy(&after),
                true => bench.try_deploy_saved(&after, &bench.try_save(&after, false).unwrap()).unwrap(),
            };
            let (address, _) = report.outcomes.iter().find(|(it, _)| it.name() == "b").unwrap();
            assert!(refusal(&report, &address.to_string()).starts_with("not here"), "{way}");
            assert_eq!(bench.sent("b"), Vec::<String>::new(), "{way}, saved: {saved}");
            let seen = refusing.seen.lock().unwrap().clone();
            assert!(seen.iter().all(|it| it.starts_with(action)) && !seen.is_empty(), "{way}: {seen:?}");
            assert!(
                things.iter().filter(|it| it.starts_with("b=")).all(|it| bench.world.things().contains(it))
            );
        }
    }
}

/// POLICY-4, REPLACE-2: what is certainly replaced is judged before its old object goes.
#[test]
fn a_forced_replacement_is_judged_before_the_old_object_goes() {
    let mut bench = Bench::new();
    let named = |size| {
        let b = resource("w_named.b", [("name", lit("x")), ("colour", output("w_thing.a", "url"))]);
        program([thing("a", size), b])
    };
    bench.deployed(&named(1));
    bench.options.plan.replace = vec!["w_named.b".parse().unwrap()];
    bench.refuse("b");
    let report = bench.deploy(&named(2));
    refusal(&report, "w_named.b");
    assert_eq!(bench.sent("b"), Vec::<String>::new());
}

/// POLICY-4
#[test]
fn drift_repair_and_destroy_are_judged() {
    let mut bench = Bench::new();
    let both = program([thing("a", 1), thing_from("b", "a")]);
    bench.deployed(&both);
    let id = bench.world.by_name("b").unwrap();
    bench.world.cloud().things.get_mut(&id).unwrap().size = 99;
    bench.refuse("b");
    refusal(&bench.deploy(&both), "w_thing.b");
    assert_eq!(bench.world.things(), ["a=1", "b=99"]);
    let report = bench.destroy();
    refusal(&report, "w_thing.b");
    assert!(matches!(report.outcome("w_thing.a"), Some(Outcome::Skipped(_))));
    assert_eq!(bench.world.things(), ["a=1", "b=99"]);
}

/// POLICY-4: a data source that is read at apply is judged like a change.
#[test]
fn a_data_source_is_judged_before_it_is_read() {
    let mut bench = Bench::new();
    let mut all = program([thing("a", 1)]);
    all.data.push(DataDeclaration::new(
        "data.w_length.l".parse().unwrap(),
        Expression::new(Node::Object(vec![("of".into(), output("w_thing.a", "url"))])),
    ));
    let refusing = bench.refuse("l");
    let report = bench.deploy(&all);
    refusal(&report, "data.w_length.l");
    assert_eq!(bench.sent("l"), Vec::<String>::new());
    assert_eq!(*refusing.seen.lock().unwrap(), [r#"read { of = "thing/1/1" }"#]);
}

/// POLICY-4, CRASH-1: cut off anywhere, what a create is repeated with is judged before it is repeated.
#[test]
fn the_repeat_of_an_interrupted_create_is_judged() {
    let program = program([resource("w_token.b", [("size", lit(2))])]);
    let mut repeated = 0;
    for waits in 0.. {
        let mut bench = Bench::new();
        if bench.deploy_cut_off(&program, waits) {
            break;
        }
        if bench.plan(&program).ends_with("No changes") {
            continue;
        }
        let things = bench.world.things();
        bench.refuse("b");
        refusal(&bench.deploy(&program), "w_token.b");
        assert_eq!(bench.sent("b"), Vec::<String>::new(), "cut off after {waits} waits");
        assert_eq!(bench.world.things(), things);
        repeated += usize::from(!things.is_empty());
        bench.admission = None;
        bench.deployed(&program);
        assert_eq!(bench.world.things(), ["b=2"]);
    }
    assert!(repeated > 0, "some were cut off after the call");
}
