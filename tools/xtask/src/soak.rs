//! `cargo xtask soak`: the long versions of everything that `ci` does in short, for as many minutes as one gives it.
//!
//! Steps run in the order of the table until the time is up. A step that no longer fits is skipped, and long tests are cut
//! off at the deadline. The report names both; neither is a failure.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::cargo;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::servers::Servers;
use crate::{phases, protocol, referee, sim, workspace};

/// The default duration.
pub(crate) const MINUTES: u64 = 60;

/// One of the long versions.
struct Step {
    name: &'static str,
    /// The work it adds to `ci`.
    purpose: &'static str,
    /// Its minimum duration on two cores, after `ci` has built everything.
    minutes_min: u64,
    run: fn(&Repository, Budget) -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step {
        name: "simulator",
        purpose: "the whole crash table, thousands of seeds, every planted bug; then seed after seed",
        minutes_min: 4,
        run: simulator,
    },
    Step {
        name: "examples",
        purpose: "each example as a user's own crate; the program with its default features",
        minutes_min: 2,
        run: |repository, _| {
            phases::examples_alone(repository)?;
            cargo::run(cargo::cargo(&repository.root).args(["build"]))
        },
    },
    Step {
        name: "api-docs",
        purpose: "the documentation of every crate",
        minutes_min: 3,
        run: |repository, _| phases::api_docs(repository, &[]),
    },
    Step {
        name: "protocol",
        purpose: "the messages of the plugin protocol are those that their sources give",
        minutes_min: 1,
        run: |repository, _| protocol::check(repository),
    },
    Step {
        name: "tests",
        purpose: "hundreds of kills, larger property tests, all of Terraform's comparisons but those of AWS",
        minutes_min: 4,
        run: long_tests,
    },
    Step {
        name: "referee",
        purpose: "every configuration of hashicorp/aws beside Terraform",
        minutes_min: 20,
        run: |repository, _| referee::run(repository, &[]),
    },
];

/// The tests that have a long form: their names contain one of these.
const LONG_FORMS: [&str; 18] = [
    "a_run_may_die",
    "it_says_what_the_memory",
    "contest::",
    "cycles::",
    "keep_the_contract",
    "keeps_the_contract",
    "kills::",
    "plugins::",
    "referee::",
    "laws::",
    "makespan",
    "differential",
    "hostile",
    "generated",
    "round_trips",
    "seals",
    "whatever_happens",
    "fuzzed_",
];

/// How much time there is.
#[derive(Clone, Copy)]
struct Budget {
    minutes: u64,
    ends: Instant,
}

impl Budget {
    fn left(self) -> Duration {
        self.ends.saturating_duration_since(now())
    }
}

#[allow(clippy::disallowed_methods, reason = "measures real processes: no clock to inject")]
fn now() -> Instant {
    Instant::now()
}

/// Runs for so many minutes.
pub(crate) fn run(repository: &Repository, minutes: u64) -> ExitCode {
    let budget = Budget { minutes, ends: now() + Duration::from_secs(minutes * 60) };
    let mut rows = Vec::new();
    let mut code = ExitCode::SUCCESS;
    for step in STEPS {
        let Step { name, purpose, minutes_min, run } = step;
        if budget.left() < Duration::from_secs(minutes_min * 60) {
            rows.push(format!("{name:<10}skipped: needs {minutes_min} minutes or more"));
            continue;
        }
        println!("\n== {name}: {purpose}");
        let began = now();
        let outcome = run(repository, budget);
        let seconds = began.elapsed().as_secs();
        rows.push(match outcome {
            Ok(()) => format!("{name:<10}passed {seconds:>6} s"),
            Err(failure) => {
                eprintln!("error: {failure}");
                code = ExitCode::FAILURE;
                format!("{name:<10}FAILED {seconds:>6} s")
            }
        });
    }
    println!("\nsoak of {minutes} minutes");
    rows.iter().for_each(|row| println!("{row}"));
    code
}

/// The fixed part, then new seeds for a tenth of the time.
fn simulator(repository: &Repository, budget: Budget) -> Result<(), Failure> {
    sim::long_test(repository)?;
    let minutes = (budget.minutes / 10).max(1);
    sim::run(repository, &["--minutes", &minutes.to_string()])
}

/// The long form of each test that has one; the number of kills fits the time.
fn long_tests(repository: &Repository, budget: Budget) -> Result<(), Failure> {
    let servers = Servers::start();
    let mut tests = workspace::all_tests(repository)?;
    tests.env(trueup_test_servers::SIZE, "long").env("PROPTEST_CASES", "512");
    tests.env("TRUEUP_KILLS", (budget.minutes * 6).to_string());
    servers.share_with(&mut tests);
    tests.arg("--").args(LONG_FORMS).args(["--skip", "referee::aws::"]);
    // The rest of a long soak is for the steps that follow.
    let share = now() + Duration::from_secs(budget.minutes * 60 * 2 / 5);
    cargo::run_until(&mut tests, share.min(budget.ends))
}
