//! PLANFILE: plans that are saved and carried out later, exactly as they are or not at all.

use futures_util::FutureExt;
use trueup_core::{FailureClass, Value};
use trueup_engine::{
    EngineError, EventSink, Outcome, PlanFileError, PlanSeal, Protection, RunKind, RunReport, SavedPlan,
    changed_premises, read_plan_header,
};
use trueup_program::{Premise, PremiseKind, Program};
use trueup_provider::{
    BoxFuture, Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Registry, Result,
};
use trueup_state::Cause;

use crate::lifecycle::world::{Bench, lit, output, program, resource, thing, thing_from, with_output};

impl Bench {
    /// A plan, saved, written and read again: what is carried out always went through a file.
    fn saved(&self, program: &Program) -> SavedPlan {
        self.saved_for(program, false)
    }

    fn saved_for(&self, program: &Program, destroy: bool) -> SavedPlan {
        let saved = self.try_save(program, destroy).unwrap_or_else(|error| panic!("{error}"));
        let bytes = write_plan(&saved, Some(&Key("ours"))).expect("it can be written");
        read_plan(&bytes, Some(&Key("ours"))).expect("it reads")
    }

    /// Begins a saved plan, or tells why not.
    fn begun_saved(&self, program: &Program, saved: &SavedPlan) -> Result<RunReport, String> {
        self.try_deploy_saved(program, saved).map_err(|error| match error {
            EngineError::Unsound(wrong) => {
                let told =
                    wrong.iter().map(|it| format!("{it}\n{}\n", it.detail.clone().unwrap_or_default()));
                told.collect()
            }
            other => other.to_string(),
        })
    }

    fn deployed_saved(&self, program: &Program, saved: &SavedPlan) -> RunReport {
        let report = self.begun_saved(program, saved).unwrap_or_else(|refused| panic!("{refused}"));
        assert!(report.succeeded(), "{:#?}", report.outcomes);
        report
    }

    fn refused_saved(&self, program: &Program, saved: &SavedPlan) -> String {
        let refused = self.begun_saved(program, saved).err();
        refused.expect("the plan is refused")
    }
}

/// A seal that tells keys apart and hides nothing: what is sealed is tested where sealing is.
struct Key(&'static str);

impl PlanSeal for Key {
    fn seal<'a>(&'a self, content: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>> {
        let mut sealed = self.tag(content, beside).to_vec();
        sealed.extend(content.iter().map(|byte| byte ^ 0xff));
        Box::pin(async { Ok(sealed) })
    }

    fn open<'a>(&'a self, sealed: &'a [u8], beside: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Cause>> {
        Box::pin(async move {
            let (tag, content) = sealed.split_at_checked(32).ok_or("too short")?;
            let content: Vec<u8> = content.iter().map(|byte| byte ^ 0xff).collect();
            if self.tag(&content, beside) == tag { Ok(content) } else { Err("another key".into()) }
        })
    }
}

/// Writing and reading wait for nothing but keys.
fn write_plan(saved: &SavedPlan, key: Option<&dyn PlanSeal>) -> Result<Vec<u8>, PlanFileError> {
    trueup_engine::write_plan(saved, "memory", "test", key).now_or_never().expect("nothing to wait for")
}

fn read_plan(bytes: &[u8], key: Option<&dyn PlanSeal>) -> Result<SavedPlan, PlanFileError> {
    trueup_engine::read_plan(bytes, key).now_or_never().expect("nothing to wait for")
}

impl Key {
    fn tag(&self, content: &[u8], beside: &[u8]) -> [u8; 32] {
        let mut tag = blake3::Hasher::new();
        tag.update(self.0.as_bytes()).update(content).update(beside);
        *tag.finalize().as_bytes()
    }
}

/// PLANFILE-1, STATE-8.
#[test]
fn a_saved_plan_is_carried_out_once() {
    let bench = Bench::new();
    let wanted = program([thing("a", 1), thing_from("b", "a")]);
    let saved = bench.saved(&wanted);
    let report = bench.deployed_saved(&wanted, &saved);
    assert_eq!(bench.world.things(), ["a=1", "b=1"]);
    assert_eq!(report.run, saved.run, "the history knows it by the run that the plan names");
    assert!(bench.refused_saved(&wanted, &saved).contains("carried out already"));
    // Also when nothing of it can be seen any more.
    bench.destroy();
    assert!(bench.refused_saved(&wanted, &saved).contains("carried out already"));
    assert!(bench.world.things().is_empty());
}

