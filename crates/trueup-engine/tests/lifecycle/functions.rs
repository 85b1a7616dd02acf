//! Functions of providers, which expressions call: the run goes on while they compute, and they end in time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use trueup_core::{Diagnostic, Diagnostics, Type, Value};
use trueup_engine::{Outcome, RunReport};
use trueup_program::{
    Computed, Evaluated, Expression, FunctionCall, Node, Program, Reference, ResourceDeclaration, Scope,
};

use crate::lifecycle::scripted::{Mishap, TIMEOUT, impatient_bench as bench};
use crate::lifecycle::world::{Bench, address, lit, output, program, resource, thing, with_output};

/// A call of `h`'s function, as a front end evaluates it.
struct Next {
    of: Expression,
    references: Vec<Reference>,
    /// Makes the argument another one in each evaluation.
    chance: Option<AtomicU64>,
    /// Whether the value is a condition that must not hold: a mistake as soon as it is known.
    is_refused: bool,
}

impl Next {
    fn of(of: Expression) -> Self {
        let references = of.references().into_iter().cloned().collect();
        Next { of, references, chance: None, is_refused: false }
    }

    fn expression(self) -> Expression {
        Expression::new(Node::Computed(Arc::new(self)))
    }
}

impl Computed for Next {
    fn references(&self) -> &[Reference] {
        &self.references
    }

    fn evaluate(&self, scope: &dyn Scope) -> Evaluated {
        let Evaluated { value, mut diagnostics } = self.of.evaluate(scope);
        let unknown = |diagnostics| Evaluated { value: Value::unknown(Type::Number), diagnostics };
        if !value.is_wholly_known() {
            return unknown(diagnostics);
        }
        // The outputs of things are texts; what they say makes no difference here.
        let number = if value.as_number().is_some() { value } else { Value::from(1) };
        let chance = self.chance.as_ref().map(|chance| Value::from(chance.fetch_add(1, Ordering::Relaxed)));
        let arguments = vec![chance.unwrap_or(number)];
        let call = FunctionCall { provider: "h".into(), function: "next".into(), arguments };
        match scope.answer(&call) {
            None => unknown(diagnostics),
            Some(Ok(_)) if self.is_refused => {
                diagnostics.push(Diagnostic::error("the condition does not hold"));
                Evaluated { value: Value::NULL, diagnostics }
            }
            Some(Ok(value)) => Evaluated { value, diagnostics },
            Some(Err(why)) => {
                Evaluated { value: Value::NULL, diagnostics: Diagnostics::from(Diagnostic::error(why)) }
            }
        }
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "next({:?})", self.of)
    }
}

fn sized(name: &str, size: Expression) -> ResourceDeclaration {
    resource(&format!("h_thing.{name}"), [("size", size)])
}

/// Beside one whose size follows from what only apply knows, one that takes a while, and one that depends on that.
fn beside_others() -> Program {
    let late = Next::of(output("w_thing.first", "url")).expression();
    let mut after = thing("after", 1);
    after.depends_on = vec![address("h_thing.slow")];
    program([thing("first", 1), sized("a", late), sized("slow", lit(1)), after])
}

/// How its deploy ends, and after how long.
fn deployed_in(bench: &Bench) -> (RunReport, Duration) {
    let before = bench.now();
    let report = bench.deploy(&beside_others());
    (report, bench.now().duration_since(before).unwrap())
}

fn failure_of<'r>(report: &'r RunReport, of: &str) -> &'r str {
    match report.outcome(of) {
        Some(Outcome::Failed(failure)) => &failure.message,
        other => panic!("{other:?}"),
    }
}

/// UNKNOWN-15: in inputs, in an output, and nested; each call is made once for a plan and its execution.
#[test]
fn functions_are_answered_while_planning_and_while_applying() {
    let (bench, script) = bench();
    let nested = Next::of(Next::of(lit(4)).expression()).expression();
    let late = Next::of(output("w_thing.first", "url")).expression();
    let wanted = program([thing("first", 1), sized("a", nested.clone()), sized("b", late)]);
    let report = bench.deployed(&with_output(wanted, "nested", nested));
    assert_eq!(report.outputs.unwrap().get("nested"), Some(&Value::from(6)));
    assert_eq!(script.count("function"), 3);
    let size = |of: &str| bench.records()[of].current.as_ref().unwrap().inputs().unwrap().effective.clone();
    assert_eq!(size("a").get("size"), Some(&Value::from(6)));
    assert_eq!(size("b").get("size"), Some(&Value::from(2)));
}

