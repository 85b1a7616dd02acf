//! What the engine costs by the number of resources: planning, deploying, destroying, memory, one step, and how
//! close latency-bound work comes to the time it must take.
//!
//!     cargo bench -p trueup-benches --bench engine              # all of it, up to 100,000 resources
//!     cargo bench -p trueup-benches --bench engine -- 10000     # none with more than 10,000
//!     cargo bench -p trueup-benches --bench engine -- plan      # one part: plan, deploy, memory, step, makespan or
//!                                                               # postgres, for which there must be a PostgreSQL
//!
//! These are tables, not statistics: the machine's disk decides much of them, so that a deploy stands beside a bare
//! program that writes the same rows (`limit`).
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

// The derives refer to the crate by this name.
extern crate trueup_provider as trueup;

mod deploy;
mod figures;
mod limit;
mod makespan;
mod plan;
mod postgres;
mod recorded;
mod step;
mod trace;
mod trivial;
#[path = "../../speed/src/watch.rs"]
mod watch;

use std::sync::Arc;

use trueup_provider::{Clock, RuntimeClock};
use trueup_state::MemoryStore;

#[expect(clippy::disallowed_methods, reason = "its command line")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if let [flag, store, resources, path] = arguments.as_slice()
        && flag == "--child"
    {
        let kept = if store == "sqlite" { plan::Kept::Sqlite } else { plan::Kept::Memory };
        plan::run_child(kept, resources.parse().expect("a number of resources"), path.into());
        return;
    }
    let largest = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(100_000);
    let parts: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|it| it.parse::<usize>().is_err()).collect();
    let wants = |part: &str| parts.is_empty() || parts.contains(&part);
    let up_to =
        |sizes: &[usize]| -> Vec<usize> { sizes.iter().copied().filter(|it| *it <= largest).collect() };
    block_on(check());
    if wants("plan") {
        plan::times(&up_to(&[1_000, 10_000, 25_000, 50_000, 100_000]));
    }
    if wants("deploy") {
        deploy::times(&up_to(&[1_000, 10_000]), 3);
    }
    if wants("memory") {
        plan::memory(1_000, largest.max(2_000));
    }
    if wants("step") {
        step::times(&up_to(&[100, 1_000, 10_000, 100_000]));
    }
    if wants("postgres") {
        postgres::times(&up_to(&[100, 1_000, 10_000, 100_000]), 3);
    }
    if wants("makespan") {
        makespan::ratios();
    }
}

/// Makes sure that what is measured is what happens.
async fn check() {
    let clock: Arc<dyn Clock> = Arc::new(RuntimeClock::new());
    let [deployed, made] = [(); 2].map(|()| MemoryStore::on_clock(clock.clone()));
    let reconciler = trivial::reconciler(Arc::new(deployed.clone()), clock);
    let run = reconciler
        .deploy(&trivial::program(25), &trivial::options(), &trueup_engine::Cancellation::new())
        .await;
    deploy::assert_done(run, 25);
    recorded::record(&made, 25).await;
    recorded::assert_as_deployed(&deployed, &made).await;
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("there is room for a runtime").block_on(work)
}
