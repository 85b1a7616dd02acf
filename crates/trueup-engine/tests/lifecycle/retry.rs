//! RETRY: error classes and retries.

use std::cell::{Cell, RefCell};
use std::time::{Duration, SystemTime};

use trueup_core::{Failure, FailureClass, Value};
use trueup_engine::{Action, Cancellation, Outcome};
use trueup_program::{
    Expression, ImportDeclaration, Node, ProviderDeclaration, ResourceDeclaration, RetrySettings, Timeouts,
};
use trueup_provider::{
    Context, Crud, Error, Found, Inputs, NativeProvider, NoConfig, Outputs, Prior, Recovery, Registry,
    Result, Sightings, Traits,
};

use crate::lifecycle::scripted::{Mishap, Script, bench as scripted};
use crate::lifecycle::world::{Bench, address, lit, program, resource, thing};

/// RETRY-1, RETRY-2
#[test]
fn what_may_be_repeated_is_repeated_with_back_off() {
    let bench = Bench::new();
    for _ in 0..3 {
        bench.world.fail("create a", Failure::new(FailureClass::Retryable, "not yet"));
    }
    let before = bench.now();
    bench.deployed(&program([thing("a", 1)]));
    let waited = bench.now().duration_since(before).unwrap();
    assert!(waited >= Duration::from_secs(10) && waited <= Duration::from_secs(15), "{waited:?}");
    assert_eq!(bench.heard().iter().filter(|event| event.ends_with("retry a")).count(), 3);
}

/// RETRY-2: 2 s, 4 s, 8 s and so on, 30 s at most, each with up to a quarter taken off, by another share for each resource.
#[test]
fn back_off_doubles_up_to_its_maximum_with_jitter() {
    let waited = |name: &str| {
        let bench = Bench::new();
        (0..10).for_each(|_| {
            bench.world.fail(&format!("create {name}"), Failure::new(FailureClass::Retryable, "not yet"));
        });
        let before = bench.now();
        assert!(!bench.deploy(&program([thing(name, 1)])).succeeded());
        bench.now().duration_since(before).unwrap()
    };
    let full = Duration::from_secs(2 + 4 + 8 + 16 + 5 * 30);
    let (a, b) = (waited("a"), waited("b"));
    for waited in [a, b] {
        assert!(waited > full.mul_f64(0.75) && waited < full, "{waited:?} of {full:?}");
    }
    assert_ne!(a, b);
}

/// RETRY-2: what is pending is asked again for as long as its timeout allows, however often that is.
#[test]
fn pending_is_bounded_by_the_timeout_and_not_by_attempts() {
    let bench = Bench::new();
    let delay = Some(Duration::from_secs(1));
    for _ in 0..30 {
        let class = FailureClass::Pending { delay, context: Value::NULL };
        bench.world.fail("create a", Failure::new(class, "still at it"));
    }
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(bench.world.calls().iter().filter(|call| *call == "create a").count(), 31);
}

