//! Objects that come into sight late.

use std::cell::{Cell, RefCell};
use std::time::{Duration, SystemTime};

use trueup_provider::{
    Context, Crud, Error, Found, Inputs, NativeProvider, NoConfig, Outputs, Prior, Recovery, Registry,
    Result, Sightings, Traits,
};

use crate::lifecycle::world::{Bench, program, resource};

/// How long a new object stays out of sight.
const LATE: Duration = Duration::from_secs(10);

thread_local! {
    /// When objects were made.
    static MADE: RefCell<Vec<SystemTime>> = const { RefCell::new(Vec::new()) };
    /// Whether nobody may look at what is new.
    static DENYING: Cell<bool> = const { Cell::new(false) };
}

#[derive(Outputs)]
struct Seen {
    #[trueup(identity)]
    id: u64,
}

/// A type whose first create is not answered, and whose lookup sees nothing for a while.
#[derive(Inputs)]
struct Shy {}

impl Crud for Shy {
    type Output = Seen;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { consistency_window: LATE, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Lookup
    }

    async fn create(&self, context: &Context) -> Result<Seen> {
        let made = MADE.with_borrow_mut(|made| {
            made.push(context.clock.now());
            made.len() as u64
        });
        let answered = made > 1 || DENYING.get();
        if answered { Ok(Seen { id: made }) } else { Err(Error::indeterminate("no answer")) }
    }

