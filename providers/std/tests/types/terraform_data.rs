//! `terraform_data`, as Terraform 1.11 has it.

use trueup_core::{Value, value};

use crate::bench::{Bench, program, referring, resource, secret};

/// The planned output of a program's `terraform_data.a`.
fn planned(bench: &Bench, inputs: Value) -> String {
    let plan = bench.try_plan(&program([resource("terraform_data.a", inputs)])).unwrap();
    let action = plan.action("terraform_data.a").unwrap();
    let output = action.outputs.get("output").map_or("null".to_owned(), ToString::to_string);
    format!("{} {output}", action.decision())
}

/// UNKNOWN-1, UNKNOWN-2: exactly as Terraform plans: unknown whenever it is made anew, of the type of `input`, and null
/// where `input` is.
#[test]
fn output_is_planned_as_terraform_plans_it() {
    let bench = Bench::new();
    assert_eq!(planned(&bench, value!({ input: "x" })), "create (unknown string)");
    assert_eq!(planned(&bench, value!({})), "create null");
    bench.deployed(&program([resource("terraform_data.a", value!({ input: "x" }))]));
    assert_eq!(planned(&bench, value!({ input: "x" })), r#"noop "x""#);
    assert_eq!(planned(&bench, value!({ input: "y" })), "update (unknown string)");
    assert_eq!(planned(&bench, value!({ input: true })), "update (unknown bool)");
    assert_eq!(planned(&bench, value!({})), "update null");
    assert_eq!(planned(&bench, value!({ input: "x", triggers_replace: 1 })), "replace (unknown string)");
}

/// PLAN-3, PLAN-4
#[test]
fn an_update_keeps_the_id_and_a_trigger_changes_it() {
    let bench = Bench::new();
    let of = |inputs: Value| program([resource("terraform_data.a", inputs)]);
    bench.deployed(&of(value!({ input: { a: [1, null] } })));
    let outputs = bench.outputs("a");
    let id = outputs.get("id").unwrap().clone();
    assert_eq!(id.as_str().unwrap().len(), 36);
    assert_eq!(outputs.get("output").unwrap().to_string(), "{ a = [1, null] }");
    bench.deployed(&of(value!({ input: 2 })));
    assert_eq!(
        (bench.outputs("a").get("id"), bench.outputs("a").get("output")),
        (Some(&id), Some(&value!(2)))
    );
    bench.deployed(&of(value!({ input: 2, triggers_replace: ["t"] })));
    assert_ne!(bench.outputs("a").get("id"), Some(&id));
    assert!(bench.plan(&of(value!({ input: 2, triggers_replace: ["t"] }))).ends_with("No changes"));
    bench.destroyed();
}

/// UNKNOWN-7, SECRET-1: what depends on it sees its output; a secret stays one.
#[test]
fn a_secret_input_is_a_secret_output() {
    let bench = Bench::new();
    let data = resource("terraform_data.a", value!({ input: (secret("hunter2")) }));
    let file = referring("std_file.f", &value!({ path: "f" }), "content", "terraform_data.a", "output");
    let program = program([data, file]);
    bench.plan(&program);
    bench.deployed(&program);
    assert_eq!(bench.content("f"), "hunter2");
    assert!(bench.outputs("a").get("output").unwrap().is_secret());
    bench.destroyed();
    assert!(!bench.told().contains("hunter2"));
}

/// CRASH-1, RECONCILE-3
#[test]
fn terraform_data_keeps_the_contract() {
    use trueup_provider_std::{Randomness, terraform_provider};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(async {
        let provider = terraform_provider(Randomness::default());
        let secret_input = |text: &str| value!({ input: (secret(text)) });
        let kit =
            trueup_conformance::Kit::new(provider, "terraform_data", secret_input("canary-1")).await.unwrap();
        kit.updated(secret_input("canary-1 too"))
            .replaced(value!({ input: 1, triggers_replace: 2 }))
            .secret("canary-1")
            .kept_in_state()
            .run()
            .await
    });
    report.assert_passed();
}