/// RETRY-2, RETRY-3
#[test]
fn attempts_are_bounded_and_the_last_failure_says_how_many() {
    let bench = Bench::new();
    for _ in 0..10 {
        bench.world.fail(
            "create a",
            Failure::new(FailureClass::Throttled { delay: Some(Duration::from_secs(1)) }, "slow down"),
        );
    }
    let report = bench.deploy(&program([thing("a", 1)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "slow down (10 attempts in 9.0 s)");
}

/// RETRY-3
#[test]
fn denied_and_invalid_fail_at_once() {
    for class in [FailureClass::Denied, FailureClass::Invalid] {
        let bench = Bench::new();
        bench.world.fail("create a", Failure::new(class, "no"));
        assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
        assert_eq!(bench.world.calls().iter().filter(|call| *call == "create a").count(), 1);
        assert!(bench.records().is_empty(), "nothing came of it");
    }
}

/// RETRY-1: what nobody may repeat is not repeated, and an unknown outcome keeps its intent.
#[test]
fn other_failures_are_never_repeated() {
    use FailureClass::{Conflict, Fatal, Indeterminate, NotFound};
    for class in [Conflict, Fatal, NotFound, Indeterminate] {
        let bench = Bench::new();
        bench.world.fail("create a", Failure::new(class.clone(), "no"));
        assert!(!bench.deploy(&program([thing("a", 1)])).succeeded());
        let creates = bench.world.calls().iter().filter(|call| *call == "create a").count();
        assert_eq!(creates, 1, "{class:?}");
        assert_eq!(bench.records().len(), usize::from(class == Indeterminate), "{class:?}");
    }
}

/// RETRY-6: the answer to an earlier create was lost; the next one finds its own object.
#[test]
fn a_create_that_finds_its_own_object_takes_it() {
    let bench = Bench::new();
    bench.world.fail("created a", Failure::new(FailureClass::AlreadyExists, "it is there"));
    bench.deployed(&program([thing("a", 1)]));
    assert_eq!(bench.world.things(), ["a=1"]);
    assert!(bench.plan(&program([thing("a", 1)])).ends_with("No changes"));
}

/// RETRY-6, ADOPT-4: what another record holds is never adopted, and the failure names it.
#[test]
fn a_create_that_finds_what_another_record_holds_fails_with_its_name() {
    let mut bench = Bench::new();
    // What is recorded alone does not exist, so it must not be looked at.
    bench.options.plan.drift = false;
    let made = Bench::in_world(bench.world.clone());
    made.deployed(&program([thing("b", 1)]));
    let object = made.records().remove("b").unwrap().current.unwrap().object.unwrap();
    // The next object that is made.
    let id = || Value::from(2);
    let (outputs, identity) = (object.outputs.with_entry("id", id()), Some(Value::object([("id", id())])));
    bench.record_by_hand("w_thing.b", trueup_provider::State { outputs, identity, ..object });
    bench.world.fail("hang up a", Failure::new(FailureClass::AlreadyExists, "it is there"));
    let report = bench.deploy(&program([thing("a", 1), thing("b", 1)]));
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.class, FailureClass::AlreadyExists);
    assert!(failure.message.contains("held by w_thing.b"), "{failure}");
    let hints = failure.hints.join(" ");
    assert!(hints.contains("`moved`") && hints.contains("`delete_first`"), "{hints}");
}

/// RETRY-2: each operation of a resource may have a timeout of its own.
#[test]
fn a_timeout_counts_for_its_own_operation() {
    let bench = Bench::new();
    let hang = || Failure::new(FailureClass::Fatal, "whatever");
    let mut declared = thing("a", 1);
    let timeouts = Timeouts { create: Some(Duration::from_secs(7)), ..Timeouts::default() };
    declared.options.timeouts = Some(Box::new(timeouts));
    bench.world.fail("hang a", hang());
    let before = bench.now();
    let report = bench.deploy(&program([declared, thing("b", 1)]));
    assert_eq!(bench.now().duration_since(before).unwrap().as_secs(), 7);
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "no answer within 7 s");
    assert_eq!(report.outcome("w_thing.b"), Some(&Outcome::Done(Action::Create)));
}

/// How long a new object stays out of sight.
const LATE: Duration = Duration::from_secs(10);

thread_local! {
    /// When objects were made.
    static MADE: RefCell<Vec<SystemTime>> = const { RefCell::new(Vec::new()) };
    /// What the next create fails with, after it has made its object.
    static REFUSAL: Cell<Option<Failure>> = const { Cell::new(None) };
    /// Whether nobody may look.
    static DENYING: Cell<bool> = const { Cell::new(false) };
}

#[derive(Outputs)]
struct Made {
    #[trueup(identity)]
    id: u64,
}

/// A type whose creates may have an effect and fail all the same. New objects come into sight late.
#[derive(Inputs)]
struct Moody {}

