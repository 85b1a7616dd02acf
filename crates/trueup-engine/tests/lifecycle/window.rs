//! Objects that come into sight late.

use std::cell::RefCell;
use std::time::{Duration, SystemTime};

use trueup_provider::{
    Context, Crud, Error, Found, Inputs, NativeProvider, NoConfig, Outputs, Prior, Recovery, Registry,
    Result, Sightings, Traits,
};

use crate::world::{Bench, program, resource};

/// How long a new object stays out of sight.
const LATE: Duration = Duration::from_secs(10);

thread_local! {
    /// When objects were made.
    static MADE: RefCell<Vec<SystemTime>> = const { RefCell::new(Vec::new()) };
}

#[derive(Outputs)]
struct Seen {
    #[trueup(identity)]
    id: u64,
}

/// A type whose first create is never answered, and whose lookup sees nothing for a while.
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
        if made == 1 { Err(Error::indeterminate("no answer")) } else { Ok(Seen { id: made }) }
    }

    async fn read(&self, _: &Context, prior: &Seen) -> Result<Seen> {
        Ok(Seen { id: prior.id })
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<Seen> {
        Ok(Seen { id: prior.outputs.id })
    }

    async fn delete(&self, _: &Context, _: &Seen) -> Result<()> {
        MADE.with_borrow_mut(|made| made.clear());
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
    assert!(!bench.deploy(&program([resource("x_shy.a", [])])).succeeded());
    bench
}

/// CRASH-1: absence must outlast the consistency window.
#[test]
fn what_is_not_seen_yet_is_not_made_again() {
    let bench = bench();
    bench.deployed(&program([resource("x_shy.a", [])]));
    assert_eq!(MADE.with_borrow(Vec::len), 1);
}

/// CRASH-1: nor forgotten.
#[test]
fn what_is_not_seen_yet_is_not_forgotten() {
    let bench = bench();
    bench.deployed(&program([]));
    assert_eq!(MADE.with_borrow(Vec::len), 0);
}
