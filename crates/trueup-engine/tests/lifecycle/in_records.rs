//! Objects that are nothing but their records.

use std::cell::Cell;

use trueup_provider::{
    Context, Crud, Error, Inputs, NativeProvider, NoConfig, Outputs, Prior, Recovery, Registry, Result,
    Traits,
};

use crate::lifecycle::world::{Bench, program, resource, thing};

thread_local! {
    /// How many are being made, and how many were at most.
    static MAKING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

#[derive(Outputs)]
struct Kept {
    #[trueup(identity)]
    id: u64,
}

/// A type that nobody may look at, because there is nothing to see.
#[derive(Inputs)]
struct Note {}

impl Crud for Note {
    type Output = Kept;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { in_records: true, ..Traits::default() }
    }

    fn recovery(&self) -> Recovery {
        Recovery::Token
    }

    async fn create(&self, context: &Context) -> Result<Kept> {
        let (now, most) = MAKING.get();
        MAKING.set((now + 1, most.max(now + 1)));
        context.clock.sleep(std::time::Duration::from_secs(1)).await;
        let (now, most) = MAKING.get();
        MAKING.set((now - 1, most));
        Ok(Kept { id: 1 })
    }

    async fn read(&self, _: &Context, _: &Kept) -> Result<Kept> {
        Err(Error::fatal("there is nothing to look at"))
    }

    async fn update(&self, _: &Context, prior: &Prior<Self>) -> Result<Kept> {
        Ok(Kept { id: prior.outputs.id })
    }

    async fn delete(&self, _: &Context, _: &Kept) -> Result<()> {
        Ok(())
    }
}

fn bench(parallelism: usize) -> Bench {
    let mut bench = Bench::new();
    bench.options.plan.parallelism = parallelism;
    bench.others = Registry::new().with(NativeProvider::new("x").crud::<Note>("note"));
    bench
}

/// DRIFT-1, APPLY-8: neither when planning nor after they are made.
#[test]
fn they_are_never_looked_at() {
    let bench = bench(10);
    let declared = program([resource("x_note.a", [])]);
    bench.deployed(&declared);
    assert!(bench.try_plan(&declared).unwrap().is_empty());
}

/// APPLY-2
#[test]
fn they_do_not_count_where_operations_are_limited_unless_to_one() {
    for (parallelism, peaks) in [(2, (12, 2)), (1, (1, 1))] {
        MAKING.set((0, 0));
        let bench = bench(parallelism);
        let mut declared = program([]);
        declared.resources = (0..12).map(|at| resource(&format!("x_note.n{at}"), [])).collect();
        declared.resources.extend((0..5).map(|at| thing(&format!("t{at}"), 1)));
        bench.deployed(&declared);
        assert_eq!((MAKING.get().1, bench.world.cloud().peak("create")), peaks);
    }
}