impl Crud for Moody {
    type Output = Made;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { consistency_window: LATE, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context) -> Result<Made> {
        let id = MADE.with_borrow_mut(|made| {
            made.push(context.clock.now());
            made.len() as u64
        });
        REFUSAL.take().map_or(Ok(Made { id }), |failure| Err(failure.into()))
    }

    async fn read(&self, _: &Context, prior: &Made) -> Result<Made> {
        Ok(Made { id: prior.id })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<Made> {
        Ok(Made { id: prior.outputs.id })
    }

    async fn delete(&self, _: &Context, _: &Made) -> Result<()> {
        MADE.with_borrow_mut(Vec::clear);
        Ok(())
    }

    async fn lookup(&self, context: &Context) -> Result<Sightings<Found<Self, Made>>> {
        // Until a create was called, looking is part of planning.
        if DENYING.get() && !MADE.with_borrow(Vec::is_empty) {
            return Err(Error::denied("not now"));
        }
        let now = context.clock.now();
        let seen = MADE.with_borrow(|made| made.iter().any(|at| *at + LATE <= now));
        Ok(match seen {
            true => Sightings::owned(Found { inputs: Moody {}, outputs: Made { id: 1 } }),
            false => Sightings::absent(),
        })
    }
}

fn moody() -> Bench {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("x").crud::<Moody>("moody"));
    bench
}

/// RETRY-7: whatever a failed attempt says of itself, its object is looked for before the create is repeated.
#[test]
fn a_create_is_repeated_only_after_its_object_was_looked_for() {
    for class in [FailureClass::Retryable, FailureClass::Throttled { delay: None }] {
        let bench = moody();
        MADE.with_borrow_mut(Vec::clear);
        REFUSAL.set(Some(Failure::new(class, "busy")));
        bench.deployed(&program([resource("x_moody.a", [])]));
        assert_eq!(MADE.with_borrow(Vec::len), 1);
        assert!(bench.plan(&program([resource("x_moody.a", [])])).ends_with("No changes"));
    }
}

