//! `cargo xtask soak`: the long versions of everything that `ci` does in short, for a number of minutes.
//!
//! Some parts take a fixed time: they run if they fit beside the others. The rest share the time that remains. The time is
//! divided again before each part, so that a part that ends early leaves its time to the next ones. Skipped and bounded
//! parts are reported, and are no failures. A part with a fixed time is never interrupted: builds that take longer than
//! usual come at the expense of the parts that follow.
//!
//! The commit decides which fixed part comes first, which configuration is compared with Terraform and, unless `--from`
//! does, where seeds start. So short soaks of different commits cover different ground, and a soak of the same commit does
//! the same again. Continuous integration names the first seed: a change must not fail because of a seed that would have
//! failed before it.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::cargo::{self, Ending};
use crate::failure::Failure;
use crate::repository::{self, Repository};
use crate::runner::OnFailure;
use crate::servers::Servers;
use crate::{phases, protocol, referee, sim, workspace};

/// The default duration.
const MINUTES: u64 = 60;

/// One of the long versions.
struct Part {
    name: &'static str,
    /// The work it adds to `ci`.
    purpose: &'static str,
    need: Need,
    run: fn(&Repository, Limits) -> Result<Ending, Failure>,
}

/// The time that a part needs, in minutes on two cores after `ci`, with the builds that `ci` lacks.
#[derive(Clone, Copy)]
enum Need {
    /// All or nothing.
    Fixed(u64),
    /// As much as there is: this is reserved, and the rest is divided in proportion to it.
    Share(u64),
}

/// Parts with a fixed time come before those that share the rest.
const PARTS: &[Part] = &[
    Part {
        name: "examples",
        purpose: "each example as a user's own crate; the program with its default features",
        need: Need::Fixed(6),
        run: |repository, _| {
            phases::examples_alone(repository)?;
            cargo::run(cargo::cargo(&repository.root).args(["build"]))?;
            Ok(Ending::Complete)
        },
    },
    Part {
        name: "api-docs",
        purpose: "the documentation of every crate",
        need: Need::Fixed(3),
        run: |repository, _| phases::api_docs(repository, &[]).map(|()| Ending::Complete),
    },
    Part {
        name: "protocol",
        purpose: "the messages of the plugin protocol match their sources",
        need: Need::Fixed(1),
        run: |repository, _| protocol::check(repository).map(|()| Ending::Complete),
    },
    Part {
        name: "simulator",
        purpose: "the whole crash table, thousands of seeds, every planted bug",
        need: Need::Fixed(17),
        run: |repository, _| sim::long_test(repository).map(|()| Ending::Complete),
    },
    Part {
        name: "referee",
        purpose: "every configuration of hashicorp/aws beside Terraform",
        need: Need::Fixed(20),
        run: |repository, _| referee::run(repository, &[]).map(|()| Ending::Complete),
    },
    Part {
        name: "tests",
        purpose: "hundreds of kills, larger property tests, Terraform's comparisons with one configuration of AWS",
        need: Need::Share(4),
        run: long_tests,
    },
    Part {
        name: "seeds",
        purpose: "rows of the crash table and new seeds in turn",
        need: Need::Share(7),
        run: |repository, limits| sim::explore_until(repository, limits.first_seed, limits.ends),
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

/// Kills for each minute of the long tests, and the fewest.
const KILLS_PER_MINUTE: u64 = 15;
const KILLS_MIN: u64 = 12;

/// The limits of one part.
#[derive(Clone, Copy)]
struct Limits {
    /// The number by which parts choose among their cases.
    turn: u64,
    first_seed: u64,
    ends: Instant,
}

/// The arguments of a soak.
#[derive(Debug, PartialEq, Eq)]
struct Arguments<'a> {
    minutes: u64,
    /// Instead of a seed that follows from the commit.
    first_seed: Option<u64>,
    /// All parts if none are named.
    parts: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    /// Reads `[--minutes M] [--from SEED] [PART]…`. Fails with a complaint.
    fn read(arguments: &[&'a str]) -> Result<Self, String> {
        let mut read = Arguments { minutes: MINUTES, first_seed: None, parts: Vec::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().ok_or_else(|| format!("`{argument}` needs a number"))?;
                value.parse::<u32>().map(u64::from).map_err(|_| format!("`{value}` is no number"))
            };
            match *argument {
                "--minutes" => read.minutes = number()?,
                "--from" => read.first_seed = Some(number()?),
                part => read.parts.push(part),
            }
        }
        // A soak of no minutes would skip every part, and succeed.
        if read.minutes == 0 {
            return Err("a soak takes a minute at least".to_owned());
        }
        let unknown = read.parts.iter().find(|name| PARTS.iter().all(|part| part.name != **name));
        unknown.map_or(Ok(()), |unknown| {
            let known: Vec<_> = PARTS.iter().map(|part| part.name).collect();
            Err(format!("`{unknown}` is no part of a soak: {}", known.join(", ")))
        })?;
        Ok(read)
    }
}

fn left(ends: Instant) -> Duration {
    ends.saturating_duration_since(now())
}

#[allow(clippy::disallowed_methods, reason = "measures real processes: no clock to inject")]
fn now() -> Instant {
    Instant::now()
}

/// Fails with a complaint about the arguments.
pub(crate) fn run(repository: &Repository, arguments: &[&str]) -> Result<ExitCode, String> {
    let Arguments { minutes, first_seed, parts: names } = Arguments::read(arguments)?;
    let commit = repository::git(&repository.root, &["rev-parse", "--short=7", "HEAD"]).unwrap_or_default();
    let turn = u64::from_str_radix(commit.trim(), 16).unwrap_or(0);
    let first_seed = first_seed.unwrap_or(turn);
    let mut parts = in_turn(PARTS, turn);
    parts.retain(|part| names.is_empty() || names.contains(&part.name));

    let began = now();
    let ends = began + minutes_of(minutes);
    println!("soak of {minutes} min; order and cases by commit {}, seeds from {first_seed}", commit.trim());
    for (part, share) in parts.iter().zip(divide(&needs(&parts), left(ends))) {
        let share = share.map_or_else(|| lacking(part), |share| format!("{:>5} s", share.as_secs()));
        println!("{:<10}{share}", part.name);
    }
    println!("A part that ends early leaves its time to those after it.");

    let reports = run_parts(repository, &parts, Limits { turn, first_seed, ends });
    println!("\nsoak of {minutes} min, ended after {} s", began.elapsed().as_secs());
    reports.iter().for_each(|report| println!("{}", row(report)));
    let has_failed = reports.iter().any(|report| matches!(report.outcome, Outcome::Failed(_)));
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Report<'a> {
    part: &'a Part,
    outcome: Outcome,
}

enum Outcome {
    Ended(Ending, Duration),
    Failed(Duration),
    Skipped,
}

fn run_parts<'a>(repository: &Repository, parts: &[&'a Part], whole: Limits) -> Vec<Report<'a>> {
    let mut reports = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let share = divide(&needs(&parts[index..]), left(whole.ends)).into_iter().next().flatten();
        let outcome = match share {
            None => Outcome::Skipped,
            Some(share) => {
                println!("\n== {}: {}", part.name, part.purpose);
                let began = now();
                match (part.run)(repository, Limits { ends: began + share, ..whole }) {
                    Ok(ending) => Outcome::Ended(ending, began.elapsed()),
                    Err(failure) => {
                        eprintln!("error: {failure}");
                        Outcome::Failed(began.elapsed())
                    }
                }
            }
        };
        reports.push(Report { part, outcome });
    }
    reports
}