/// UNKNOWN-15, APPLY-13, STATE-3: the lease is renewed, and what is under way comes to its end.
#[test]
fn a_function_that_hangs_while_applying_holds_up_nothing_else() {
    let (mut bench, script) = bench();
    bench.options.lease_term = TIMEOUT / 10;
    script.mishap("function", Mishap::Hang);
    script.mishap("create", Mishap::Wait(TIMEOUT / 2));
    let (report, took) = deployed_in(&bench);
    assert!(took >= TIMEOUT && took < TIMEOUT + Duration::from_secs(1), "{took:?}");
    assert!(failure_of(&report, "h_thing.a").contains("no answer within 30 s"), "{:?}", report.outcomes);
    assert!(report.store_failure.is_none(), "{:?}", report.store_failure);
    assert_eq!(bench.world.things(), ["after=1", "first=1"]);
    bench.deployed(&beside_others());
}

/// UNKNOWN-15, APPLY-11
#[test]
fn a_run_that_is_stopped_waits_for_no_function() {
    let (mut bench, script) = bench();
    script.mishap("function", Mishap::Hang);
    script.mishap("create", Mishap::Wait(TIMEOUT / 2));
    let cancellation = bench.cancellation.clone();
    bench.world.cloud().at_call("create after", move || cancellation.cancel());
    let (report, took) = deployed_in(&bench);
    assert!(took < TIMEOUT, "{took:?}");
    assert!(matches!(report.outcome("h_thing.a"), Some(Outcome::NotStarted)), "{:?}", report.outcomes);
    assert_eq!(bench.world.things(), ["after=1", "first=1"]);
    bench.cancellation = trueup_engine::Cancellation::new();
    bench.deployed(&beside_others());
}

/// UNKNOWN-15, APPLY-11: nor for that of an output, when all tasks are done.
#[test]
fn a_run_that_is_stopped_waits_for_no_function_of_an_output() {
    let (bench, script) = bench();
    script.mishap("function", Mishap::Stop(bench.cancellation.clone()));
    let late = Next::of(output("w_thing.first", "url")).expression();
    let before = bench.now();
    let report = bench.deploy(&with_output(program([thing("first", 1)]), "late", late));
    assert!(bench.now().duration_since(before).unwrap() < TIMEOUT);
    assert_eq!(report.outputs, None);
    assert_eq!(bench.world.things(), ["first=1"]);
}

/// UNKNOWN-15, APPLY-13, CRUD-12
#[test]
fn a_function_that_hangs_or_panics_while_planning_is_an_error_of_the_plan() {
    for (mishap, expected) in [(Mishap::Hang, "no answer within 30 s"), (Mishap::Panic, "panicked")] {
        let (bench, script) = bench();
        let both = [lit(1), lit(2)].map(|argument| Next::of(argument).expression());
        let [a, b] = both;
        let wanted = program([sized("a", a), sized("b", b)]);
        script.mishap("function", mishap.clone());
        script.mishap("function", mishap);
        let before = bench.now();
        let told = bench.refused(&wanted);
        assert_eq!(told.matches(expected).count(), 2, "{told}");
        assert!(bench.now().duration_since(before).unwrap() <= TIMEOUT, "they are waited for together");
        bench.deployed(&wanted);
    }
}

/// UNKNOWN-15: a postcondition that needs an answer is judged before dependents start.
#[test]
fn a_postcondition_waits_for_its_function() {
    let (bench, script) = bench();
    let refused = Next { is_refused: true, ..Next::of(output("w_thing.first", "url")) };
    let mut first = thing("first", 1);
    first.postconditions = vec![refused.expression()];
    let mut second = thing("second", 1);
    second.depends_on = vec![address("w_thing.first")];
    let report = bench.deploy(&program([first, second]));
    assert!(failure_of(&report, "w_thing.first").contains("the condition does not hold"));
    assert!(matches!(report.outcome("w_thing.second"), Some(Outcome::Skipped(_))), "{:?}", report.outcomes);
    assert_eq!(script.count("function"), 1);
    assert_eq!(bench.world.things(), ["first=1"]);
}

/// UNKNOWN-15: what chance makes never repeats, and evaluation ends all the same.
#[test]
fn arguments_that_differ_each_time_are_a_mistake() {
    let (bench, _) = bench();
    let endless = |of| Next { chance: Some(AtomicU64::new(0)), ..Next::of(of) }.expression();
    let told = bench.refused(&program([sized("a", endless(lit(1)))]));
    assert!(told.contains("its arguments differ each time it is called"), "{told}");
    let late = endless(output("w_thing.first", "url"));
    let report = bench.deploy(&program([thing("first", 1), sized("a", late)]));
    let told = failure_of(&report, "h_thing.a");
    assert!(told.contains("its arguments differ each time it is called"), "{told}");
}
