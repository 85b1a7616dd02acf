//! Resources that only take time, and how long a deploy of them should take.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, Value};
use trueup_engine::{
    Cancellation, DeployOptions, Deployed, EventSink, Random, Reconciler, RunReport, SeededRandom,
};
use trueup_program::{Expression, Node, Program, ResourceDeclaration};
use trueup_provider::{
    Clock, Context, Crud, Inputs, NativeProvider, NoConfig, Outputs, Prior, Registry, Result, RuntimeClock,
    Traits,
};
use trueup_state::MemoryStore;

const RESOURCES: usize = 1_000;
const PARALLELISM: usize = 32;
/// How far back dependencies reach.
const REACH: u64 = 100;

/// Something that takes a while to make.
#[derive(Inputs)]
struct Slow {
    milliseconds: u64,
}

#[derive(Outputs)]
struct SlowOutput {
    milliseconds: u64,
}

impl Crud for Slow {
    type Output = SlowOutput;
    type Config = NoConfig;

    fn traits() -> Traits {
        Traits { read_back: false, ..Traits::default() }
    }

    async fn create(&self, context: &Context) -> Result<SlowOutput> {
        context.clock.sleep(Duration::from_millis(self.milliseconds)).await;
        Ok(SlowOutput { milliseconds: self.milliseconds })
    }

    async fn read(&self, _: &Context, prior: &SlowOutput) -> Result<SlowOutput> {
        Ok(SlowOutput { milliseconds: prior.milliseconds })
    }

    async fn update(&self, context: &Context, _: &Prior<Self>) -> Result<SlowOutput> {
        self.create(context).await
    }

    async fn delete(&self, _: &Context, _: &SlowOutput) -> Result<()> {
        Ok(())
    }
}

/// Work with random durations and dependencies.
pub(crate) struct Work {
    /// The milliseconds of each operation.
    durations: Vec<u64>,
    /// What each waits for: some before it.
    dependencies: Vec<Vec<usize>>,
}

/// How long one deploy took, and what it is measured by, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Makespan {
    pub(crate) took: u64,
    /// No order can be faster: the longest chain, or all work spread evenly.
    pub(crate) bound: f64,
    /// Without starting anything before all of the level above is done.
    pub(crate) level_by_level: u64,
}

impl Makespan {
    /// How much longer than the bound it took: 1 is as fast as can be.
    pub(crate) fn ratio(self) -> f64 {
        self.took as f64 / self.bound
    }
}

impl Work {
    /// The work of this seed: operations of 5 to 50 ms, each after up to 2 of the 100 before it.
    pub(crate) fn new(seed: u64) -> Self {
        let random = SeededRandom::new(seed);
        let below = |limit: u64| {
            let [a, b, c, d, e, f, g, h, ..] = random.bytes();
            u64::from_le_bytes([a, b, c, d, e, f, g, h]) % limit
        };
        let durations = (0..RESOURCES).map(|_| 5 + below(46)).collect();
        let dependencies = (0..RESOURCES as u64).map(|at| {
            let reach = at.min(REACH);
            let count = if reach == 0 { 0 } else { below(3) };
            (0..count).map(|_| (at - 1 - below(reach)) as usize).collect()
        });
        Work { durations, dependencies: dependencies.collect() }
    }

    /// Deploys it on a clock that stands still but for what everyone waits for.
    pub(crate) fn deploy(&self) -> Makespan {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let took = runtime.expect("there is room for a runtime").block_on(async {
            let clock = Arc::new(RuntimeClock::new());
            let registry = Registry::new().with(NativeProvider::new("wait").crud::<Slow>("slow"));
            let store = Arc::new(MemoryStore::on_clock(clock.clone()));
            let reconciler = Reconciler::new(store, registry, EventSink::new())
                .with(clock.clone(), Arc::new(SeededRandom::new(1)));
            let mut options = DeployOptions::new("test");
            options.plan.parallelism = PARALLELISM;
            let began = clock.now();
            let run = reconciler.deploy(&self.program(), &options, &Cancellation::new()).await;
            let took = clock.now().duration_since(began).expect("time goes on");
            assert!(report(run.expect("the program is sound")).succeeded(), "nothing fails here");
            took
        });
        let took = took.as_millis() as u64;
        let work: u64 = self.durations.iter().sum();
        let bound = (self.critical_path() as f64).max(work as f64 / PARALLELISM as f64);
        Makespan { took, bound, level_by_level: self.level_by_level() }
    }

    fn program(&self) -> Program {
        let address =
            |at: usize| Address::resource("wait_slow", &format!("slow-{at}")).expect("it is a name");
        let resources = self.durations.iter().zip(&self.dependencies).enumerate();
        let resources = resources.map(|(at, (duration, dependencies))| {
            let inputs = vec![("milliseconds".into(), Value::from(*duration).into())];
            let mut declared = ResourceDeclaration::new(address(at), Expression::new(Node::Object(inputs)));
            declared.depends_on = dependencies.iter().map(|other| address(*other)).collect();
            declared
        });
        Program { stack: "stack".into(), resources: resources.collect(), ..Program::default() }
    }

    fn critical_path(&self) -> u64 {
        let mut ends: Vec<u64> = Vec::new();
        for (duration, dependencies) in self.durations.iter().zip(&self.dependencies) {
            let begin = dependencies.iter().map(|other| ends[*other]).max().unwrap_or(0);
            ends.push(begin + duration);
        }
        ends.into_iter().max().unwrap_or(0)
    }

    /// How long it takes if each level begins when the one before it has ended, with the longest of it first.
    fn level_by_level(&self) -> u64 {
        let mut depths: Vec<usize> = Vec::new();
        let mut levels: Vec<Vec<u64>> = Vec::new();
        for (duration, dependencies) in self.durations.iter().zip(&self.dependencies) {
            let depth = dependencies.iter().map(|other| depths[*other] + 1).max().unwrap_or(0);
            depths.push(depth);
            levels.resize(levels.len().max(depth + 1), Vec::new());
            levels[depth].push(*duration);
        }
        levels.into_iter().map(spread).sum()
    }
}

/// How long operations take that wait for nothing but a free place.
fn spread(mut durations: Vec<u64>) -> u64 {
    durations.sort_unstable_by(|left, right| right.cmp(left));
    let mut places = [0; PARALLELISM];
    for duration in durations {
        if let Some(free) = places.iter_mut().min() {
            *free += duration;
        }
    }
    places.into_iter().max().unwrap_or(0)
}

fn report(deployed: Deployed) -> RunReport {
    match deployed {
        Deployed::Ran(report) => *report,
        Deployed::Planned(_) => unreachable!("a deploy was asked for"),
    }
}