/// RETRY-7: if it cannot be looked for, the intent stays for the next run.
#[test]
fn a_create_whose_object_cannot_be_looked_for_is_not_repeated() {
    let bench = moody();
    let declared = program([resource("x_moody.a", [])]);
    REFUSAL.set(Some(Failure::new(FailureClass::Retryable, "busy")));
    DENYING.set(true);
    let report = bench.deploy(&declared);
    let Some(Outcome::Failed(failure)) = report.outcome("x_moody.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "busy; looking for its object failed: not now");
    DENYING.set(false);
    bench.deployed(&declared);
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

/// RETRY-8: what the last attempt says of itself, it does not say of those before it.
#[test]
fn a_create_that_was_repeated_by_its_token_stays_open_until_it_succeeds() {
    for class in [FailureClass::Retryable, FailureClass::Throttled { delay: None }] {
        let bench = Bench::new();
        let declared = program([resource("w_token.a", [])]);
        bench.world.fail("hang up a", Failure::new(class, "busy"));
        bench.world.fail("create a", Failure::new(FailureClass::Denied, "not allowed"));
        // The second is for the second attempt.
        bench.world.cloud().let_pass("create a", 1);
        assert!(!bench.deploy(&declared).succeeded());
        assert_eq!(bench.world.things(), ["a=1"]);
        assert!(bench.records()["a"].current.as_ref().unwrap().is_interrupted());
        bench.deployed(&declared);
        assert_eq!(bench.world.things(), ["a=1"]);
    }
}

/// RETRY-6: a create that is told that its object exists, and cannot see whose that is, stays open: it may be its own.
#[test]
fn a_create_whose_place_is_taken_stays_open_while_nobody_can_look() {
    let bench = moody();
    MADE.with_borrow_mut(Vec::clear);
    let declared = program([resource("x_moody.a", [])]);
    REFUSAL.set(Some(Failure::new(FailureClass::AlreadyExists, "it is there")));
    DENYING.set(true);
    assert!(!bench.deploy(&declared).succeeded());
    assert!(bench.records()["a"].current.as_ref().unwrap().is_interrupted());
    DENYING.set(false);
    bench.deployed(&declared);
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

/// Cancels the run while it is created, and is not ready yet.
#[derive(Inputs)]
struct Stopping {
    #[trueup(inject)]
    cancellation: Cancellation,
}

#[derive(Outputs)]
struct StoppingOutput {}

impl Crud for Stopping {
    type Output = StoppingOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context<NoConfig>) -> Result<StoppingOutput> {
        self.cancellation.finish();
        Err(Error::retryable("not yet"))
    }

    async fn read(&self, _: &Context<NoConfig>, _: &StoppingOutput) -> Result<StoppingOutput> {
        Err(Error::not_found("it was never made"))
    }

    async fn update(&self, _: &Context<NoConfig>, _: &Prior<Self>) -> Result<StoppingOutput> {
        Ok(StoppingOutput {})
    }

    async fn delete(&self, _: &Context<NoConfig>, _: &StoppingOutput) -> Result<()> {
        Ok(())
    }
}

/// APPLY-11, RETRY-1: another attempt is not under way yet.
#[test]
fn a_cancelled_run_makes_no_further_attempt() {
    let mut bench = Bench::new();
    let cancellation = bench.cancellation.clone();
    let provider = NativeProvider::new("o").crud_with::<Stopping>("stopping", move || cancellation.clone());
    bench.others = Registry::new().with(provider);
    let before = bench.now();
    let report = bench.deploy(&program([resource("o_stopping.a", [])]));
    let Some(Outcome::Failed(failure)) = report.outcome("o_stopping.a") else {
        panic!("{:?}", report.outcomes)
    };
    assert_eq!(failure.message, "not yet (not tried again: the run was stopped)");
    assert_eq!(bench.now(), before, "it does not wait");
    let retries: Vec<String> = bench.heard().into_iter().filter(|it| it.contains("retry")).collect();
    assert!(retries.is_empty(), "no attempt is announced that is not made: {retries:?}");
    assert!(bench.records().is_empty(), "nothing came of it");
}

/// A type whose create has a run stopped twice and never answers.
#[derive(Inputs)]
struct Endless {
    #[trueup(inject)]
    cancellation: Cancellation,
}

impl Crud for Endless {
    type Output = StoppingOutput;
    type Config = NoConfig;

    async fn create(&self, _: &Context<NoConfig>) -> Result<StoppingOutput> {
        self.cancellation.cancel();
        self.cancellation.cancel();
        std::future::pending().await
    }

    async fn read(&self, _: &Context<NoConfig>, _: &StoppingOutput) -> Result<StoppingOutput> {
        Ok(StoppingOutput {})
    }

    async fn update(&self, _: &Context<NoConfig>, _: &Prior<Self>) -> Result<StoppingOutput> {
        Ok(StoppingOutput {})
    }

    async fn delete(&self, _: &Context<NoConfig>, _: &StoppingOutput) -> Result<()> {
        Ok(())
    }
}

/// APPLY-11, CRASH-1: what nobody waited for was reported as not started. Nothing can find it, and the report says so.
#[test]
fn a_run_that_stops_waiting_says_what_it_left_in_flight() {
    let mut bench = Bench::new();
    let cancellation = bench.cancellation.clone();
    let provider = NativeProvider::new("o").crud_with::<Endless>("endless", move || cancellation.clone());
    bench.others = Registry::new().with(provider);
    let mut later = thing("b", 1);
    later.depends_on = vec![address("o_endless.a")];
    let report = bench.deploy(&program([resource("o_endless.a", []), later]));
    assert_eq!(report.outcome("o_endless.a"), Some(&Outcome::InFlight));
    assert_eq!(report.outcome("w_thing.b"), Some(&Outcome::NotStarted));
    let [(unresolved, advice)] = &report.unresolved[..] else { panic!("{:?}", report.unresolved) };
    assert_eq!(*unresolved, address("o_endless.a"));
    assert!(advice.contains("`trueup state resolve o_endless.a --absent`"), "{advice}");
}

/// A bench with one thing that is made with a token, and its script.
fn scripted_by_token() -> (Bench, Script) {
    let (bench, script) = scripted();
    script.find_by_token();
    (bench, script)
}

fn one_scripted(size: u64) -> trueup_program::Program {
    program([resource("h_thing.a", [("size", lit(size))])])
}

fn never_sent() -> Mishap {
    Mishap::Fail(Failure::new(FailureClass::Retryable, "connection refused").unsent())
}

fn lost() -> Mishap {
    Mishap::Fail(Failure::new(FailureClass::Retryable, "no answer"))
}

/// RETRY-9
#[test]
fn what_was_never_sent_leaves_nothing_to_recover() {
    let (mut bench, script) = scripted_by_token();
    (bench.options.plan.retry.attempts_max, bench.options.plan.drift) = (Some(2), false);
    let status = |bench: &Bench| bench.records()["a"].current.as_ref().unwrap().status.clone();
    (0..2).for_each(|_| script.mishap("create", never_sent()));
    assert!(!bench.deploy(&one_scripted(1)).succeeded());
    assert!(bench.records().is_empty(), "no create has an unknown outcome");
    bench.deployed(&one_scripted(1));
    (0..2).for_each(|_| script.mishap("update", never_sent()));
    assert!(!bench.deploy(&one_scripted(2)).succeeded());
    assert_eq!(status(&bench), trueup_state::Status::Ready, "it is as it was");
    assert!(bench.plan(&one_scripted(1)).ends_with("No changes"));
    (0..2).for_each(|_| script.mishap("delete", never_sent()));
    assert!(!bench.destroy().succeeded());
    assert_eq!(status(&bench), trueup_state::Status::Ready, "nothing was deleted");
    assert!(bench.plan(&one_scripted(1)).ends_with("No changes"));
}

/// RETRY-8, RETRY-9: one attempt that was sent is enough, whichever it was.
#[test]
fn an_attempt_that_was_sent_keeps_the_intent() {
    for mishaps in [[lost(), never_sent()], [never_sent(), lost()]] {
        let (mut bench, script) = scripted_by_token();
        bench.options.plan.retry.attempts_max = Some(2);
        mishaps.into_iter().for_each(|mishap| script.mishap("create", mishap));
        assert!(!bench.deploy(&one_scripted(1)).succeeded());
        let record = bench.records().remove("a").unwrap();
        assert!(record.current.unwrap().attempt().is_some(), "it may have been made");
    }
}

/// APPLY-11, RETRY-7: a run that is stopped while it looks for the object of a failed attempt makes no other attempt.
#[test]
fn a_run_that_is_stopped_while_it_looks_does_not_create_again() {
    let (bench, script) = scripted();
    script.mishap("create", lost());
    // The plan looks first.
    (0..2).for_each(|_| script.mishap("lookup", Mishap::Pass));
    script.mishap("lookup", Mishap::Stop(bench.cancellation.clone()));
    let report = bench.deploy(&one_scripted(1));
    let Some(Outcome::Failed(failure)) = report.outcome("h_thing.a") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "no answer (not tried again: the run was stopped)");
    assert_eq!(script.count("create"), 1);
    assert!(bench.records()["a"].current.as_ref().unwrap().attempt().is_some(), "it may have been made");
}

/// APPLY-11: a run that is stopped before a resource has begun anything leaves it as it was.
#[test]
fn a_run_that_is_stopped_before_the_intent_does_not_begin() {
    let (bench, script) = scripted();
    let cancellation = bench.cancellation.clone();
    // It is decided on real values when the plan is carried out.
    script.mishap("plan", Mishap::Pass);
    script.mishap("plan", Mishap::Finish(cancellation));
    let mut later = thing("b", 1);
    later.depends_on = vec![address("h_thing.a")];
    let mut both = one_scripted(1);
    both.resources.push(later);
    let report = bench.deploy(&both);
    let outcomes: Vec<&Outcome> = report.outcomes.iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes, [&Outcome::NotStarted, &Outcome::NotStarted]);
    assert_eq!((script.count("create"), bench.records().len()), (0, 0));
}

