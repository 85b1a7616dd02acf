//! DRIFT: the world against the record.

use std::cell::Cell;

use trueup_core::{Failure, FailureClass};
use trueup_program::DriftPolicy;
use trueup_provider::{Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Registry, Result};

use crate::lifecycle::world::{Bench, lit, program, resource, thing, thing_from};

fn tamper(bench: &Bench, name: &str) {
    let id = bench.world.by_name(name).unwrap();
    bench.world.cloud().things.get_mut(&id).unwrap().size = 99;
}

/// DRIFT-1, DRIFT-2, DRIFT-3, DRIFT-6
#[test]
fn what_was_changed_outside_is_seen_told_and_repaired() {
    let mut bench = Bench::new();
    let program = program([thing("a", 1)]);
    bench.deployed(&program);
    tamper(&bench, "a");
    let plan = bench.try_plan(&program).unwrap();
    insta::assert_snapshot!(plan, @r#"
    ~ w_thing.a (drift)
        size: 1 <- 99
        url: "thing/1/1" <- "thing/1/99"
    Plan: 1 to update
    "#);
    assert_eq!(plan.action("w_thing.a").unwrap().decision(), "drift-update");
    bench.options.plan.drift = false;
    assert!(bench.plan(&program).ends_with("No changes"));
    bench.options.plan.drift = true;
    bench.heard();
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1"]);
    assert_eq!(bench.heard().iter().filter(|event| *event == "reconciler.drift.detected a").count(), 1);
}

/// DRIFT-2, CRUD-2
#[test]
fn what_is_gone_is_made_again_as_the_same_generation() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing_from("b", "a")]);
    bench.deployed(&program);
    let id = bench.world.by_name("a").unwrap();
    bench.world.cloud().things.remove(&id);
    let plan = bench.try_plan(&program).unwrap();
    assert_eq!(plan.action("w_thing.a").unwrap().decision(), "drift-recreate");
    assert_eq!(plan.action("w_thing.a").unwrap().prior_outputs.get("id").unwrap().to_string(), "1");
    bench.deployed(&program);
    assert_eq!(bench.records()["a"].current.as_ref().unwrap().number.0, 0);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    assert!(bench.plan(&program).ends_with("No changes"));
}

/// DRIFT-1: without drift reads, a lost record and an interrupted create are still looked for.
#[test]
fn recovery_and_adoption_look_without_drift_reads() {
    let wanted = program([thing("a", 1)]);
    let mut bench = Bench::new();
    bench.options.plan.drift = false;
    bench.world.fail("hang up a", Failure::new(FailureClass::Indeterminate, "the connection broke"));
    assert!(!bench.deploy(&wanted).succeeded());
    bench.deployed(&wanted);
    let mut lost = Bench::in_world(bench.world.clone());
    lost.options.plan.drift = false;
    lost.deployed(&wanted);
    assert_eq!(lost.world.things(), ["a=1"], "found twice, and made once");
    lost.world.calls();
    lost.plan(&wanted);
    assert_eq!(lost.world.calls(), [""; 0], "what is recorded is not read");
}

