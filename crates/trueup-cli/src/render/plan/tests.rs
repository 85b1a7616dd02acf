//! Plans as they are shown: every action, at 80 columns and without colour, with and without UTF-8.

use trueup_core::{Address, Change, Diagnostics, SourceMap, Type, Value, diff, value};
use trueup_engine::{Action, Plan, PlannedAction, PlannedMove, Reason, ReplaceOrder};
use trueup_provider::GenerationNumber;
use trueup_state::{RecordId, Scope};

use super::{PlanView, Shown, plan_json, render_plan};
use crate::ui::{Look, width};

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

pub(super) fn action(of: &str, action: Action, reasons: &[Reason]) -> PlannedAction {
    PlannedAction {
        address: address(of),
        action,
        reasons: reasons.to_vec(),
        changes: Vec::new(),
        drift: Vec::new(),
        drifted_inputs: Vec::new(),
        bindings: Vec::new(),
        replace_paths: Vec::new(),
        replace_order: None,
        inputs: Value::NULL,
        outputs: Value::NULL,
        prior_inputs: Value::NULL,
        prior_outputs: Value::NULL,
        dependencies: Vec::new(),
        deposed: Vec::new(),
        unreadable: false,
        adopts_only: false,
    }
}

/// One that changes from these inputs to those.
pub(super) fn changing(of: &str, does: Action, before: &Value, after: &Value) -> PlannedAction {
    PlannedAction {
        changes: diff(before, after),
        inputs: after.clone(),
        prior_inputs: before.clone(),
        ..action(of, does, &[Reason::Inputs])
    }
}

pub(super) fn plan(mut actions: Vec<PlannedAction>) -> Plan {
    actions.sort_by(|left, right| left.address.cmp(&right.address));
    Plan {
        scope: Scope::new("site", "dev"),
        actions,
        reads: Vec::new(),
        moves: Vec::new(),
        left_out: Vec::new(),
        outputs: Value::object::<&str>([]),
        recorded_outputs: Value::object::<&str>([]),
        warnings: Diagnostics::new(),
        read_set: Vec::new(),
    }
}