/// PLANFILE-1: a run that was cut off used the plan up.
#[test]
fn a_plan_that_was_begun_is_not_begun_again() {
    let bench = Bench::new();
    let wanted = program([thing("a", 1), thing_from("b", "a")]);
    let saved = bench.saved(&wanted);
    bench.world.fail("create b", trueup_core::Failure::new(FailureClass::Denied, "no"));
    let report = bench.begun_saved(&wanted, &saved).expect("it begins");
    assert!(!report.succeeded());
    assert!(bench.refused_saved(&wanted, &saved).contains("carried out already"));
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// PLANFILE-1: what was refused changed nothing, and may be tried again once its premises hold.
#[test]
fn a_refused_plan_is_not_used_up() {
    let bench = Bench::new();
    let wanted = program([thing("a", 1)]);
    let saved = bench.saved(&wanted);
    let refused = bench.refused_saved(&program([thing("a", 2)]), &saved);
    assert!(refused.contains("w_thing.a: it would not come out as planned"), "{refused}");
    assert!(refused.contains("size: 1 -> 2"), "{refused}");
    assert!(bench.world.things().is_empty());
    bench.deployed_saved(&wanted, &saved);
    assert_eq!(bench.world.things(), ["a=1"]);
}

/// PLANFILE-2: records acted on, upstream of them, and places where nothing was.
#[test]
fn a_plan_is_refused_when_what_it_stands_on_changed() {
    let cases = [
        (
            "w_thing.b was changed since the plan was made",
            program([thing("a", 1), thing("b", 3), thing("c", 1)]),
        ),
        (
            "w_thing.a was changed since the plan was made",
            program([thing("a", 9), thing_from("b", "a"), thing("c", 1)]),
        ),
        (
            "w_thing.new was made since the plan was",
            program([thing("a", 1), thing_from("b", "a"), thing("c", 1), thing("new", 1)]),
        ),
        ("w_thing.b is no longer recorded", program([thing("a", 1), thing("c", 1)])),
    ];
    for (reason, meanwhile) in cases {
        let bench = Bench::new();
        bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing("c", 1)]));
        let b = resource("w_thing.b", [("from", output("w_thing.a", "url")), ("size", lit(2_u64))]);
        let wanted = program([thing("a", 1), b, thing("c", 1), thing("new", 1)]);
        let saved = bench.saved(&wanted);
        bench.deployed(&meanwhile);
        let things = bench.world.things();
        let refused = bench.refused_saved(&wanted, &saved);
        assert!(refused.contains(reason), "{refused}");
        assert_eq!(bench.world.things(), things, "nothing was changed");
    }
}

/// PLANFILE-2: someone else deploys what the plan is not about, changed, new or removed.
#[test]
fn unrelated_changes_do_not_invalidate_a_plan() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("other", 1), thing("gone", 1)]));
    let wanted = with_output(
        program([thing("a", 2), thing("other", 1), thing("gone", 1), thing("later", 1)]),
        "other",
        output("w_thing.other", "size"),
    );
    bench.options.plan.excludes = vec!["w_thing.later".parse().expect("an address")];
    let saved = bench.saved(&wanted);
    bench.options.plan.excludes.clear();
    bench.deployed(&program([thing("a", 1), thing("other", 7), thing("mine", 1)]));
    bench.world.calls();
    bench.deployed_saved(&wanted, &saved);
    assert_eq!(bench.world.things(), ["a=2", "mine=1", "other=7"]);
    assert_eq!(bench.world.calls().iter().filter(|it| !it.starts_with("read")).count(), 1, "one update");
}

