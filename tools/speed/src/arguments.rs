//! What one can ask for.

use std::path::PathBuf;

use crate::tool::PEERS;
use crate::workload::{Shape, Workload};

/// How it is called; `cargo xtask bench` says where the program and the repository are.
pub(crate) const HELP: &str = "\
Usage: cargo xtask bench [OPTIONS]

Measures the program as released, side by side with the tools on the path that do the same, and says what it took,
how it grows and whether the targets are met.

  --quick             smaller stacks and fewer repetitions: some minutes instead of three quarters of an hour
  --only SHAPE        only stacks of this shape: start-up, chains, fan, deep, modules, large-values, outputs, aws,
                      aws-cold; or only `makespan`, `rendering`. Can be given more than once
  --peer NAME         only beside this tool (terraform, tofu), or beside `none`. Can be given more than once
  --sizes N,N,…       chains of so many resources; else 100,1000,3000,10000,100000
  --repetitions K     how often each life of a stack is lived, at most; else 5
  --json FILE         write all figures there; else to speed/report.json in the target folder
  --from FILE         measure nothing, and show what is in such a file; with --only, measure that again and take all
                      else from the file
  --book              write the figures and the chart into docs/speed.md and docs/speed.svg
  --folder FOLDER     put the stacks there, on a real disk; else in speed/ in the target folder
  --trueup FILE       measure this program instead of building one
  --check             count instructions of what is done most, and compare them with the baseline
  --accept            count them, and make them the baseline
";

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) repository: PathBuf,
    pub(crate) trueup: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) json: Option<PathBuf>,
    pub(crate) from: Option<PathBuf>,
    pub(crate) peers: Vec<String>,
    pub(crate) only: Vec<String>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) repetitions: usize,
    pub(crate) quick: bool,
    pub(crate) book: bool,
    pub(crate) check: bool,
    pub(crate) accept: bool,
}

/// Names for `--only` beside shapes.
pub(crate) const MAKESPAN: &str = "makespan";
pub(crate) const RENDERING: &str = "rendering";
const NO_PEER: &str = "none";

impl Arguments {
    pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = Arguments {
            repository: PathBuf::from("."),
            trueup: PathBuf::from("target/release/trueup"),
            folder: PathBuf::from("target/speed"),
            json: None,
            from: None,
            peers: Vec::new(),
            only: Vec::new(),
            sizes: Vec::new(),
            repetitions: 0,
            quick: false,
            book: false,
            check: false,
            accept: false,
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` needs a value"));
            match word.as_str() {
                "--quick" => arguments.quick = true,
                "--book" => arguments.book = true,
                "--check" => arguments.check = true,
                "--accept" => arguments.accept = true,
                "--only" => arguments.only.push(known(value()?, &only_names())?),
                "--peer" => arguments.peers.push(known(value()?, &peer_names())?),
                "--sizes" => arguments.sizes = sizes(&value()?)?,
                "--repetitions" => arguments.repetitions = number(&value()?)?,
                "--json" => arguments.json = Some(value()?.into()),
                "--from" => arguments.from = Some(value()?.into()),
                "--folder" => arguments.folder = value()?.into(),
                "--trueup" => arguments.trueup = value()?.into(),
                "--repository" => arguments.repository = value()?.into(),
                other => return Err(format!("cannot make sense of `{other}`")),
            }
        }
        if arguments.repetitions == 0 {
            arguments.repetitions = if arguments.quick { 2 } else { 5 };
        }
        if arguments.sizes.is_empty() {
            let all = [100, 1_000, 3_000, 10_000, 100_000];
            arguments.sizes = all[..if arguments.quick { 4 } else { 5 }].to_vec();
        }
        Ok(arguments)
    }

    /// Whether something was asked for, by name or by naming nothing.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    pub(crate) fn wants_peer(&self, name: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|peer| peer == name)
    }

    /// Smaller stacks of a shape come first: they tell how long larger ones take.
    pub(crate) fn workloads(&self) -> Vec<Workload> {
        let resources = if self.quick { 100 } else { 500 };
        let shapes = Shape::ALL.into_iter().filter(|shape| self.wants(shape.name()));
        let workloads = shapes.flat_map(|shape| {
            let sizes = match shape {
                Shape::StartUp => vec![1],
                Shape::Chains => self.sizes.clone(),
                Shape::LargeValues => vec![if self.quick { 4 } else { 20 }],
                Shape::Fan | Shape::Deep | Shape::Modules | Shape::Outputs => vec![resources],
                // Terraform takes a minute for that one resource.
                Shape::Aws | Shape::AwsCold if self.quick && self.only.is_empty() => vec![],
                Shape::Aws | Shape::AwsCold => vec![1],
            };
            sizes.into_iter().map(move |resources| Workload { shape, resources })
        });
        workloads.collect()
    }
}

fn only_names() -> Vec<&'static str> {
    Shape::ALL.iter().map(|shape| shape.name()).chain([MAKESPAN, RENDERING]).collect()
}

fn peer_names() -> Vec<&'static str> {
    PEERS.iter().map(|peer| peer.name).chain([NO_PEER]).collect()
}

fn known(name: String, names: &[&str]) -> Result<String, String> {
    if names.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(format!("there is no `{name}`: it is one of {}", names.join(", ")))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| format!("`{text}` is no number"))
}

fn sizes(text: &str) -> Result<Vec<usize>, String> {
    let mut sizes: Vec<usize> = text.split(',').map(number).collect::<Result<_, _>>()?;
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Arguments, String> {
        Arguments::read(words.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn nothing_named_is_everything() {
        let arguments = read("").expect("nothing is fine");
        assert!(arguments.wants(MAKESPAN) && arguments.wants_peer("tofu"));
        assert_eq!(arguments.workloads().len(), 13);
        assert!(!read("--only chains --peer none").expect("both are known").wants(RENDERING));
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(read("--fast"), Err("cannot make sense of `--fast`".into()));
        assert_eq!(read("--json"), Err("`--json` needs a value".into()));
        assert_eq!(read("--sizes 10,many"), Err("`many` is no number".into()));
        assert!(read("--peer alchemy").is_err_and(|told| told.contains("terraform, tofu, none")));
    }
}
