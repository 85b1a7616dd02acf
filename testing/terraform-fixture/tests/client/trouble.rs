//! Providers that fail, in every way they can.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use trueup_core::{FailureClass, Value, value};
use trueup_provider::{
    ApplyRequest, CallContext, InputValues, PlanRequest, PrivateBytes, Provider, ResourceHandler,
};

use crate::bench::{Bench, Fixture, VERSIONS};

fn troubled(trouble: &str) -> Value {
    value!({ name: "one", trouble: trouble })
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_with_its_place() {
    let bench = Bench::new(Fixture(6));
    let refused = bench.try_plan(&bench.one("thing", value!({ name: "a/b" }))).unwrap_err();
    assert!(refused.contains("Invalid name: A name is not empty and has no slashes."), "{refused}");
    let refused = bench.try_plan(&bench.one("thing", troubled("fail-plan"))).unwrap_err();
    assert!(refused.contains("Cannot plan: As was asked for."), "{refused}");
    let mut program = bench.one("thing", troubled("none"));
    program.providers[0].config = value!({ folder: "x", trouble: "fail" }).into();
    let refused = bench.try_plan(&program).unwrap_err();
    assert!(refused.contains("Cannot configure: As was asked for."), "{refused}");
}

/// What goes well and is worth knowing all the same.
#[test]
fn warnings_are_told_with_the_plan_and_after_the_run() {
    let bench = Bench::new(Fixture(6));
    let program = bench.one("thing", troubled("warn"));
    let warned: Vec<String> = bench.plan(&program).warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warned, ["warning: planned with a warning"]);
    let report = bench.deploy(&program);
    assert!(report.succeeded());
    assert_eq!(report.warnings, ["warning: applied with a warning"]);
    let warned: Vec<String> = bench.plan(&program).warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warned, ["warning: planned with a warning", "warning: read with a warning"]);
    assert_eq!(bench.deploy(&bench.program([])).warnings, ["warning: deleted with a warning"]);
}

/// CRASH-2: what failed half-way is kept, and replaced.
#[test]
fn an_object_that_was_made_half_way_is_kept_and_replaced() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let failed = bench.failed(&bench.one("thing", troubled("partial")));
        assert_eq!(failed, "fatal: Made half-way: As was asked for.");
        assert!(bench.objects().contains_key("thing/one"));
        let program = bench.one("thing", troubled("none"));
        assert_eq!(bench.actions(&program), ["replace"]);
        bench.deployed(&program);
        assert_eq!(bench.objects()["thing/one"]["serial"], json!(1));
        assert_eq!(bench.actions(&program), ["no-op"]);
    }
}

#[test]
fn what_was_refused_leaves_nothing_behind() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        assert!(bench.failed(&bench.one("thing", troubled("fail-create"))).contains("Cannot create"));
        assert!(bench.objects().is_empty());
        assert_eq!(bench.actions(&bench.one("thing", troubled("none"))), ["create"]);
        bench.deployed(&bench.one("thing", troubled("none")));
        assert!(bench.failed(&bench.one("thing", troubled("fail-update"))).contains("Cannot update"));
        assert_eq!(bench.objects()["thing/one"]["serial"], json!(1));
        bench.deployed(&bench.one("thing", troubled("fail-delete")));
        assert!(bench.failed(&bench.program([])).contains("Cannot delete"));
        assert!(bench.objects().contains_key("thing/one"));
    }
}

/// CRASH-1: what identifies the object stands in its inputs, so it is found by import if it came to be.
#[test]
fn a_plugin_that_dies_in_a_create_leaves_an_object_that_is_found() {
    for version in VERSIONS {
        for (trouble, objects) in [("crash-before", 0), ("crash-after", 1)] {
            let bench = Bench::new(version);
            let failed = bench.failed(&bench.one("thing", troubled(trouble)));
            let told = format!("indeterminate: the process of the provider {} went away", version.name());
            assert!(failed.starts_with(&told), "{failed}");
            assert!(failed.contains("panic: asked to crash"), "{failed}");
            assert_eq!(bench.objects().len(), objects);
            let again = bench.one("thing", troubled("none"));
            assert_eq!(bench.actions(&again), [if objects == 0 { "create" } else { "update" }]);
            bench.deployed(&again);
            assert_eq!(bench.objects()["thing/one"]["serial"], json!(1 + objects));
            assert_eq!(bench.actions(&again), ["no-op"]);
        }
    }
}

/// CRASH-1: nothing identifies the object, so nobody knows whether it came to be, and nothing is made twice.
#[test]
fn a_plugin_that_dies_in_a_create_leaves_an_outcome_that_nobody_knows() {
    for (trouble, objects) in [("crash-before", 0), ("crash-after", 1)] {
        let bench = Bench::new(Fixture(5));
        let failed = bench.failed(&bench.one("nest", troubled(trouble)));
        assert!(
            failed.starts_with("indeterminate: the process of the provider fixture5 went away"),
            "{failed}"
        );
        assert_eq!(bench.objects().len(), objects);
        let again = bench.try_plan(&bench.one("nest", troubled("none"))).unwrap_err();
        assert!(again.contains("the outcome of an earlier create is unknown"), "{again}");
    }
}