/// PLANFILE-2, APPLY-12: outputs tell what there is, also of what the plan was not about.
#[test]
fn outputs_of_a_saved_plan_are_stored_as_they_are_by_then() {
    let bench = Bench::new();
    let wanted = |a, other| {
        let outputs = program([thing("a", a), thing("other", other)]);
        let outputs = with_output(outputs, "a", output("w_thing.a", "size"));
        with_output(outputs, "other", output("w_thing.other", "size"))
    };
    bench.deployed(&wanted(1, 1));
    let saved = bench.saved(&wanted(2, 1));
    let names: Vec<String> = saved.plan.output_changes().iter().map(|it| it.path.to_string()).collect();
    assert_eq!(names, ["a"]);
    let mut others = bench.options.clone();
    others.plan.targets = vec!["w_thing.other".parse().expect("an address")];
    let reconciler = bench.reconciler(EventSink::new());
    bench.run(reconciler.deploy(&wanted(1, 5), &others, &bench.cancellation)).expect("it is sound");
    let report = bench.deployed_saved(&wanted(2, 1), &saved);
    assert_eq!(report.outputs.map(|it| it.to_string()), Some("{ a = 2, other = 5 }".to_owned()));
}

/// PLANFILE-2: who depends on what goes.
#[test]
fn a_new_dependent_of_what_is_deleted_invalidates_a_plan() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let without = program([thing("b", 1)]);
    let saved = bench.saved(&without);
    bench.deployed(&program([thing("a", 1), thing("b", 1), thing_from("user", "a")]));
    let refused = bench.refused_saved(&without, &saved);
    assert!(refused.contains("w_thing.a"), "{refused}");
    assert_eq!(bench.world.things(), ["a=1", "b=1", "user=1"]);
}

/// PLANFILE-2: data results and observations travel; nothing is looked at again.
#[test]
fn what_was_looked_at_is_not_looked_at_again() {
    let bench = Bench::new();
    bench.deployed(&program([thing("a", 1), thing("b", 1)]));
    let mut wanted =
        program([thing("a", 1), resource("w_thing.b", [("size", output("data.w_length.l", "length"))])]);
    let of = trueup_program::Node::Object(vec![("of".into(), lit("four"))]);
    let of = trueup_program::Expression::new(of);
    wanted
        .data
        .push(trueup_program::DataDeclaration::new(crate::lifecycle::world::address("data.w_length.l"), of));
    // Drift that the plan repairs.
    let a = bench.world.by_name("a").expect("it is there");
    bench.world.cloud().things.get_mut(&a).expect("it is there").size = 8;
    let saved = bench.saved(&wanted);
    bench.world.calls();
    bench.deployed_saved(&wanted, &saved);
    let calls = bench.world.calls();
    assert!(!calls.contains(&"measure l".to_owned()), "{calls:?}");
    // What is written is read back; nothing else is read.
    assert_eq!(calls, ["update a", "update b", "read a", "read b"]);
    assert_eq!(bench.world.things(), ["a=1", "b=4"]);
}

/// PLANFILE-2: destroys, moves, targets, adoption and imports are in the plan.
#[test]
fn destroy_plans_are_saved_too() {
    let bench = Bench::new();
    let all = program([thing("a", 1), thing_from("b", "a")]);
    bench.deployed(&all);
    let saved = bench.saved_for(&program([]), true);
    assert_eq!(saved.kind, RunKind::Destroy);
    bench.deployed_saved(&program([]), &saved);
    assert!(bench.world.things().is_empty() && bench.records().is_empty());
}

/// PLANFILE-2, MOVE-1, TARGET-1.
#[test]
fn moves_and_targets_are_saved_too() {
    let mut bench = Bench::new();
    bench.deployed(&program([thing("old", 1), thing("b", 1)]));
    let mut wanted = program([thing("new", 2), thing("b", 2)]);
    let (from, to) =
        (crate::lifecycle::world::address("w_thing.old"), crate::lifecycle::world::address("w_thing.new"));
    wanted.moves.push(trueup_program::MoveDeclaration { from: from.into(), to: to.into() });
    bench.options.plan.targets = vec!["w_thing.new".parse().expect("an address")];
    let saved = bench.saved(&wanted);
    bench.options.plan.targets.clear();
    bench.deployed_saved(&wanted, &saved);
    assert_eq!(bench.records().keys().collect::<Vec<_>>(), ["b", "new"]);
    let sizes: Vec<u64> = bench.world.cloud().things.values().map(|thing| thing.size).collect();
    assert_eq!(sizes, [2, 1], "what was left out stays");
}

/// PLANFILE-2, ADOPT-2: an object that was found is adopted as it was found.
#[test]
fn adoption_is_saved_too() {
    let bench = Bench::new();
    let wanted = program([thing("a", 3)]);
    bench.deployed(&wanted);
    let other = Bench::in_world(bench.world.clone());
    let saved = other.saved(&wanted);
    assert!(saved.plan.to_string().contains("adopted"), "{}", saved.plan);
    other.deployed_saved(&wanted, &saved);
    assert_eq!(other.world.things(), ["a=3"]);
}