fn row(Report { part, outcome }: &Report<'_>) -> String {
    let name = part.name;
    let alone = format!("cargo xtask soak {name}");
    match outcome {
        Outcome::Ended(Ending::Complete, took) => format!("{name:<10}in full {:>6} s", took.as_secs()),
        Outcome::Ended(Ending::CutOff, took) => {
            format!("{name:<10}bounded {:>6} s   longer: {alone}", took.as_secs())
        }
        Outcome::Ended(Ending::NotBuilt, took) => {
            format!("{name:<10}skipped {:>6} s of building were not enough: {alone}", took.as_secs())
        }
        Outcome::Failed(took) => format!("{name:<10}FAILED  {:>6} s   again: {alone}", took.as_secs()),
        Outcome::Skipped => format!("{name:<10}{}: {alone}", lacking(part)),
    }
}

fn lacking(part: &Part) -> String {
    match part.need {
        Need::Fixed(minutes) => format!("skipped, needs {minutes} min"),
        Need::Share(_) => "skipped, no time left".to_owned(),
    }
}

/// The parts with a fixed time, starting with another one at each turn, then those that share the rest.
fn in_turn(parts: &[Part], turn: u64) -> Vec<&Part> {
    let (mut fixed, sharing): (Vec<_>, Vec<_>) =
        parts.iter().partition(|part| matches!(part.need, Need::Fixed(_)));
    let first = turn % fixed.len().max(1) as u64;
    fixed.rotate_left(first as usize);
    fixed.into_iter().chain(sharing).collect()
}

fn needs(parts: &[&Part]) -> Vec<Need> {
    parts.iter().map(|part| part.need).collect()
}

/// Divides the time: a fixed part gets what it needs if that fits beside the reserved time and the fixed parts before it,
/// and the others share the rest.
fn divide(needs: &[Need], time: Duration) -> Vec<Option<Duration>> {
    let reserved = |need: &Need| match need {
        Need::Fixed(_) => 0,
        Need::Share(minutes) => *minutes,
    };
    let reserved_minutes: u64 = needs.iter().map(reserved).sum();
    let mut unreserved = time.saturating_sub(minutes_of(reserved_minutes));
    let mut shared = time;
    let fixed: Vec<_> = needs
        .iter()
        .map(|need| match need {
            Need::Fixed(minutes) if minutes_of(*minutes) <= unreserved => {
                let needed = minutes_of(*minutes);
                unreserved -= needed;
                shared -= needed;
                Some(needed)
            }
            _ => None,
        })
        .collect();
    let share = |need: &Need| {
        let share = shared.mul_f64(reserved(need) as f64 / reserved_minutes.max(1) as f64);
        Some(share).filter(|share| !share.is_zero())
    };
    needs.iter().zip(fixed).map(|(need, fixed)| fixed.or_else(|| share(need))).collect()
}

