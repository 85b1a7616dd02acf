//! How runs end, as it is shown.

use std::time::Duration;

use trueup_core::{Address, Diagnostics, Failure, FailureClass, SourceMap, Value};
use trueup_engine::{Action, Outcome, Plan, RunKind, RunReport};
use trueup_program::{Place, Program, ResourceDeclaration};
use trueup_state::{Scope, StoreError};

use super::{Next, RunView, render_run};
use crate::ui::Look;

fn address(text: &str) -> Address {
    text.parse().unwrap()
}

fn report(outcomes: Vec<(&str, Outcome)>) -> RunReport {
    let plan = Plan {
        scope: Scope::new("site", "dev"),
        actions: Vec::new(),
        reads: Vec::new(),
        moves: Vec::new(),
        left_out: Vec::new(),
        outputs: Value::NULL,
        recorded_outputs: Value::NULL,
        warnings: Diagnostics::new(),
        read_set: Vec::new(),
    };
    RunReport {
        unresolved: Vec::new(),
        cleaned_up: 0,
        run: "0123456789abcdef".to_owned(),
        plan,
        outcomes: outcomes.into_iter().map(|(of, outcome)| (address(of), outcome)).collect(),
        store_failure: None,
        outputs: None,
        warnings: Vec::new(),
        unreleased: None,
    }
}

/// A program in which `awsn_sqs_queue.jobs` stands on the third line.
fn program() -> Program {
    let text = "# jobs\n\nresource \"awsn_sqs_queue\" \"jobs\" {\n}\n";
    let mut sources = SourceMap::new();
    let file = sources.add("main.tf", text);
    let origin = trueup_core::Origin { file, start: 8, end: 40 };
    let declared = ResourceDeclaration::new(address("awsn_sqs_queue.jobs"), Value::NULL.into());
    let declared = ResourceDeclaration { place: Some(Place::Source(origin)), ..declared };
    Program { stack: "site".into(), resources: vec![declared], sources, ..Program::default() }
}

fn rendered(report: &RunReport, look: Look, interrupted: bool) -> String {
    let took = Duration::from_millis(18_200);
    let next = Next::Run("trueup deploy --stage dev".to_owned());
    render_run(
        report,
        &RunView {
            look,
            kind: RunKind::Deploy,
            took,
            interrupted,
            name: "trueup",
            next: &next,
            program: &program(),
        },
    )
}

fn failed() -> RunReport {
    let denied =
        Failure::new(FailureClass::Denied, "not authorized to perform sqs:CreateQueue (AccessDenied)")
            .hint("give the profile `dev` sqs:CreateQueue");
    let fatal = Failure::new(FailureClass::Fatal, "no space left on device");
    report(vec![
        ("awsn_lambda_function.w10", Outcome::Skipped(address("awsn_sqs_queue.jobs"))),
        ("awsn_lambda_function.w2", Outcome::Skipped(address("awsn_sqs_queue.jobs"))),
        ("awsn_sqs_queue.jobs", denied.into()),
        ("std_file.a", fatal.into()),
        ("std_file.b", Outcome::Done(Action::Create)),
    ])
}

/// APPLY-4
#[test]
fn a_failed_run_tells_each_failure_and_what_to_run_next() {
    insta::assert_snapshot!(rendered(&failed(), Look::PLAIN, false));
}

#[test]
fn a_failed_run_reads_without_utf8() {
    let text = rendered(&failed(), Look { unicode: false, ..Look::PLAIN }, false);
    assert!(text.is_ascii(), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_run_that_succeeded_says_what_was_done() {
    let done = |of, action| (of, Outcome::Done(action));
    let report = report(vec![
        done("x_y.a", Action::Create),
        done("x_y.b", Action::Update),
        done("x_y.c", Action::Replace),
        done("x_y.d", Action::Delete),
        done("x_y.e", Action::NoOp),
    ]);
    let told = "Deployed site to dev in 18 s: 1 created, 1 updated, 1 replaced, 1 deleted,\n  1 unchanged";
    assert_eq!(rendered(&report, Look::PLAIN, false), told);
}

/// APPLY-11
#[test]
fn an_interrupted_run_says_what_was_left() {
    let report = report(vec![("x_y.a", Outcome::Done(Action::Create)), ("x_y.b", Outcome::NotStarted)]);
    let told = "Stopped after 18 s: 1 not started, 1 done and recorded (run 0123456789ab)\n\
                Running again is safe: trueup deploy --stage dev";
    assert_eq!(rendered(&report, Look::PLAIN, true), told);
}

/// STATE-16
#[test]
fn a_state_that_was_taken_away_is_told_with_what_it_recorded() {
    let (location, what) =
        ("/srv/.trueup/state.db".to_owned(), "/srv/.trueup was removed or renamed".to_owned());
    let copy = Ok("/srv/state.db.rescued-4711".to_owned());
    let error = StoreError::TakenAway { location, what, copy };
    let fatal = Failure::new(FailureClass::Fatal, error.to_string());
    let outcomes = vec![
        ("x_y.a", Outcome::Done(Action::Create)),
        ("x_y.b", fatal.into()),
        ("x_y.c", Outcome::Done(Action::NoOp)),
        ("x_y.d", Outcome::NotStarted),
    ];
    let report = RunReport { store_failure: Some(error), ..report(outcomes) };
    insta::assert_snapshot!(rendered(&report, Look::PLAIN, false));
}

#[test]
fn a_store_that_failed_is_told() {
    let report = RunReport { store_failure: Some(StoreError::Superseded), ..report(Vec::new()) };
    insta::assert_snapshot!(rendered(&report, Look::PLAIN, false));
}