/// PLANFILE-3: what was pending settles freely.
#[test]
fn inputs_that_were_not_known_may_become_anything() {
    let bench = Bench::new();
    let wanted = program([thing("a", 5), thing_from("b", "a")]);
    let saved = bench.saved(&wanted);
    bench.deployed_saved(&wanted, &saved);
    assert_eq!(bench.world.things(), ["a=5", "b=1"]);
}

#[derive(Outputs)]
struct Granted {
    #[trueup(mirrors = "size")]
    size: u64,
}

/// A type that says it gives what was asked for, and gives more.
#[derive(Inputs)]
struct Generous {
    size: u64,
}

impl Crud for Generous {
    type Output = Granted;
    type Config = NoConfig;

    async fn create(&self, _: &Context) -> Result<Granted> {
        Ok(Granted { size: self.size + 100 })
    }

    async fn read(&self, _: &Context, prior: &Granted) -> Result<Granted> {
        Ok(Granted { size: prior.size })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<Granted> {
        Ok(Granted { size: self.size + 100 })
    }

    async fn delete(&self, _: &Context, _: &Granted) -> Result<()> {
        Ok(())
    }
}

/// PLANFILE-3: a prediction that does not come true stops what relied on it, with the fields that differ.
#[test]
fn inputs_that_were_known_must_come_out_so() {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("x").crud::<Generous>("thing"));
    let a = resource("x_thing.a", [("size", lit(1_u64))]);
    let wanted = program([a, resource("w_thing.b", [("size", output("x_thing.a", "size"))])]);
    let saved = bench.saved(&wanted);
    let report = bench.begun_saved(&wanted, &saved).expect("it begins");
    let Some(Outcome::Failed(failure)) = report.outcome("w_thing.b") else { panic!("{:?}", report.outcomes) };
    assert_eq!(failure.message, "its inputs are others than were planned: size: 1 -> 101");
    assert_eq!(failure.hints, ["plan again"]);
    assert!(bench.world.things().is_empty());
}

/// PLANFILE-4.
#[test]
fn damaged_foreign_and_other_plan_files_are_refused() {
    let bench = Bench::new();
    let saved = bench.saved(&program([thing("a", 1)]));
    let signed = write_plan(&saved, Some(&Key("ours"))).expect("it can be written");
    let plain = write_plan(&saved, None).expect("it holds no secrets");
    assert_eq!(read_plan_header(&signed).map(|it| it.protection), Ok(Protection::Signed));
    assert_eq!(read_plan_header(&plain).map(|it| it.protection), Ok(Protection::Digest));
    assert!(read_plan(&signed, None).is_ok(), "what is no secret is read without a key");
    assert!(matches!(read_plan(&signed, Some(&Key("theirs"))), Err(PlanFileError::Locked(_))));
    assert_eq!(read_plan(b"{}", None).err(), Some(PlanFileError::Foreign));
    assert_eq!(read_plan(b"trueup-plan 0\n{}", None).err(), Some(PlanFileError::Format { found: 0 }));
    assert_eq!(read_plan(b"trueup-plan 9\n{}", None).err(), Some(PlanFileError::Format { found: 9 }));
    for at in 0..plain.len() {
        let mut bent = plain.clone();
        bent[at] ^= 1;
        assert!(read_plan(&bent, None).is_err(), "a bit at {at}");
        assert!(read_plan(&plain[..at], None).is_err(), "cut at {at}");
    }
    // Whoever makes the digest anew does not have the key.
    let size = b"\"size\":1";
    let at = signed.windows(size.len()).position(|at| at == size).expect("the size is in the clear");
    let mut tampered = signed[..signed.len() - 32].to_vec();
    tampered[at + 7] = b'9';
    let digest = blake3::hash(&tampered);
    tampered.extend(digest.as_bytes());
    assert!(read_plan(&tampered, None).is_ok());
    assert!(matches!(read_plan(&tampered, Some(&Key("ours"))), Err(PlanFileError::Locked(_))));
    let other = Program { stack: "another".into(), ..program([thing("a", 1)]) };
    assert!(bench.refused_saved(&other, &saved).contains("stack another"));
}