fn minutes_of(minutes: u64) -> Duration {
    Duration::from_secs(minutes.saturating_mul(60))
}

/// The long form of each test that has one; the number of kills fits the time.
fn long_tests(repository: &Repository, limits: Limits) -> Result<Ending, Failure> {
    let mut build = workspace::on_all(repository, &["test", "--no-run"])?;
    if cargo::run_until(&mut build, limits.ends)? != Ending::Complete {
        return Ok(Ending::NotBuilt);
    }
    let servers = Servers::start();
    // A failure ends the tests, or the deadline would hide it.
    let mut tests = workspace::all_tests(repository, OnFailure::Stop)?;
    let kills = (left(limits.ends).as_secs() * KILLS_PER_MINUTE / 60).max(KILLS_MIN);
    tests.env(trueup_test_servers::SIZE, "long").env("PROPTEST_CASES", "512");
    tests.env("TRUEUP_KILLS", kills.to_string());
    servers.share_with(&mut tests);
    tests.arg("--").args(LONG_FORMS);
    // Each configuration of AWS takes Terraform minutes: one at each turn.
    let mut others = referee::configurations_of_aws(repository)?;
    if !others.is_empty() {
        others.remove((limits.turn % others.len() as u64) as usize);
    }
    tests.args(others.iter().flat_map(|name| ["--skip".to_owned(), format!("referee::aws::{name}")]));
    cargo::run_until(&mut tests, limits.ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The minutes of each part in the order in which they run, rounded down.
    fn divided(minutes: u64, turn: u64) -> String {
        let parts = in_turn(PARTS, turn);
        let shares = divide(&needs(&parts), minutes_of(minutes));
        let told = parts.iter().zip(shares);
        let told = told.filter_map(|(part, share)| Some(format!("{} {}", part.name, share?.as_secs() / 60)));
        told.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn arguments_come_in_any_order() {
        let parts = vec!["seeds"];
        let read = Arguments::read(&["--from", "7", "seeds", "--minutes", "5"]);
        assert_eq!(read, Ok(Arguments { minutes: 5, first_seed: Some(7), parts }));
        let complaint = |arguments: &[&str]| Arguments::read(arguments).unwrap_err();
        assert_eq!(complaint(&["--minutes", "0"]), "a soak takes a minute at least");
        assert_eq!(complaint(&["--from"]), "`--from` needs a number");
        assert_eq!(complaint(&["--from", "first"]), "`first` is no number");
        assert!(complaint(&["weeds"]).starts_with("`weeds` is no part of a soak: examples, "));
    }

    #[test]
    fn fixed_parts_run_if_they_fit_and_the_others_share_the_rest() {
        assert_eq!(
            divided(60, 0),
            "examples 6, api-docs 3, protocol 1, simulator 17, referee 20, tests 4, seeds 8"
        );
        assert_eq!(divided(15, 0), "api-docs 3, protocol 1, tests 4, seeds 7");
        assert_eq!(divided(17, 0), "examples 6, tests 4, seeds 7");
        assert_eq!(divided(6, 0), "tests 2, seeds 3");
        assert_eq!(divided(1, 0), "tests 0, seeds 0");
        assert_eq!(divided(0, 0), "");
    }

    #[test]
    fn another_fixed_part_comes_first_at_each_turn() {
        assert_eq!(divided(15, 1), "api-docs 3, protocol 1, tests 4, seeds 7");
        assert_eq!(divided(15, 2), "protocol 1, api-docs 3, tests 4, seeds 7");
    }

    #[test]
    fn time_that_a_part_leaves_goes_to_those_after_it() {
        let needs = [Need::Fixed(3), Need::Share(4), Need::Share(6)];
        let shares =
            |minutes| divide(&needs, minutes_of(minutes)).into_iter().flatten().map(|it| it.as_secs());
        assert_eq!(shares(12).collect::<Vec<_>>(), [288, 432]);
        assert_eq!(shares(13).collect::<Vec<_>>(), [180, 240, 360]);
    }

    #[test]
    fn the_time_is_never_exceeded() {
        for (minutes, turn) in (1..90).flat_map(|minutes| (0..7).map(move |turn| (minutes, turn))) {
            let shares = divide(&needs(&in_turn(PARTS, turn)), minutes_of(minutes));
            assert!(shares.into_iter().flatten().sum::<Duration>() <= minutes_of(minutes));
        }
    }
}