/// RETRY-2: a destroy used the run's own retries, whatever a resource declared.
#[test]
fn a_destroy_follows_declared_retries() {
    let bench = Bench::new();
    let mut declared = thing("a", 1);
    declared.options.retry = RetrySettings { attempts_max: Some(1), ..RetrySettings::default() };
    let declared = program([declared]);
    bench.deployed(&declared);
    bench.world.fail("delete a", Failure::new(FailureClass::Retryable, "not yet"));
    bench.world.calls();
    assert!(!bench.destroy_of(&declared).succeeded());
    assert_eq!(bench.world.calls().iter().filter(|call| *call == "delete a").count(), 1);
}

/// BOUND-1: whatever the other side asks for, the timeout holds.
#[test]
fn a_delay_past_the_timeout_is_not_waited_for() {
    let throttled = |delay| FailureClass::Throttled { delay: Some(delay) };
    let pending = |delay| FailureClass::Pending { delay: Some(delay), context: Value::NULL };
    let days = Duration::from_secs(100_000);
    let told = "slow down; it is to be tried again in 100000 s, past the timeout of 30 s";
    let rows = [
        ("throttled", throttled(days), 1, 0, told),
        ("throttled for ever", throttled(Duration::MAX), 1, 0, "past the timeout of 30 s"),
        ("throttled within the timeout", throttled(Duration::from_secs(20)), 2, 20, "2 attempts in 20.0 s"),
        ("pending", pending(days), 2, 30, "slow down (2 attempts in 30.0 s)"),
        ("pending for ever", pending(Duration::MAX), 2, 30, "slow down (2 attempts in 30.0 s)"),
    ];
    for (what, class, attempts, seconds, expected) in rows {
        let bench = Bench::new();
        let mut declared = thing("a", 1);
        let timeouts = Timeouts { create: Some(Duration::from_secs(30)), ..Timeouts::default() };
        declared.options.timeouts = Some(Box::new(timeouts));
        for _ in 0..5 {
            bench.world.fail("create a", Failure::new(class.clone(), "slow down"));
        }
        let before = bench.now();
        let report = bench.deploy(&program([declared]));
        assert_eq!(bench.now().duration_since(before).unwrap().as_secs(), seconds, "{what}");
        let calls = bench.world.calls().iter().filter(|call| *call == "create a").count();
        assert_eq!(calls, attempts, "{what}");
        let Some(Outcome::Failed(failure)) = report.outcome("w_thing.a") else { panic!("{what}") };
        assert!(failure.message.contains(expected), "{what}: {}", failure.message);
    }
}

