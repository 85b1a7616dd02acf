//! The cost of recording one step, with few and with many records: it must not grow (STATE-6).

use std::sync::Arc;

use trueup_engine::{Cancellation, Random, SeededRandom};
use trueup_provider::{Clock, RuntimeClock};
use trueup_state::{Batch, RecordId, Store};
use trueup_store_sqlite::SqliteStore;

use crate::figures::{median, microseconds, milliseconds};
use crate::trace::Traced;
use crate::watch::Watch;
use crate::{block_on, deploy, recorded, trivial};

/// How many commits are measured.
const COMMITS: usize = 300;

/// How many resources are changed.
const CHANGED: usize = 100;

pub(crate) fn times(sizes: &[usize]) {
    heading("SQLite");
    for &size in sizes {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        block_on(async {
            let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
            let store = SqliteStore::open(folder.path().join("state.db"), clock.clone()).await;
            measure(Arc::new(store.expect("the folder can be written")), clock, size).await;
        });
    }
}

/// Names a store, and the columns of [`measure`].
pub(crate) fn heading(store: &str) {
    println!("\ncost of a step with so many resources recorded, {store} store");
    println!(
        "{:>10} {:>20} {:>24} {:>16} {:>20}",
        "recorded", "commit of one, µs", "step of a deploy, µs", "first commit ms", "lines in the first"
    );
}

/// Fills an empty store, and prints what a step costs then.
pub(crate) async fn measure(store: Arc<dyn Store>, clock: Arc<dyn Clock>, size: usize) {
    recorded::record(&*store, size).await;
    let (step, first, lines) = changing(store.clone(), clock, size).await;
    let commit = committing(&*store, size).await;
    println!("{size:>10} {commit:>20.0} {step:>24.0} {first:>16.1} {lines:>20}");
}

/// The median of commits of one step each, straight to the store.
async fn committing(store: &dyn Store, recorded: usize) -> f64 {
    let (scope, lease) = (trivial::scope(), recorded::lease(store).await);
    let random = SeededRandom::new(8);
    let mut took = Vec::new();
    for at in recorded..recorded + COMMITS {
        let write = recorded::write(at, RecordId::from_bytes(random.bytes()));
        let batch = Batch { writes: vec![write], ..Batch::default() };
        let watch = Watch::start();
        store.commit(&scope, lease.token, &batch).await.expect("the store can be written");
        took.push(microseconds(watch.elapsed()));
    }
    median(took)
}

/// A deploy that changes some: the median of the time by step from commit to commit, and the first commit, which holds
/// what the plan decided for all.
async fn changing(store: Arc<dyn Store>, clock: Arc<dyn Clock>, recorded: usize) -> (f64, f64, usize) {
    let store = Arc::new(Traced::new(store));
    let reconciler = trivial::reconciler(store.clone(), clock);
    let program = trivial::changed_program(recorded, CHANGED);
    let run = reconciler.deploy(&program, &trivial::options(), &Cancellation::new()).await;
    deploy::assert_done(run, CHANGED);
    let trace = store.take();
    let first = trace.first().expect("something was committed");
    let each = trace.windows(2).filter(|pair| !pair[1].journal.is_empty());
    let each =
        each.map(|pair| microseconds(pair[1].returned - pair[0].returned) / pair[1].journal.len() as f64);
    let each = median(each.collect());
    (each, milliseconds(first.took), first.history.len())
}