/// A plan in which everything happens.
#[expect(clippy::too_many_lines, reason = "a long list of one case each")]
fn everything() -> Plan {
    let secret = |text: &str| Value::from(text).into_secret();
    let unknown = || Value::unknown(Type::String);
    let page = "<html>\n<body>\n  <h1>Helo</h1>\n</body>\n</html>\n";
    let created = PlannedAction {
        inputs: Value::object([
            ("path", "out/robots.txt".into()),
            ("content", "User-agent: *\nDisallow:\n".into()),
            ("owner", unknown()),
            ("token", secret("hunter2")),
            ("rules", value!([{ port: 80, from: "0.0.0.0/0" }, { port: 443, from: "0.0.0.0/0" }])),
        ]),
        ..action("std_file.robots", Action::Create, &[Reason::New])
    };
    let updated = PlannedAction {
        prior_outputs: value!({ sha256: "9f2c", path: "index.html" }),
        outputs: Value::object([("sha256", unknown()), ("path", "index.html".into())]),
        ..changing(
            "std_file.index",
            Action::Update,
            &Value::object([("content", page.into()), ("path", "index.html".into()), ("token", secret("a"))]),
            &Value::object([
                ("content", page.replace("Helo", "Hello").into()),
                ("path", "index.html".into()),
                ("token", secret("b")),
            ]),
        )
    };
    let may_update = PlannedAction {
        dependencies: vec![address("std_file.index")],
        reasons: vec![Reason::OutputUnknown],
        ..changing(
            "std_exec.publish",
            Action::MayUpdate,
            &value!({ stdin: "9f2c" }),
            &Value::object([("stdin", unknown())]),
        )
    };
    let replaced = PlannedAction {
        replace_paths: vec!["encoding".parse().unwrap()],
        replace_order: Some(ReplaceOrder::DeleteFirst),
        ..changing(
            "pg_database.main",
            Action::Replace,
            &value!({ encoding: "LATIN1" }),
            &value!({ encoding: "UTF8" }),
        )
    };
    let follows = PlannedAction {
        dependencies: vec![address("pg_database.main")],
        replace_order: Some(ReplaceOrder::CreateFirst),
        ..action("pg_schema.app", Action::Replace, &[Reason::UpstreamReplaced])
    };
    let may_replace = PlannedAction {
        replace_paths: vec!["database".parse().unwrap()],
        dependencies: vec![address("pg_database.main")],
        ..changing(
            "pg_role.app",
            Action::MayReplace,
            &value!({ database: "main" }),
            &Value::object([("database", unknown())]),
        )
    };
    let drift = |path: &str, before: &str, after: &str| Change {
        path: path.parse().unwrap(),
        before: Some(before.into()),
        after: Some(after.into()),
        certain: true,
    };
    let drifted = PlannedAction {
        drift: vec![drift("mode", "0644", "0600")],
        ..action("std_file.banner", Action::Update, &[Reason::Drift])
    };
    let gone = PlannedAction {
        inputs: value!({ path: "gone.txt" }),
        ..action("std_file.gone", Action::Create, &[Reason::Gone])
    };
    let cleaned = PlannedAction {
        deposed: vec![GenerationNumber(0), GenerationNumber(1)],
        ..action("std_file.twice", Action::NoOp, &[Reason::CleanUp])
    };
    let mut plan = plan(vec![
        action("std_file.keep[10]", Action::NoOp, &[]),
        action("std_file.keep[9]", Action::NoOp, &[]),
        action("module.net[\"eu\"].std_file.keep", Action::NoOp, &[]),
        created,
        updated,
        may_update,
        replaced,
        follows,
        may_replace,
        drifted,
        gone,
        cleaned,
        action("std_file.old", Action::Delete, &[Reason::Undeclared]),
        action("std_file.kept", Action::Forget, &[Reason::Undeclared]),
        action("data.std_http.status", Action::Read, &[Reason::OutputUnknown]),
        PlannedAction {
            inputs: value!({ cidr: "10.0.0.0/16", name: "eu" }),
            ..action("module.net[\"eu\"].awsn_vpc.main_network_of_the_region", Action::Create, &[Reason::New])
        },
        changing(
            "module.net[\"eu\"].awsn_subnet.r10",
            Action::Update,
            &value!({ size: 1 }),
            &value!({ size: 2 }),
        ),
        changing(
            "module.net[\"eu\"].awsn_subnet.r2",
            Action::Update,
            &value!({ size: 1 }),
            &value!({ size: 2 }),
        ),
    ]);
    let id = RecordId::from_bytes([0; 16]);
    plan.moves.push(PlannedMove { id, from: address("std_file.a"), to: address("std_file.index") });
    plan.left_out = ["std_file.x10", "std_file.x2", "std_file.x1", "std_file.x3"].map(address).into();
    plan
}

pub(super) fn rendered(plan: &Plan, look: Look, shown: Shown) -> String {
    let text = render_plan(plan, PlanView::new(look, shown));
    assert!(!text.contains("hunter2"), "a secret is shown:\n{text}");
    if !shown.whole && !look.whole {
        for line in text.lines() {
            assert!(width(line) <= look.columns, "wider than {}: {line}", look.columns);
        }
    }
    text
}

/// OUTPUT-1: a colour that is cut through would stand on the screen as its bytes.
#[test]
fn no_colour_is_cut_through() {
    let items = || Value::list((0..40).map(|at| Value::from(format!("item {at}"))));
    let created = PlannedAction {
        inputs: Value::object([("items", items()), ("later", Value::unknown(Type::String))]),
        ..action("std_file.a", Action::Create, &[Reason::New])
    };
    let mut plan = plan(vec![created]);
    plan.outputs = Value::object([("items", items())]);
    for columns in 60..=100 {
        let look = Look { colour: true, columns, ..Look::PLAIN };
        let text = render_plan(&plan, PlanView::new(look, Shown::CHANGES));
        // Each colour begins and ends.
        let torn = text.lines().find(|line| line.matches('\u{1b}').count() % 2 == 1);
        assert_eq!(torn, None, "{columns} columns");
        assert_eq!(text.matches("more lines (--full shows them)").count(), 2, "{text}");
    }
}