fn scripted_thing(size: u64) -> ResourceDeclaration {
    resource("h_thing.a", [("size", lit(size))])
}

fn not_yet() -> Mishap {
    Mishap::Fail(Failure::new(FailureClass::Retryable, "not yet"))
}

/// RETRY-2: the policy of a resource counts for each of its calls, while planning too.
#[test]
fn planning_obeys_the_retry_of_the_resource() {
    let (bench, script) = scripted();
    bench.deployed(&program([scripted_thing(1)]));
    let mut twice = scripted_thing(1);
    twice.options.retry.attempts_max = Some(2);
    for call in ["read", "plan"] {
        let before = script.count(call);
        (0..2).for_each(|_| script.mishap(call, not_yet()));
        let told = bench.refused(&program([twice.clone()]));
        assert!(told.contains("not yet (2 attempts in"), "{call}: {told}");
        assert_eq!(script.count(call) - before, 2, "{call}");
    }
}

/// RETRY-2
#[test]
fn the_nearest_retry_counts() {
    let attempts = |count| RetrySettings { attempts_max: Some(count), ..RetrySettings::default() };
    let reads = |run: Option<u32>, of_type: Option<u32>, own: Option<u32>| {
        let (mut bench, script) = scripted();
        bench.deployed(&program([scripted_thing(1)]));
        bench.options.plan.retry = run.map(attempts).unwrap_or_default();
        let mut declared = scripted_thing(1);
        declared.options.retry = own.map(attempts).unwrap_or_default();
        let mut wanted = program([declared]);
        wanted.type_retries.extend(of_type.map(|count| ("h_thing".into(), attempts(count))));
        let before = script.count("read");
        (0..10).for_each(|_| script.mishap("read", not_yet()));
        bench.refused(&wanted);
        script.count("read") - before
    };
    assert_eq!(reads(None, None, None), 10);
    assert_eq!(reads(Some(4), None, None), 4);
    assert_eq!(reads(Some(4), Some(3), None), 3);
    assert_eq!(reads(Some(4), Some(3), Some(2)), 2);
}