    async fn read(&self, context: &Context, prior: &Seen) -> Result<Seen> {
        let now = context.clock.now();
        let at = MADE.with_borrow(|made| made.get(prior.id as usize - 1).copied());
        match at {
            Some(at) if at + LATE <= now => Ok(Seen { id: prior.id }),
            // Until then it does not let itself be read, and says so in different ways.
            Some(_) if DENYING.get() => Err(Error::denied("not now")),
            _ => Err(Error::not_found("there is none")),
        }
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<Seen> {
        Ok(Seen { id: prior.outputs.id })
    }

    async fn delete(&self, _: &Context, _: &Seen) -> Result<()> {
        MADE.with_borrow_mut(Vec::clear);
        Ok(())
    }

    async fn lookup(&self, context: &Context) -> Result<Sightings<Found<Self, Seen>>> {
        let now = context.clock.now();
        let seen = MADE.with_borrow(|made| made.iter().any(|at| *at + LATE <= now));
        Ok(if seen {
            Sightings::owned(Found { inputs: Shy {}, outputs: Seen { id: 1 } })
        } else {
            Sightings::absent()
        })
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("x").crud::<Shy>("shy"));
    bench
}

/// A bench on which a create was not answered.
fn unanswered() -> Bench {
    let bench = bench();
    assert!(!bench.deploy(&program([resource("x_shy.a", [])])).succeeded());
    bench
}

/// CRASH-1: absence must outlast the consistency window.
#[test]
fn what_is_not_seen_yet_is_not_made_again() {
    let bench = unanswered();
    bench.deployed(&program([resource("x_shy.a", [])]));
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

/// CRASH-1: nor forgotten.
#[test]
fn what_is_not_seen_yet_is_not_forgotten() {
    let bench = unanswered();
    bench.deployed(&program([]));
    assert_eq!(MADE.with_borrow(Vec::len), 0);
}

/// CRUD-2: what could not be read back may still come into sight.
#[test]
fn what_is_not_seen_yet_is_not_gone() {
    let bench = bench();
    let declared = program([resource("x_shy.a", [])]);
    DENYING.set(true);
    bench.deployed(&declared);
    DENYING.set(false);
    bench.deployed(&declared);
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

#[derive(Outputs)]
struct Size {
    #[trueup(mirrors = "size")]
    size: u64,
}

/// A type whose object someone changes as soon as it is made.
#[derive(Inputs)]
struct Meddled {
    size: u64,
}

impl Crud for Meddled {
    type Output = Size;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { consistency_window: LATE, ..Traits::default() }
    }

    async fn create(&self, _: &Context) -> Result<Size> {
        Ok(Size { size: self.size })
    }

    async fn read(&self, _: &Context, _: &Size) -> Result<Size> {
        Ok(Size { size: 99 })
    }

    async fn update(&self, _: &Context, _: &Prior<Self>) -> Result<Size> {
        Ok(Size { size: self.size })
    }

    async fn delete(&self, _: &Context, _: &Size) -> Result<()> {
        Ok(())
    }
}

/// APPLY-8, DRIFT-3: what reads otherwise than it was answered is stale at first, and drift in the end; never wanted.
#[test]
fn what_was_changed_before_it_could_be_read_back_is_drift() {
    let mut bench = Bench::new();
    bench.others = Registry::new().with(NativeProvider::new("x").crud::<Meddled>("thing"));
    let declared = program([resource("x_thing.a", [("size", crate::lifecycle::world::lit(1))])]);
    bench.deployed(&declared);
    insta::assert_snapshot!(bench.plan(&declared), @r"
    ~ x_thing.a (drift)
        size: 1 <- 99
    Plan: 1 to update
    ");
}

/// Lets time pass.
fn pass(bench: &Bench, time: Duration) {
    bench.run(async { trueup_provider::Clock::sleep(&*bench.clock, time).await });
}

/// How long a plan waits.
fn waited(bench: &Bench, declared: &trueup_program::Program) -> Duration {
    let before = bench.now();
    bench.plan(declared);
    bench.now().duration_since(before).unwrap()
}

/// DRIFT-10: the window counts from the last write, so that past it nobody waits for what was removed.
#[test]
fn what_was_removed_after_the_window_is_gone_at_once() {
    let bench = bench();
    let declared = program([resource("x_shy.a", [])]);
    DENYING.set(true);
    bench.deployed(&declared);
    DENYING.set(false);
    MADE.with_borrow_mut(Vec::clear);
    let early = waited(&bench, &declared);
    assert!(early > LATE / 2 && early <= LATE, "{early:?}");
    pass(&bench, LATE);
    assert_eq!(waited(&bench, &declared), Duration::ZERO);
}

/// CRASH-1: a clock that is set forward between two runs makes no interrupted create look old. It used to: absence was
/// believed at once, and a second object was made.
#[test]
fn an_interrupted_create_is_waited_for_whatever_the_clock_says() {
    let bench = unanswered();
    let declared = program([resource("x_shy.a", [])]);
    pass(&bench, Duration::from_secs(365 * 86_400));
    // The request was under way all the time that really passed; its object comes into sight in a moment.
    let seen_from = bench.now() + LATE / 3;
    MADE.with_borrow_mut(|made| made[0] = seen_from - LATE);
    bench.deployed(&declared);
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

/// DRIFT-10, CRASH-2: nor one that a killed run left unfinished, whose object reads as absent for a while. It used to be made
/// a second time.
#[test]
fn an_unfinished_object_is_waited_for_whatever_the_clock_says() {
    let declared = program([resource("x_shy.a", [])]);
    for waits in 0.. {
        MADE.with_borrow_mut(Vec::clear);
        DENYING.set(true);
        let bench = bench();
        let finished = bench.deploy_cut_off(&declared, waits);
        DENYING.set(false);
        if finished {
            break;
        }
        pass(&bench, Duration::from_secs(365 * 86_400));
        let seen_from = bench.now() + LATE / 3;
        let is_made = MADE.with_borrow_mut(|made| {
            made.iter_mut().for_each(|at| *at = seen_from - LATE);
            !made.is_empty()
        });
        if is_made {
            bench.deployed(&declared);
            assert_eq!(MADE.with_borrow(Vec::len), 1, "after {waits} waits");
        }
    }
}

/// APPLY-8, DRIFT-10: a run ends only when its objects were seen, or could have been: the next one believes their absence.
#[test]
fn what_cannot_be_read_back_has_its_window_before_the_run_ends() {
    let bench = bench();
    DENYING.set(true);
    let before = bench.now();
    bench.deployed(&program([resource("x_shy.a", [])]));
    DENYING.set(false);
    assert!(bench.now().duration_since(before).unwrap() >= LATE);
}
