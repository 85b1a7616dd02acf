//! Instructions of what is done most, counted by callgrind and held against a baseline: unlike time, they are the same on
//! a busy machine. They are not the same with another compiler, which the baseline therefore names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use trueup_test_servers::environment::program_on_path;

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::figures::count;
use crate::grid::Grid;
use crate::life::Life;
use crate::machine;
use crate::operation::Operation;
use crate::tool::{TRUEUP, Tool};
use crate::workload::{Shape, Workload};

/// Where the baseline is kept.
const BASELINE: &str = "tools/speed/instructions.json";
/// How far a count may be from it.
const TOLERANCE: f64 = 0.05;

/// What is counted.
struct Counted {
    name: &'static str,
    resources: usize,
    /// Whether everything is deployed before.
    deployed: bool,
    operation: Operation,
}

const COUNTED: [Counted; 5] = [
    Counted { name: "validate of 1", resources: 1, deployed: false, operation: Operation::Validate },
    Counted { name: "plan of 10,000", resources: 10_000, deployed: true, operation: Operation::Plan },
    Counted { name: "plan of 3,000", resources: 3_000, deployed: true, operation: Operation::Plan },
    Counted { name: "no-op deploy of 3,000", resources: 3_000, deployed: true, operation: Operation::Deploy },
    Counted { name: "deploy of 1,000", resources: 1_000, deployed: false, operation: Operation::Deploy },
];

/// Instructions by what they are of.
#[derive(Debug, Serialize, Deserialize)]
struct Baseline {
    rustc: String,
    instructions: BTreeMap<String, u64>,
}

/// Counts, and compares with the baseline or replaces it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    if program_on_path("valgrind").is_none() {
        return Err(Failure::new(
            "counting instructions takes valgrind, which is not here: install it (`apt-get install valgrind`) and \
             try again",
        ));
    }
    let folder = folder(arguments)?;
    let trueup = Tool::at(&TRUEUP, &arguments.trueup, &folder)?;
    let mut instructions = BTreeMap::new();
    for counted in &COUNTED {
        eprintln!("counting: {}", counted.name);
        instructions.insert(counted.name.to_owned(), instructions_of(counted, &trueup, &folder)?);
    }
    fs::remove_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
    let now = Baseline { rustc: machine::rustc(), instructions };
    let file = arguments.repository.join(BASELINE);
    if arguments.accept { accept(&now, &file) } else { compare(&now, &file) }
}

/// In memory, where that can be had: waiting for a disk takes no instructions, but minutes.
fn folder(arguments: &Arguments) -> Result<PathBuf, Failure> {
    let memory = Path::new("/dev/shm");
    let below = if memory.is_dir() { memory } else { &arguments.folder };
    let folder = below.join(format!("trueup-check-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error))?;
    folder.canonicalize().map_err(|error| Failure::at(&folder, error))
}

fn instructions_of(counted: &Counted, trueup: &Tool, folder: &Path) -> Result<u64, Failure> {
    let workload = Workload { shape: Shape::Chains, resources: counted.resources };
    let mut life = Life::begin(trueup, workload, None, folder)?;
    if counted.deployed {
        life.run(Operation::Deploy, crate::life::Under::Meter)?;
    }
    let words = trueup.arguments(counted.operation).unwrap_or_default();
    let counts = folder.join("callgrind.out");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", counts.display()));
    command.arg(&trueup.program).args(words);
    command.current_dir(life.stack()).env_clear().envs(trueup.environment(&life.home()));
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("cannot start valgrind: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("{} failed under valgrind: {said}", counted.name)));
    }
    life.end()?;
    let text = fs::read_to_string(&counts).map_err(|error| Failure::at(&counts, error))?;
    total(&text).ok_or_else(|| Failure::at(&counts, "callgrind wrote no total"))
}

/// The sum that callgrind writes at the end: `totals: 123`.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_prefix("totals:"))?;
    line.trim().parse().ok()
}

fn accept(now: &Baseline, file: &Path) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(now).map_err(|error| Failure::at(file, error))?;
    fs::write(file, text + "\n").map_err(|error| Failure::at(file, error))?;
    for (name, instructions) in &now.instructions {
        println!("{name}: {} instructions", count(*instructions as usize));
    }
    println!("These are now the baseline in {BASELINE}: commit it with what changed them.");
    Ok(())
}

fn compare(now: &Baseline, file: &Path) -> Result<(), Failure> {
    let text = fs::read(file).map_err(|error| Failure::at(file, error))?;
    let baseline: Baseline = serde_json::from_slice(&text).map_err(|error| Failure::at(file, error))?;
    let mut grid = Grid::new(["instructions", "baseline", "now", "change"], 1);
    let mut off = Vec::new();
    for (name, instructions) in &now.instructions {
        let before = baseline.instructions.get(name);
        let change = before.map(|before| *instructions as f64 / *before as f64 - 1.0);
        if change.is_none_or(|change| change.abs() > TOLERANCE) {
            off.push(name.as_str());
        }
        grid.add(vec![
            name.clone(),
            before.map_or("none".to_owned(), |it| count(*it as usize)),
            count(*instructions as usize),
            change.map_or("–".to_owned(), |it| format!("{:+.2} %", it * 100.0)),
        ]);
    }
    print!("{}", grid.text());
    if now.rustc != baseline.rustc {
        println!("The baseline was counted with {}, this with {}.", baseline.rustc, now.rustc);
    }
    if off.is_empty() {
        println!("All within {:.0} % of the baseline.", TOLERANCE * 100.0);
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} is more than {:.0} % off the baseline in {BASELINE}. If it is slower, find out where: `valgrind \
         --tool=callgrind` on the same command, before and after, then `callgrind_annotate`. If it is meant, or \
         faster, or comes from another compiler: `cargo xtask bench --accept`, and commit the baseline with the change",
        off.join(" and "),
        TOLERANCE * 100.0
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_stands_at_the_end() {
        assert_eq!(total("events: Ir\nfn=a\n1 2\n\ntotals: 4711\n"), Some(4711));
        assert_eq!(total("events: Ir\n"), None);
    }
}