/// RETRY-2: what a removed resource said is not recorded.
#[test]
fn an_orphan_is_deleted_by_the_retry_of_its_type() {
    let (bench, script) = scripted();
    bench.deployed(&program([scripted_thing(1)]));
    (0..3).for_each(|_| script.mishap("delete", not_yet()));
    let mut none = program([]);
    let twice = RetrySettings { attempts_max: Some(2), ..RetrySettings::default() };
    none.type_retries.insert("h_thing".into(), twice);
    assert!(!bench.deploy(&none).succeeded());
    assert_eq!(script.count("delete"), 2);
}

/// RETRY-1: also what was tried once before: checks, the plan on real values, imports, recoveries, configurations.
#[test]
fn every_call_is_tried_again() {
    let new = program([scripted_thing(1)]);
    let mut importing = new.clone();
    importing.imports.push(ImportDeclaration::new(address("h_thing.a"), lit("a")));
    let calls = [("check", &new), ("plan", &new), ("configure", &new), ("config_schema", &new)];
    for (call, program) in calls.into_iter().chain([("import", &importing)]) {
        let (bench, script) = scripted();
        script.mishap(call, not_yet());
        bench.deployed(program);
        assert!(script.count(call) > 1, "{call}");
    }
    let (bench, script) = scripted();
    script.find_by_token();
    script.mishap("create", Mishap::Fail(Failure::new(FailureClass::Indeterminate, "lost")));
    assert!(!bench.deploy(&new).succeeded());
    script.mishap("create", not_yet());
    assert!(
        bench.destroy().succeeded(),
        "its object is found by its token, at the second attempt, and deleted"
    );
    assert_eq!(script.count("create"), 3);
}

/// RETRY-4
#[test]
fn a_pending_call_gets_its_context_back() {
    let pending = |at: u64| {
        let class = FailureClass::Pending { delay: Some(Duration::from_secs(1)), context: at.into() };
        Mishap::Fail(Failure::new(class, "still at it"))
    };
    let wanted = program([scripted_thing(1)]);
    for call in ["read", "plan", "delete"] {
        let (bench, script) = scripted();
        bench.deployed(&wanted);
        script.mishap(call, pending(1));
        script.mishap(call, pending(2));
        match call {
            "delete" => assert!(bench.destroy().succeeded()),
            _ => assert!(bench.plan(&wanted).ends_with("No changes"), "{call}"),
        }
        assert_eq!(script.told(call), [Value::from(1_u64), Value::from(2_u64)], "{call}");
    }
}

