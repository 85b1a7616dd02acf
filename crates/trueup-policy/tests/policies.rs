//! What policies say of plans, and of themselves when they are wrong.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use trueup_core::{Address, Type, Value, value};
use trueup_engine::{Action, Plan, PlannedAction};
use trueup_policy::Policies;
use trueup_state::Scope;

pub(crate) fn plan(stage: &str, actions: Vec<PlannedAction>) -> Plan {
    Plan {
        scope: Scope::new("shop", stage),
        actions,
        reads: Vec::new(),
        moves: Vec::new(),
        left_out: Vec::new(),
        outputs: Value::NULL,
        recorded_outputs: Value::NULL,
        warnings: trueup_core::Diagnostics::new(),
        read_set: Vec::new(),
    }
}

pub(crate) fn action(type_name: &str, name: &str, action: Action, inputs: Value) -> PlannedAction {
    PlannedAction {
        address: Address::resource(type_name, name).unwrap(),
        action,
        reasons: Vec::new(),
        changes: Vec::new(),
        drift: Vec::new(),
        drifted_inputs: Vec::new(),
        bindings: Vec::new(),
        replace_paths: Vec::new(),
        replace_order: None,
        inputs,
        outputs: Value::NULL,
        prior_inputs: Value::NULL,
        prior_outputs: Value::NULL,
        dependencies: Vec::new(),
        deposed: Vec::new(),
        unreadable: false,
        adopts_only: false,
    }
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/policies")
}

/// What the policies of a text say of a plan, a line each.
fn said(policies: &str, plan: &Plan) -> String {
    match read(policies) {
        Ok(policies) => told(&policies, plan),
        Err(wrong) => wrong,
    }
}

pub(crate) fn read(text: &str) -> Result<Policies, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.toml");
    std::fs::write(&file, text).unwrap();
    let mut policies = Policies::default();
    policies.read(&file).map_err(|wrong| wrong.what)?;
    Ok(policies)
}

