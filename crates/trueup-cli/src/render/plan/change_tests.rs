//! Changes of long values and documents: the difference is in view at every width, and without a terminal all is there.

use trueup_core::{Change, SourceMap, Value, value};
use trueup_engine::{Action, Plan, PlannedAction, Reason};

use super::tests::{action, changing, plan, rendered};
use super::{Shown, plan_json, plan_markdown};
use crate::ui::Look;

const WIDE: Look = Look { columns: 200, ..Look::PLAIN };
const LOG: Look = Look { whole: true, ..Look::PLAIN };

fn spf(end: &str) -> String {
    let hosts: Vec<String> = (1..=9).map(|at| format!("include:_spf{at}.mail.example.org")).collect();
    format!("v=spf1 {} {end}", hosts.join(" "))
}

fn policy(effect: &str, more: &str) -> String {
    let read =
        r#"{"Action":["s3:GetObject","s3:ListBucket"],"Effect":"Allow","Resource":"arn:aws:s3:::site/*"}"#;
    let write =
        format!(r#"{{"Action":"s3:PutObject","Effect":"{effect}","Resource":"arn:aws:s3:::site/*"}}"#);
    format!(r#"{{"Version":"2012-10-17","Statement":[{more}{read},{write}]}}"#)
}

fn manifest(image: &str) -> String {
    let containers =
        format!("      containers:\n      - name: web\n        image: {image}\n        ports: [80]\n");
    format!("kind: Deployment\nspec:\n  replicas: 2\n  template:\n    spec:\n{containers}")
}

fn listener(port: i64, description: &str) -> Value {
    value!({ port: (port), protocol: "tcp", source: "0.0.0.0/0", description: (description), rule: "public" })
}

/// Values of every kind that people mistake for one another when they are cut.
fn long_changes() -> Plan {
    let before = Value::object([
        ("spf", spf("-all").into()),
        ("policy", policy("Deny", "").into()),
        ("manifest", manifest("web:1.4.2").into()),
        ("script", format!("set -e\ncurl --fail {} | tar x\n", "https://example.org/".repeat(6)).into()),
        ("listener", listener(80, "everyone may read the site")),
    ]);
    let deny = r#"{"Action":"s3:DeleteObject","Effect":"Deny","Resource":"*"},"#;
    let after = Value::object([
        ("spf", spf("+all").into()),
        ("policy", policy("Allow", deny).into()),
        ("manifest", manifest("web:1.5.0").into()),
        ("script", format!("set -e\ncurl --insecure {} | tar x\n", "https://example.org/".repeat(6)).into()),
    ]);
    let updated = changing("x_y.z", Action::Update, &before, &after);
    let bound = PlannedAction {
        bindings: vec![
            change("invoke.principal", Some("events.example.org"), Some("api.example.org")),
            change("gone", Some("a"), None),
        ],
        ..action("x_function.f", Action::Update, &[Reason::Bindings])
    };
    let drifted = PlannedAction {
        drift: vec![
            change("content", Some("one\ntwo\nthree\n"), Some("one\n2\nthree\n")),
            change("size", Some("14"), Some("12")),
            change("spf", Some(&spf("-all")), Some(&spf("+all"))),
        ],
        ..action("x_file.d", Action::Update, &[Reason::Drift])
    };
    plan(vec![updated, bound, drifted])
}

fn change(path: &str, before: Option<&str>, after: Option<&str>) -> Change {
    let side = |text: Option<&str>| text.map(Value::from);
    Change { path: path.parse().unwrap(), before: side(before), after: side(after), certain: true }
}

/// OUTPUT-7
#[test]
fn long_changes_keep_the_difference_in_view_at_80_columns() {
    insta::assert_snapshot!(rendered(&long_changes(), Look::PLAIN, Shown::CHANGES));
}

/// OUTPUT-7
#[test]
fn long_changes_keep_the_difference_in_view_at_200_columns() {
    insta::assert_snapshot!(rendered(&long_changes(), WIDE, Shown::CHANGES));
}

/// OUTPUT-7
#[test]
fn nothing_is_shortened_without_a_terminal() {
    let text = rendered(&long_changes(), LOG, Shown::CHANGES);
    assert!(text.contains(&spf("-all")) && text.contains(&spf("+all")), "{text}");
    insta::assert_snapshot!(text);
}

/// OUTPUT-7
#[test]
fn long_changes_keep_the_difference_in_view_in_markdown() {
    insta::assert_snapshot!(plan_markdown(&long_changes()));
}

/// OUTPUT-7
#[test]
fn a_long_value_is_shown_in_full_on_request_without_unchanged_fields() {
    let (before, after) = (value!({ kept: "same", long: "a" }), "b".repeat(500));
    let after = Value::object([("kept", "same".into()), ("long", after.into())]);
    let plan = plan(vec![changing("x_y.z", Action::Update, &before, &after)]);
    let text = rendered(&plan, Look::PLAIN, Shown { whole: true, ..Shown::CHANGES });
    assert!(text.contains(&"b".repeat(500)) && !text.contains("kept"), "{text}");
    let text = rendered(&plan, Look::PLAIN, Shown { unchanged: true, ..Shown::CHANGES });
    assert!(text.contains("kept") && !text.contains(&"b".repeat(500)), "{text}");
}

/// OUTPUT-7: what is long is counted, whatever it is.
#[test]
fn members_of_a_large_document_are_counted() {
    let document = |more: i64| {
        let members: Vec<String> = (0..40).map(|at| format!("\"k{at}\":{}", at + more)).collect();
        value!({ policy: (format!("{{{}}}", members.join(","))) })
    };
    let plan = plan(vec![changing("x_y.z", Action::Update, &document(0), &document(1))]);
    let shown = rendered(&plan, Look::PLAIN, Shown::CHANGES);
    assert!(shown.contains("… 24 more lines (--full shows them)") && !shown.contains("k39"), "{shown}");
    assert!(rendered(&plan, LOG, Shown::CHANGES).contains("k39"));
}

/// A changed field says nothing of another whose name begins like its own.
#[test]
fn unchanged_fields_are_shown_beside_changed_ones_of_similar_names() {
    let fields = |prefix: &str| value!({ name: "kept", name_prefix: (prefix) });
    let plan = plan(vec![changing("x_y.z", Action::Update, &fields("a"), &fields("b"))]);
    let shown = rendered(&plan, Look::PLAIN, Shown { unchanged: true, ..Shown::CHANGES });
    assert!(shown.contains("\"kept\"") && shown.contains("\"a\" → \"b\""), "{shown}");
}

/// OUTPUT-7: so do words that say nothing to people, where there is room for a few characters only.
#[test]
fn digests_differ_in_a_narrow_terminal() {
    let digest = |eighth: &str| value!({ digest_of: (format!("0123456{eighth}").repeat(4)) });
    let plan = plan(vec![changing("x_y.z", Action::Update, &digest("a"), &digest("b"))]);
    for look in [Look { columns: 40, ..Look::PLAIN }, Look { columns: 40, unicode: false, ..Look::PLAIN }] {
        let shown = rendered(&plan, look, Shown::CHANGES);
        assert!(shown.contains("0123456a") && shown.contains("0123456b"), "{shown}");
    }
}

/// OUTPUT-7: large texts are compared in time in proportion to their length; anything more would take minutes here.
#[test]
fn large_texts_are_compared_quickly() {
    const COUNT: usize = 60_000;
    let text = |separator: &str, changed: &str| -> String {
        let word = |at| {
            if at % 8 == 0 { format!("{changed}{at}{separator}") } else { format!("k: {at}{separator}") }
        };
        (0..COUNT).map(word).collect()
    };
    for separator in ["\n", " ", "\nk:\n- "] {
        let (before, after) = (text(separator, "old: "), text(separator, "new: "));
        let plan =
            plan(vec![changing("x_y.z", Action::Update, &value!({ t: (before) }), &value!({ t: (after) }))]);
        let shown = rendered(&plan, LOG, Shown::CHANGES);
        assert!(shown.contains("new: 59992") && shown.contains("old: 59992"), "{separator:?}");
    }
}

/// OUTPUT-7: secrets stay hidden however they are shown.
#[test]
fn secret_documents_are_not_compared() {
    let secret = |effect: &str| Value::object([("policy", Value::from(policy(effect, "")).into_secret())]);
    let plan = plan(vec![changing("x_y.z", Action::Update, &secret("Deny"), &secret("Allow"))]);
    for look in [Look::PLAIN, LOG] {
        let text = rendered(&plan, look, Shown::CHANGES);
        assert!(text.contains("policy  (secret) → (secret)") && !text.contains("s3:"), "{text}");
    }
}

/// BIND-1
#[test]
fn the_json_of_a_plan_has_the_changes_of_bindings() {
    let json = plan_json(&long_changes(), &SourceMap::new());
    let actions = json["actions"].as_array().unwrap();
    let function = actions.iter().find(|it| it["address"] == "x_function.f").unwrap();
    assert_eq!(function["bindings"][0]["path"], "invoke.principal");
    assert_eq!(function["bindings"][0]["after"], "api.example.org");
}