/// OUTPUT-7: an output is compared part by part, as inputs are.
#[test]
fn an_output_shows_what_changes_in_it() {
    let policy = |actions: Value| value!({ Statement: [{ Action: actions, Effect: "Allow" }], Version: "1" });
    let mut plan = plan(Vec::new());
    plan.recorded_outputs =
        Value::object([("gone", 1.into()), ("policy", policy(value!(["read"]))), ("text", "a".into())]);
    plan.outputs = Value::object([
        ("policy", policy(value!(["read", "write"]))),
        ("text", "b".into()),
        ("wholly", 1.into()),
    ]);
    let text = rendered(&plan, Look::PLAIN, Shown::CHANGES);
    assert!(text.contains("policy.Statement[0].Action") && !text.contains("Effect"), "{text}");
    assert!(text.contains("\"a\" → \"b\"") && text.contains("gone") && text.contains("wholly"), "{text}");
}

/// PLAN-18, PLAN-19, SECRET-1
#[test]
fn every_action_is_shown_with_its_fields_and_reasons() {
    insta::assert_snapshot!(rendered(&everything(), Look::PLAIN, Shown::CHANGES));
}

/// UNKNOWN-14
#[test]
fn a_plan_says_that_a_provider_may_be_configured_for_another_place() {
    let moved = PlannedAction {
        replace_order: Some(ReplaceOrder::CreateFirst),
        ..action("std_file.x", Action::MayReplace, &[Reason::ProviderUnknown])
    };
    let text = rendered(&plan(vec![moved]), Look::PLAIN, Shown::BRIEF);
    assert!(text.contains("create first: its provider's configuration is not known yet"), "{text}");
}

#[test]
fn a_plan_reads_without_utf8() {
    let text = rendered(&everything(), Look { unicode: false, ..Look::PLAIN }, Shown::CHANGES);
    assert!(text.is_ascii());
    insta::assert_snapshot!(text);
}

#[test]
fn a_plan_fits_a_narrow_terminal() {
    insta::assert_snapshot!(rendered(&everything(), Look { columns: 50, ..Look::PLAIN }, Shown::CHANGES));
}

#[test]
fn a_full_plan_shows_unchanged_fields_too() {
    insta::assert_snapshot!(rendered(
        &everything(),
        Look::PLAIN,
        Shown { unchanged: true, whole: true, ..Shown::CHANGES }
    ));
}

#[test]
fn a_brief_plan_shows_no_fields() {
    insta::assert_snapshot!(rendered(&everything(), Look::PLAIN, Shown::BRIEF));
}

#[test]
fn colours_only_repeat_what_is_said() {
    let coloured =
        render_plan(&everything(), PlanView::new(Look { colour: true, ..Look::PLAIN }, Shown::CHANGES));
    let mut plain = String::new();
    let mut chars = coloured.chars();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' => while chars.next().is_some_and(|char| char != 'm') {},
            other => plain.push(other),
        }
    }
    assert_eq!(plain, rendered(&everything(), Look::PLAIN, Shown::CHANGES));
    assert_ne!(coloured, plain);
}

#[test]
fn many_unchanged_are_folded_and_few_are_named() {
    let unchanged = |count: usize| {
        let actions = (1..=count).map(|at| action(&format!("x_y.r{at}"), Action::NoOp, &[])).collect();
        rendered(&plan(actions), Look::PLAIN, Shown::CHANGES)
    };
    assert_eq!(unchanged(2), "  •  x_y.r1\n  •  x_y.r2\n\nNo changes");
    assert_eq!(unchanged(10), "  • 10 unchanged\n\nNo changes");
    assert_eq!(unchanged(0), "No changes");
}

#[test]
fn long_texts_and_values_are_cut() {
    let long = |at: usize| (at..at + 60).map(|line| format!("line {line}\n")).collect::<String>();
    let before = Value::object([("text", long(0).into()), ("one", "x".repeat(200).into())]);
    let after = Value::object([("text", long(40).into()), ("one", "y".repeat(200).into())]);
    let plan = plan(vec![changing("x_y.z", Action::Update, &before, &after)]);
    insta::assert_snapshot!(rendered(&plan, Look::PLAIN, Shown::CHANGES));
}

