//! Deploying and destroying with the SQLite store, each step durable, beside what the machine allows.

use std::sync::Arc;

use trueup_engine::{Cancellation, Deployed, EngineError};
use trueup_provider::{Clock, RuntimeClock};
use trueup_store_sqlite::SqliteStore;

use crate::figures::{median, milliseconds};
use crate::limit::Limit;
use crate::trace::{Commit, Traced, steps};
use crate::watch::Watch;
use crate::{block_on, trivial};

/// What a run took, and what the bare program took for the same rows.
struct Measured {
    ms: f64,
    /// Of which within commits.
    store_ms: f64,
    limit_ms: f64,
    commits: u64,
    steps: usize,
    rows: usize,
    bytes: usize,
}

pub(crate) fn times(sizes: &[usize], rounds: usize) {
    println!(
        "\ndeploy and destroy with the SQLite store, durable per step; the limit writes the same rows bare"
    );
    println!(
        "{:>8} {:>10} {:>10} {:>10} {:>8} {:>8} {:>7} {:>8} {:>8} {:>10} {:>8}",
        "", "resources", "ms", "in store", "commits", "steps", "a comm.", "rows", "KiB", "limit ms", "ratio"
    );
    for &size in sizes {
        let (deploys, destroys): (Vec<_>, Vec<_>) = (0..rounds).map(|_| round(size)).unzip();
        for (what, measured) in [("deploy", deploys), ("destroy", destroys)] {
            for it in &measured {
                println!(
                    "{what:>8} {size:>10} {:>10.0} {:>10.0} {:>8} {:>8} {:>7.1} {:>8} {:>8} {:>10.0} {:>8.2}",
                    it.ms,
                    it.store_ms,
                    it.commits,
                    it.steps,
                    it.steps as f64 / it.commits as f64,
                    it.rows,
                    it.bytes / 1024,
                    it.limit_ms,
                    it.ms / it.limit_ms
                );
            }
            let ratio = median(measured.iter().map(|it| it.ms / it.limit_ms).collect());
            println!("{what:>8} {size:>10} median ratio {ratio:.2}");
        }
    }
}

/// A deploy and a destroy, each followed by its limit.
fn round(resources: usize) -> (Measured, Measured) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
        let store = SqliteStore::open(folder.path().join("state.db"), clock.clone()).await;
        let file = Arc::new(store.expect("the folder can be written"));
        let store = Arc::new(Traced::new(file.clone()));
        let mut limit = Limit::new(folder.path());
        let reconciler = trivial::reconciler(store.clone(), clock);
        let (options, cancellation) = (trivial::options(), Cancellation::new());
        let program = trivial::program(resources);

        let (watch, before) = (Watch::start(), file.commits());
        assert_done(reconciler.deploy(&program, &options, &cancellation).await, resources);
        let deploy = measured(watch, &store, file.commits() - before, &mut limit);

        let (watch, before) = (Watch::start(), file.commits());
        assert_done(reconciler.destroy(&trivial::empty_program(), &options, &cancellation).await, resources);
        (deploy, measured(watch, &store, file.commits() - before, &mut limit))
    })
}

fn measured(watch: Watch, store: &Traced, commits: u64, limit: &mut Limit) -> Measured {
    let ms = milliseconds(watch.elapsed());
    let trace = store.take();
    let limit_ms = milliseconds(limit.replay(&trace));
    Measured {
        ms,
        store_ms: trace.iter().map(|it| milliseconds(it.took)).sum(),
        limit_ms,
        commits,
        steps: steps(&trace),
        rows: trace.iter().map(Commit::rows).sum(),
        bytes: trace.iter().flat_map(Commit::sizes).sum(),
    }
}

/// Panics unless a run did all there was to do.
pub(crate) fn assert_done(run: Result<Deployed, EngineError>, outcomes: usize) {
    match run.expect("the program is sound") {
        Deployed::Ran(report) => {
            let wrong = report.outcomes.iter().find(|(_, it)| !matches!(it, trueup_engine::Outcome::Done(_)));
            assert!(wrong.is_none(), "{wrong:?}");
            assert_eq!(report.outcomes.len(), outcomes, "all is done");
        }
        Deployed::Planned(_) => panic!("only planned"),
    }
}