/// PLANFILE-4, SECRET-3: a plan with secrets is sealed as a whole, and needs the key.
#[test]
fn plans_with_secrets_are_sealed() {
    let bench = Bench::new();
    let secret = Value::from("canary-7f3a").into_secret();
    let wanted = program([resource("w_thing.a", [("from", secret.into())])]);
    let saved = bench.try_save(&wanted, false).expect("it is sound");
    assert_eq!(write_plan(&saved, None).err(), Some(PlanFileError::NoKey));
    let sealed = write_plan(&saved, Some(&Key("ours"))).expect("there is a key");
    assert!(!String::from_utf8_lossy(&sealed).contains("canary"));
    assert_eq!(read_plan(&sealed, None).err(), Some(PlanFileError::NoKey));
    assert!(matches!(read_plan(&sealed, Some(&Key("theirs"))), Err(PlanFileError::Locked(_))));
    let opened = read_plan(&sealed, Some(&Key("ours"))).expect("it is the key");
    assert!(!format!("{opened:?}").contains("canary"), "what is printed hides it");
    bench.deployed_saved(&wanted, &opened);
}

/// PLANFILE-2: what a program follows from is told by name.
#[test]
fn changed_premises_are_named() {
    let premise = |kind, name: &str, content: &str| Premise::of(kind, name, content.as_bytes());
    let saved = [
        premise(PremiseKind::Source, "main.tf", "a"),
        premise(PremiseKind::Source, "old.tf", "a"),
        premise(PremiseKind::Variable, "size", "1"),
        premise(PremiseKind::Read, "motd.txt", "hi"),
        premise(PremiseKind::Read, "late.txt", "hi"),
    ];
    let now = [
        premise(PremiseKind::Source, "main.tf", "b"),
        premise(PremiseKind::Source, "new.tf", "b"),
        premise(PremiseKind::Variable, "size", "2"),
        premise(PremiseKind::Read, "motd.txt", "ho"),
    ];
    let told: Vec<String> = changed_premises(&saved, &now).iter().map(|it| it.summary.clone()).collect();
    assert_eq!(
        told,
        [
            "main.tf changed since the plan was made",
            "old.tf is gone since the plan was made",
            "the variable `size` has another value than when the plan was made",
            "motd.txt changed since the plan was made",
            "new.tf is new since the plan was made",
        ]
    );
}

proptest::proptest! {
    /// PLANFILE-4: whatever stands in a file, reading it says what is wrong, or gives a plan that can be told.
    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let _ = read_plan(&bytes, None);
        let _ = read_plan(&[b"trueup-plan 2\n".as_slice(), &bytes].concat(), None);
        let _ = read_plan(&digested([b"trueup-plan 2\n".as_slice(), &bytes].concat()), None);
    }

    #[test]
    fn no_changed_plan_makes_reading_panic(edits in proptest::collection::vec((0.0..1.0, 0..5_u8, proptest::num::u8::ANY), 1..8)) {
        thread_local! {
            static PLAN: Vec<u8> = {
                let bench = Bench::new();
                bench.deployed(&program([thing("a", 1), thing_from("b", "a"), thing("gone", 1)]));
                let wanted = with_output(program([thing("a", 2), thing_from("b", "a")]), "url", output("w_thing.a", "url"));
                write_plan(&bench.saved(&wanted), None).expect("it holds no secrets")
            };
        }
        let mut bytes = PLAN.with(|plan| plan[..plan.len() - 32].to_vec());
        for (place, kind, byte) in edits {
            let at = (place * bytes.len() as f64) as usize;
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                // What JSON is made of reaches further than any byte.
                3 => bytes[at] = b"0123456789-[]{}\",:."[usize::from(byte) % 19],
                _ => bytes.insert(at, b"0123456789-[]{}\",:."[usize::from(byte) % 19]),
            }
        }
        if let Ok(saved) = read_plan(&digested(bytes), None) {
            let _ = (saved.plan.to_string(), saved.plan.summary(), saved.plan.is_empty());
        }
    }
}

/// With the digest that a whole file ends with.
fn digested(mut bytes: Vec<u8>) -> Vec<u8> {
    let digest = blake3::hash(&bytes);
    bytes.extend(digest.as_bytes());
    bytes
}