/// DRIFT-5, INV-15
#[test]
fn what_cannot_be_read_is_never_gone() {
    let throttled = FailureClass::Throttled { delay: Some(std::time::Duration::from_secs(1)) };
    for (class, attempts) in [
        (FailureClass::Denied, 1),
        (FailureClass::Indeterminate, 1),
        (FailureClass::Retryable, 10),
        (throttled, 10),
    ] {
        let bench = Bench::new();
        let program = program([thing("a", 1), thing("b", 1)]);
        bench.deployed(&program);
        bench.world.calls();
        for _ in 0..10 {
            bench.world.fail("read a", Failure::new(class.clone(), "not now"));
        }
        let refused = bench.refused(&program);
        assert!(refused.starts_with("error: cannot read w_thing.a: not now"), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
        let reads = bench.world.calls().into_iter().filter(|call| call == "read a").count();
        assert_eq!(reads, attempts, "{refused}");
    }
}

/// DRIFT-6
#[test]
fn each_drifted_resource_has_one_event_with_its_differences() {
    use std::sync::{Arc, Mutex};
    use trueup_engine::{Event, EventKind, EventSink};
    let bench = Bench::new();
    let all = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    bench.deployed(&all);
    ["a", "c"].iter().for_each(|name| tamper(&bench, name));
    let told = Arc::new(Mutex::new(Vec::new()));
    let noted = told.clone();
    let sink = EventSink::new().with(move |event: &Event| {
        if let EventKind::DriftDetected { changes, .. } = &event.kind {
            let side = |value: &Option<trueup_core::Value>| value.clone().unwrap_or_default();
            let of = event.resource.as_ref().map_or("", |address| address.name());
            let shown =
                changes.iter().map(|it| format!("{}: {} -> {}", it.path, side(&it.before), side(&it.after)));
            noted.lock().unwrap().push(format!("{of} {}", shown.collect::<Vec<_>>().join(", ")));
        }
    });
    bench.deploy_heard_by(&all, sink);
    assert_eq!(
        *told.lock().unwrap(),
        [
            r#"a size: 1 -> 99, url: "thing/1/1" -> "thing/1/99""#,
            r#"c size: 1 -> 99, url: "thing/3/1" -> "thing/3/99""#,
        ]
    );
}

/// DRIFT-7
#[test]
fn each_resource_says_what_is_done_about_its_drift() {
    let bench = Bench::new();
    let with = |drift| {
        let mut declared = thing("a", 1);
        declared.options.drift = drift;
        program([declared])
    };
    bench.deployed(&with(DriftPolicy::Fix));
    tamper(&bench, "a");
    let warned = bench.try_plan(&with(DriftPolicy::Warn)).unwrap();
    assert!(warned.is_empty());
    let told: Vec<_> = warned.warnings.iter().map(|it| it.summary.clone()).collect();
    assert_eq!(told, ["w_thing.a was changed outside: size, url"]);
    let ignored = bench.try_plan(&with(DriftPolicy::Ignore)).unwrap();
    assert!(ignored.is_empty() && ignored.warnings.is_empty());
    for tolerant in [DriftPolicy::Warn, DriftPolicy::Ignore] {
        bench.deployed(&with(tolerant));
        assert_eq!(bench.world.things(), ["a=99"]);
    }
    bench.deployed(&with(DriftPolicy::Fix));
    assert_eq!(bench.world.things(), ["a=1"]);
}

thread_local! {
    /// What a gauge shows, and how often one was updated.
    static GAUGE: Cell<(u64, usize)> = const { Cell::new((0, 0)) };
}

/// A type that tells something which is nobody's to repair.
#[derive(Inputs)]
struct Gauge {}

#[derive(Outputs)]
struct GaugeOutput {
    #[trueup(informational)]
    shows: u64,
}

impl Crud for Gauge {
    type Output = GaugeOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<GaugeOutput> {
        Ok(GaugeOutput { shows: GAUGE.get().0 })
    }

    async fn read(&self, _: &Context, _: &GaugeOutput) -> Result<GaugeOutput> {
        Ok(GaugeOutput { shows: GAUGE.get().0 })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<GaugeOutput> {
        let (shows, updates) = GAUGE.get();
        GAUGE.set((shows, updates + 1));
        Ok(GaugeOutput { shows })
    }

    async fn delete(&self, _: &Context, _: &GaugeOutput) -> Result<()> {
        Ok(())
    }
}

/// DRIFT-3: an informational output is no drift; the next deploy records what was read.
#[test]
fn an_informational_output_is_refreshed_without_an_action() {
    GAUGE.set((1, 0));
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("g").crud::<Gauge>("gauge"));
    let declared = program([resource("g_gauge.a", [])]);
    bench.deployed(&declared);
    GAUGE.set((2, 0));
    assert!(bench.plan(&declared).ends_with("No changes"));
    bench.deployed(&declared);
    assert_eq!(GAUGE.get().1, 0, "nothing was called but a read");
    let recorded = bench.records().remove("a").unwrap().current.unwrap().object.unwrap();
    assert_eq!(recorded.outputs.get("shows").unwrap().to_string(), "2");
}

/// DRIFT-4
#[test]
fn a_type_that_cannot_be_read_says_that_drift_goes_unseen() {
    let bench = Bench::new();
    let program = program([resource("w_named.a", [("name", lit("x"))]), thing("b", 1)]);
    bench.deployed(&program);
    let plan = bench.try_plan(&program).unwrap();
    assert!(plan.is_empty());
    assert!(plan.action("w_named.a").unwrap().unreadable && !plan.action("w_thing.b").unwrap().unreadable);
}

/// DRIFT-9
#[test]
fn a_refresh_records_what_is_gone_and_changes_no_object() {
    let bench = Bench::new();
    let program = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    bench.deployed(&program);
    tamper(&bench, "a");
    let gone = bench.world.by_name("b").unwrap();
    bench.world.cloud().things.remove(&gone);
    bench.world.calls();
    // No input stands for what changed of `a`, so that it stays drift.
    assert_eq!(bench.refresh(&program), ["delete-begun w_thing.b", "deleted w_thing.b"]);
    assert!(bench.world.calls().iter().all(|call| call.starts_with("read")), "objects were touched");
    assert!(!bench.records().contains_key("b"));
    assert_eq!(bench.refresh(&program), Vec::<String>::new());
    let plan = bench.plan(&program);
    assert!(plan.contains("~ w_thing.a (drift)") && plan.contains("+ w_thing.b (new)"), "{plan}");
    bench.deployed(&program);
    assert_eq!(bench.world.things(), ["a=1", "b=1", "c=1"]);
}

/// DRIFT-8: whoever waits for a plan can see how far it has come.
#[test]
fn a_plan_counts_what_it_looks_at() {
    let mut bench = Bench::new();
    let three = program([thing("a", 1), thing("b", 1), thing("c", 1)]);
    let parallelism = std::mem::replace(&mut bench.options.plan.parallelism, 1);
    bench.deployed(&three);
    assert_eq!(bench.world.cloud().peak("read"), 1);
    bench.options.plan.parallelism = parallelism;
    assert_eq!(bench.looked_at(&three), (3, 3));
    assert_eq!(bench.world.cloud().peak("read"), 3, "all at once");
}
