//! Planning resources that are recorded and unchanged: near-linear in their number.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use trueup_provider::{Clock, RuntimeClock};
use trueup_state::{MemoryStore, Store};
use trueup_store_sqlite::SqliteStore;

use crate::figures::{median, milliseconds};
use crate::watch::Watch;
use crate::{block_on, recorded, trivial};

/// How often each plan is made; the one in the middle counts.
const ROUNDS: usize = 3;

/// Where the records are.
#[derive(Clone, Copy)]
pub(crate) enum Kept {
    Memory,
    Sqlite,
}

pub(crate) fn times(sizes: &[usize]) {
    println!("\nplan of recorded, unchanged resources in chains of {}, memory store", trivial::CHAIN);
    println!("{:>10} {:>12} {:>14} {:>14}", "resources", "ms", "µs a resource", "× a doubling");
    let mut before: Option<(usize, f64)> = None;
    for &size in sizes {
        let took = median((0..ROUNDS).map(|_| time(size)).collect());
        let doubling = before.map_or("-".to_owned(), |(smaller, its)| {
            let doublings = (size as f64 / smaller as f64).log2();
            format!("{:.2}", (took / its).powf(1.0 / doublings))
        });
        println!("{size:>10} {took:>12.1} {:>14.2} {doubling:>14}", took * 1e3 / size as f64);
        before = Some((size, took));
    }
}

/// The milliseconds that one plan takes.
fn time(resources: usize) -> f64 {
    block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
        let store = MemoryStore::on_clock(clock.clone());
        recorded::record(&store, resources).await;
        plan(Arc::new(store), clock, resources).await
    })
}

async fn plan(store: Arc<dyn Store>, clock: Arc<dyn Clock>, resources: usize) -> f64 {
    let program = trivial::program(resources);
    let reconciler = trivial::reconciler(store, clock);
    let watch = Watch::start();
    let plan = reconciler.plan(&program, &trivial::options().plan).await.expect("the program is sound");
    let took = milliseconds(watch.elapsed());
    assert!(plan.is_empty() && plan.actions.len() == resources, "nothing changed");
    took
}

/// The most memory a plan takes, by resource, in processes of their own.
pub(crate) fn memory(smallest: usize, largest: usize) {
    println!("\npeak memory of a plan (VmHWM), in processes of their own");
    println!("{:>10} {:>12} {:>14} {:>16}", "store", "resources", "peak KiB", "before it KiB");
    for (kept, name) in [(Kept::Memory, "memory"), (Kept::Sqlite, "sqlite")] {
        let peaks = [smallest, largest].map(|resources| {
            let (peak, before) = child(name, kept, resources);
            println!("{name:>10} {resources:>12} {peak:>14} {before:>16}");
            (peak, before)
        });
        let each = |of: fn(&(u64, u64)) -> u64| {
            (of(&peaks[1]) as f64 - of(&peaks[0]) as f64) * 1024.0 / (largest - smallest) as f64
        };
        let (peak, before) = (each(|it| it.0), each(|it| it.1));
        println!(
            "{name:>10} {peak:>.0} bytes a resource, of which {before:.0} before the plan begins (at most 4096 in all)"
        );
    }
}

fn child(name: &str, kept: Kept, resources: usize) -> (u64, u64) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("state.db");
    if let Kept::Sqlite = kept {
        block_on(async {
            let store = SqliteStore::open(&path, Arc::new(RuntimeClock::new())).await.expect("it is new");
            recorded::record(&store, resources).await;
        });
    }
    let own = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(own);
    command.args(["--child", name, &resources.to_string()]).arg(&path);
    let answer = command.output().expect("this program can run itself");
    let text = String::from_utf8_lossy(&answer.stdout);
    let mut numbers = text.split_whitespace().filter_map(|word| word.parse().ok());
    match (numbers.next(), numbers.next()) {
        (Some(peak), Some(before)) => (peak, before),
        _ => panic!("the child said {text:?} {:?}", String::from_utf8_lossy(&answer.stderr)),
    }
}

/// Plans once and prints the peak of memory and what was in use before.
pub(crate) fn run_child(kept: Kept, resources: usize, path: PathBuf) {
    block_on(async {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
        let store: Arc<dyn Store> = match kept {
            Kept::Memory => {
                let store = MemoryStore::on_clock(clock.clone());
                recorded::record(&store, resources).await;
                Arc::new(store)
            }
            Kept::Sqlite => Arc::new(SqliteStore::open(path, clock.clone()).await.expect("it was made")),
        };
        // The plan makes a program of its own; this one shows what it weighs.
        let before = {
            let _program = trivial::program(resources);
            status("VmRSS:")
        };
        plan(store, clock, resources).await;
        println!("{} {before}", status("VmHWM:"));
    });
}

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