/// Each reason by its name. The match makes sure that none is missing.
fn reasons() -> Vec<(Reason, &'static str)> {
    use Reason::*;
    let named = |reason: Reason| {
        let name = match reason {
            New => "new",
            Inputs => "inputs",
            Bindings => "bindings",
            Drift => "drift",
            Gone => "gone",
            Forced => "forced",
            Adopted => "adopted",
            Recovered => "recovered",
            Tainted => "tainted",
            Triggered => "triggered",
            UpstreamReplaced => "upstream-replaced",
            OutputUnknown => "output-unknown",
            Migrated => "migrated",
            Moved => "moved",
            Undeclared => "undeclared",
            Destroyed => "destroyed",
            ProviderChanged => "provider-changed",
            ProviderUnknown => "provider-unknown",
            SameIdentity => "same-identity",
            CleanUp => "clean-up",
        };
        (reason, name)
    };
    let all = [
        New,
        Inputs,
        Bindings,
        Drift,
        Gone,
        Forced,
        Adopted,
        Recovered,
        Tainted,
        Triggered,
        UpstreamReplaced,
        OutputUnknown,
        Migrated,
        Moved,
        Undeclared,
        Destroyed,
        ProviderChanged,
        ProviderUnknown,
        SameIdentity,
        CleanUp,
    ];
    all.map(named).into()
}

/// PLAN-19: the JSON names every reason, in order.
#[test]
fn the_json_of_a_plan_names_every_reason() {
    for (reason, name) in reasons() {
        let both = action("std_file.a", Action::Update, &[Reason::Inputs, reason]);
        let json = plan_json(&plan(vec![both]), &SourceMap::new());
        assert_eq!(json["actions"][0]["reasons"], serde_json::json!(["inputs", name]));
    }
}

/// PLAN-19: a replacement never goes without its reason.
#[test]
fn a_plan_says_why_something_is_replaced() {
    let replaced = |reason: Reason| PlannedAction {
        replace_order: Some(ReplaceOrder::CreateFirst),
        ..action("std_file.a", Action::Replace, &[reason])
    };
    let told = |reason: Reason| rendered(&plan(vec![replaced(reason)]), Look::PLAIN, Shown::BRIEF);
    let triggered = told(Reason::Triggered);
    assert!(triggered.contains("create first: `replace_triggered_by` changes"), "{triggered}");
    let same = told(Reason::SameIdentity);
    assert!(same.contains("create first: both would have the same identity"), "{same}");
}

/// An input that goes, of a type that has an output of that name.
#[test]
fn what_changes_in_a_replacement_is_told_once() {
    let gone = changing("pg_role.a", Action::Replace, &value!({ label: "x" }), &value!({}));
    let (prior_outputs, outputs) = (value!({ label: "x" }), Value::unknown(Type::Any));
    let outputs = Value::object([("label", outputs)]);
    let text =
        rendered(&plan(vec![PlannedAction { prior_outputs, outputs, ..gone }]), Look::PLAIN, Shown::CHANGES);
    assert_eq!(text.matches("label ").count(), 1, "{text}");
}

/// DRIFT-4: what was not looked at says so.
#[test]
fn the_json_of_a_plan_says_whose_drift_goes_unseen() {
    let unreadable = PlannedAction { unreadable: true, ..action("std_exec.b", Action::NoOp, &[]) };
    let json = plan_json(&plan(vec![action("std_file.a", Action::NoOp, &[]), unreadable]), &SourceMap::new());
    let checked = |at: usize| json["actions"][at]["drift_checked"].as_bool();
    // In the order of addresses.
    assert_eq!((checked(0), checked(1)), (Some(false), Some(true)));
}

/// SECRET-1
#[test]
fn the_json_of_a_plan_has_a_version_and_no_secrets() {
    let text = plan_json(&everything(), &SourceMap::new()).to_string();
    assert!(text.contains("\"version\":2") && !text.contains("hunter2"), "{text}");
}