/// RETRY-5: an alias may lead to another account, which has limits of its own.
#[test]
fn throttling_slows_one_alias_and_not_the_other() {
    let peak_in_west = |throttled: &str| {
        let bench = Bench::new();
        let class = FailureClass::Throttled { delay: Some(Duration::from_secs(1)) };
        (0..5).for_each(|_| bench.world.fail("create first", Failure::new(class.clone(), "slow down")));
        let mut wanted = program([thing("first", 1)]);
        wanted.resources[0].provider = Some(throttled.into());
        for number in 0..20 {
            let mut later = thing(&format!("t{number}"), 1);
            later.provider = Some("w.west".into());
            later.depends_on.push(address("w_thing.first"));
            wanted.resources.push(later);
        }
        for name in ["w.west", "w.east"] {
            let config = Expression::new(Node::Object(Vec::new()));
            wanted.providers.push(ProviderDeclaration { name: name.into(), config });
        }
        bench.deployed(&wanted);
        bench.world.cloud().peak("create")
    };
    assert_eq!(peak_in_west("w.east"), 10);
    assert!(peak_in_west("w.west") < 10);
}

thread_local! {
    /// The contexts that creates were called with.
    static CONTEXTS: RefCell<Vec<Option<Value>>> = const { RefCell::new(Vec::new()) };
}

/// A type whose create begins a job, and is called again until that is done.
#[derive(Inputs)]
struct Job {}

#[derive(Outputs)]
struct JobOutput {
    #[trueup(identity)]
    id: String,
}

impl Crud for Job {
    type Output = JobOutput;
    type Config = NoConfig;

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context) -> Result<JobOutput> {
        let polls = CONTEXTS.with_borrow_mut(|contexts| {
            contexts.push(context.pending.clone());
            contexts.len()
        });
        match context.pending.as_ref().and_then(Value::as_str) {
            Some(job) if polls > 2 => Ok(JobOutput { id: job.to_owned() }),
            job => {
                let job = Value::from(job.unwrap_or("job-7"));
                Err(Error::pending(Some(Duration::from_secs(1)), job, "still at it"))
            }
        }
    }

    async fn read(&self, _: &Context, prior: &JobOutput) -> Result<JobOutput> {
        Ok(JobOutput { id: prior.id.clone() })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<JobOutput> {
        Ok(JobOutput { id: prior.outputs.id.clone() })
    }

    async fn delete(&self, _: &Context, _: &JobOutput) -> Result<()> {
        Ok(())
    }
}

/// RETRY-4: an operation that is pending gets its context back, and so does the run after a crash.
#[test]
fn what_is_pending_is_polled_with_its_context_also_after_a_crash() {
    let job = || Some(Value::from("job-7"));
    let bench = || {
        CONTEXTS.with_borrow_mut(Vec::clear);
        let mut bench = Bench::new();
        bench.others = Registry::new().with(NativeProvider::new("j").crud::<Job>("job"));
        bench
    };
    let declared = program([resource("j_job.a", [])]);
    bench().deployed(&declared);
    assert_eq!(CONTEXTS.take(), [None, job(), job()]);
    let mut resumed = 0;
    for waits in 0.. {
        let bench = bench();
        let finished = bench.deploy_cut_off(&declared, waits);
        let pending = bench.records().get("a").and_then(|record| {
            let current = record.current.as_ref().filter(|current| current.object.is_none())?;
            current.attempt().and_then(|attempt| attempt.pending.clone())
        });
        if finished {
            break;
        }
        if pending.is_some() {
            assert_eq!(pending, job(), "the record is in flight");
            CONTEXTS.take();
            bench.deployed(&declared);
            assert_eq!(CONTEXTS.take()[0], job(), "cut off after {waits} waits");
            resumed += 1;
        }
    }
    assert!(resumed > 0);
}