#[test]
fn a_plugin_that_dies_while_it_looks_is_started_again() {
    let bench = Bench::new(Fixture(6));
    bench.deployed(&bench.one("thing", troubled("crash-once")));
    assert!(bench.objects().contains_key("thing/one"));
    let refused = bench.try_plan(&bench.one("nest", troubled("crash-plan"))).unwrap_err();
    assert!(refused.contains("went away while it was to plan a resource"), "{refused}");
    assert!(refused.contains("asked to crash in a plan"), "{refused}");
}

#[test]
fn a_provider_is_held_to_its_word() {
    for version in VERSIONS {
        let bench = Bench::new(version);
        let refused = bench.try_plan(&bench.one("thing", troubled("bad-plan"))).unwrap_err();
        assert!(refused.contains("its plan does not keep to the program: `note`"), "{refused}");
        for (trouble, told) in [
            ("inconsistent", "it did not do what it planned: `note`: was planned as null, but is a string"),
            ("unknown-after", "after apply it still does not know `serial`"),
        ] {
            let bench = Bench::new(version);
            let failed = bench.failed(&bench.one("thing", troubled(trouble)));
            assert!(failed.contains(told), "{failed}");
            // The object exists, so it is kept.
            assert_eq!(bench.outputs().get("id"), Some(&value!("one")));
        }
        let bench = Bench::new(version);
        let failed = bench.failed(&bench.one("thing", troubled("bad-answer")));
        assert!(failed.contains("its answer does not match its own schema: `name`"), "{failed}");
        assert!(failed.starts_with("indeterminate"), "{failed}");
    }
}

/// The old type system of providers may do what others may not.
#[test]
fn a_provider_of_the_old_kind_is_let_pass() {
    let bench = Bench::new(Fixture(5));
    let program = bench.one("legacy", value!({ name: "one", note: "mine" }));
    bench.deployed(&program);
    assert_eq!(bench.objects()["legacy/one"]["note"], json!("planned by the provider"));
    assert_eq!(bench.actions(&program), ["no-op"]);
}

#[test]
fn an_answer_of_64_mib_is_refused() {
    let bench = Bench::new(Fixture(6));
    let refused = bench.try_plan(&bench.one("thing", troubled("huge"))).unwrap_err();
    assert!(refused.contains("the provider fixture6 failed to plan a resource"), "{refused}");
    assert!(refused.contains("larger than 64 MiB"), "{refused}");
}

/// Whoever cancels asks the provider to stop, and hears what came of it; the next call finds another process.
#[test]
fn a_call_that_hangs_is_stopped() {
    let bench = Bench::new(Fixture(6));
    bench.runtime.block_on(async {
        let provider = bench.fixture.provider(None, bench.pool.clone());
        let config = value!({ folder: (bench.folder().to_str().unwrap()) });
        let config = provider.configure(&config).await.unwrap();
        let handler = provider.resource("fixture6_thing").await.unwrap().unwrap();
        let cancellation = CancellationToken::new();
        let mut context = CallContext::new("stack", "test", bench.fixture.address("thing", "x"));
        context.cancellation = cancellation.clone();
        let desired = inputs(troubled("hang"));
        let plan = plan(&*handler, &config, &desired, &context).await;
        let request = ApplyRequest {
            config: &config,
            desired: &desired,
            planned: &plan.0,
            private: &plan.1,
            prior: None,
            observed: None,
            bindings: &[],
            context: &context,
        };
        let stop = async {
            tokio::task::yield_now().await;
            cancellation.cancel();
        };
        let applied = tokio::time::timeout(Duration::from_secs(20), handler.apply(request));
        let (applied, ()) = futures_util::future::join(applied, stop).await;
        let failed = applied.unwrap().unwrap_err();
        assert_eq!(failed.failure.message, "Stopped: As was asked for.");
        assert_eq!(failed.failure.class, FailureClass::Fatal);
        let (planned, _) = self::plan(&*handler, &config, &inputs(troubled("none")), &context).await;
        assert_eq!(planned.get("name"), Some(&value!("one")));
    });
}

fn inputs(value: Value) -> InputValues {
    InputValues { written: value.clone(), effective: value }
}

async fn plan(
    handler: &dyn ResourceHandler,
    config: &trueup_provider::Configured,
    desired: &InputValues,
    context: &CallContext,
) -> (Value, PrivateBytes) {
    let private = PrivateBytes::default();
    let request = PlanRequest {
        config: Some(config),
        desired,
        prior: None,
        attempted: None,
        observed: None,
        bindings: &[],
        prior_bindings: &[],
        private: &private,
        replaces: false,
        context,
    };
    let answer = handler.plan(request).await.unwrap();
    (answer.outputs, answer.private)
}