fn told(policies: &Policies, plan: &Plan) -> String {
    let line = |it: &trueup_core::Diagnostic| {
        format!("{:?} {}: {}", it.severity, it.subject.as_deref().unwrap_or("plan"), it.summary)
    };
    policies.judge(plan).found.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn when(expression: &str, plan: &Plan) -> String {
    said(&format!("[[policy]]\nname = 'p'\nwhen = '''{expression}'''\nmessage = 'no'"), plan)
}

#[test]
fn the_examples_say_what_they_promise() {
    let mut policies = Policies::default();
    policies.read(&examples()).unwrap();
    assert_eq!(policies.len(), 4);
    let actions = || {
        vec![
            action("aws_s3_bucket", "tagged", Action::Create, value!({ tags: { team: "a" } })),
            action(
                "aws_s3_bucket",
                "later",
                Action::Create,
                value!({ tags: (Value::unknown(Type::map(Type::String))) }),
            ),
            action("aws_s3_bucket", "bare", Action::Create, value!({ tags: null })),
            action("aws_s3_bucket", "old", Action::Delete, Value::NULL),
            action("std_file", "open", Action::Create, value!({ mode: "0666" })),
            action("std_file", "same", Action::NoOp, value!({ mode: "0666" })),
        ]
    };
    insta::assert_snapshot!(told(&policies, &plan("prod-eu", actions())), @r"
    Warning std_file.open: policy `files-are-private`: anyone on this machine could write this file
    Error aws_s3_bucket.old: policy `no-deletes-in-prod`: production keeps what it has; to remove something, use a stage of its own or take this policy out for one run
    Error aws_s3_bucket.bare: policy `every-bucket-is-tagged`: a bucket says in its tags which team it belongs to
    ");
    insta::assert_snapshot!(told(&policies, &plan("dev", actions())), @r"
    Warning std_file.open: policy `files-are-private`: anyone on this machine could write this file
    Error aws_s3_bucket.bare: policy `every-bucket-is-tagged`: a bucket says in its tags which team it belongs to
    ");
}

#[test]
fn a_policy_of_the_plan_is_asked_once() {
    let plan =
        plan("dev", (0..30).map(|at| action("t", &format!("n{at}"), Action::Create, Value::NULL)).collect());
    insta::assert_snapshot!(when("plan.counts['create'] > 20", &plan), @"Error plan: policy `p`: no");
    insta::assert_snapshot!(when("plan.resources.all(it, it.type == 't') && plan.stack == 'shop'", &plan), @"Error plan: policy `p`: no");
}

/// A variable of a macro is not the variable that makes a policy one of resources.
#[test]
fn a_policy_that_shadows_resource_is_asked_once() {
    let plan =
        plan("dev", (0..3).map(|at| action("t", &format!("n{at}"), Action::Create, Value::NULL)).collect());
    insta::assert_snapshot!(when("plan.resources.exists(resource, resource.type == 't')", &plan), @"Error plan: policy `p`: no");
}

#[test]
fn many_objections_are_counted() {
    let plan = plan(
        "dev",
        (0..50).map(|at| action("t", &format!("n{at:02}"), Action::Create, Value::NULL)).collect(),
    );
    let said = when("resource.type == 't'", &plan);
    assert_eq!(said.lines().count(), 21, "{said}");
    assert!(said.ends_with("Error plan: policy `p`: 30 more resources like that"), "{said}");
}

#[test]
fn a_policy_that_cannot_be_evaluated_denies() {
    let plan = plan("dev", vec![action("t", "n", Action::Create, value!({ size: 3 }))]);
    insta::assert_snapshot!(when("resource.inputs.tags.team == 'a'", &plan), @"Error t.n: policy `p` cannot be evaluated: no such key: tags");
    insta::assert_snapshot!(when("resource.inputs.size", &plan), @"Error t.n: policy `p` cannot be evaluated: `when` is of type int, neither true nor false");
    insta::assert_snapshot!(said("[[policy]]\nname = 'p'\neffect = 'warn'\nwhen = 'resource.inputs.tags == 1'\nmessage = 'no'", &plan), @"Error t.n: policy `p` cannot be evaluated: no such key: tags");
}

#[test]
fn a_policy_that_cannot_be_evaluated_says_where() {
    let plan = plan("dev", vec![action("t", "n", Action::Create, value!({ size: 3 }))]);
    let policy = "[[policy]]\nname = 'p'\nwhen = \"\"\"\nresource.type == 't' &&\n  resource.inputs.tags.team == 'a'\"\"\"\nmessage = 'no'";
    let found = read(policy).unwrap().judge(&plan).found;
    let diagnostic = found.iter().next().unwrap();
    let (_, place) = diagnostic.detail.as_deref().unwrap().split_once("p.toml").unwrap();
    insta::assert_snapshot!(place, @r"
    , line 2, column 3 of `when`
      |
    2 |   resource.inputs.tags.team == 'a'
      |   ^^^^^^^^^^^^^^^^^^^^
    ");
    insta::assert_snapshot!(diagnostic.hints.join("\n"), @"test for it first, with `has(…)` or `in`");
}

#[test]
fn a_file_that_is_wrong_says_what_and_where() {
    let plan = plan("dev", Vec::new());
    insta::assert_snapshot!(when("resource.action == = 1", &plan), @r"
    `when` of policy `p`, line 1, column 20: unexpected character `=`
      |
    1 | resource.action == = 1
      |                    ^
    help: compare with `==`
    ");
    insta::assert_snapshot!(when("change.action == 'delete'", &plan), @r"
    `when` of policy `p`, line 1, column 1: unknown variable `change`
      |
    1 | change.action == 'delete'
      | ^^^^^^
    help: known variables: `plan`, `resource`
    ");
    insta::assert_snapshot!(said("[[policy]]\nname = 'p'\nwhenn = 'true'\nmessage = 'no'", &plan), @r"
    TOML parse error at line 3, column 1
      |
    3 | whenn = 'true'
      | ^^^^^
    unknown field `whenn`, expected one of `name`, `effect`, `when`, `message`
    ");
    let twice = said(
        "[[policy]]\nname = 'p'\nwhen = 'true'\nmessage = 'a'\n[[policy]]\nname = 'p'\nwhen = 'true'\nmessage = 'b'",
        &plan,
    );
    assert!(twice.starts_with("a policy `p` is already in "), "{twice}");
    let missing = Policies::default().read(Path::new("nowhere.toml")).unwrap_err();
    insta::assert_snapshot!(missing, @"nowhere.toml: No such file or directory (os error 2)");
}

proptest! {
    #[test]
    fn no_expression_panics(expression in "[a-z.()\\[\\]{}'\"0-9 +*/%<>=!&|?:,-]{0,60}") {
        when(&expression, &plan("dev", vec![action("t", "n", Action::Create, value!({ size: 3 }))]));
    }
}
