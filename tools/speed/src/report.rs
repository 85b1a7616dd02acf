//! What was measured: everything that is shown is made from this, and it is what the JSON file holds.

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::makespan::Makespan;
use crate::meter::Usage;
use crate::operation::Operation;
use crate::rendering::Rendering;
use crate::statistics::{exponent, median};
use crate::tool::Named;
use crate::workload::{Shape, Workload};

/// The form of the JSON file.
pub(crate) const FORMAT: u32 = 2;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) format: u32,
    pub(crate) machine: Machine,
    /// The program itself first.
    pub(crate) tools: Vec<Named>,
    pub(crate) measurements: Vec<Measurement>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) limits: Vec<Limited>,
    pub(crate) makespan: Option<Makespan>,
    pub(crate) rendering: Option<Rendering>,
    /// What was measured again in a later run than the rest.
    #[serde(default)]
    pub(crate) again: Vec<String>,
    /// How long all of it took.
    pub(crate) took_s: f64,
}

/// What an operation took, once for each repetition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Measurement {
    pub(crate) workload: Workload,
    pub(crate) operation: Operation,
    pub(crate) tool: String,
    pub(crate) usages: Vec<Usage>,
    /// How often it made the disk confirm, in a run of its own; not counted for all.
    pub(crate) fsyncs: Option<u64>,
}

/// What was not measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) workload: Workload,
    pub(crate) operation: Operation,
    pub(crate) tool: String,
    pub(crate) why: String,
}

/// What a bare program needs for the rows that an operation wrote, once for each try.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Limited {
    pub(crate) workload: Workload,
    pub(crate) operation: Operation,
    pub(crate) commits: usize,
    pub(crate) rows: usize,
    /// In the same transactions.
    pub(crate) wall_s: Vec<f64>,
    /// In transactions of ten steps.
    pub(crate) tens_wall_s: Vec<f64>,
}

/// A figure of a measurement that is compared and fitted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Wall,
    Cpu,
    Peak,
    Written,
}

impl Figure {
    fn of(self, usage: &Usage) -> f64 {
        match self {
            Figure::Wall => usage.wall_s,
            Figure::Cpu => usage.cpu_s,
            Figure::Peak => usage.peak_bytes as f64,
            Figure::Written => usage.written_bytes as f64,
        }
    }
}

impl Measurement {
    /// The median of its repetitions.
    pub(crate) fn figure(&self, figure: Figure) -> Option<f64> {
        median(self.usages.iter().map(|usage| figure.of(usage)))
    }
}

impl Report {
    /// Takes out what is known of a workload, because it is measured again.
    pub(crate) fn forget(&mut self, workload: Workload) {
        self.measurements.retain(|it| it.workload != workload);
        self.skipped.retain(|it| it.workload != workload);
        self.limits.retain(|it| it.workload != workload);
    }

    /// Says of something that is measured again that it is, once.
    pub(crate) fn note_again(&mut self, name: String) {
        if !self.again.contains(&name) {
            self.again.push(name);
        }
    }

    pub(crate) fn find(&self, tool: &str, workload: Workload, operation: Operation) -> Option<&Measurement> {
        self.measurements
            .iter()
            .find(|it| it.tool == tool && it.workload == workload && it.operation == operation)
    }

    pub(crate) fn find_mut(
        &mut self,
        tool: &str,
        workload: Workload,
        operation: Operation,
    ) -> Option<&mut Measurement> {
        self.measurements
            .iter_mut()
            .find(|it| it.tool == tool && it.workload == workload && it.operation == operation)
    }

    pub(crate) fn figure(
        &self,
        tool: &str,
        workload: Workload,
        operation: Operation,
        figure: Figure,
    ) -> Option<f64> {
        self.find(tool, workload, operation)?.figure(figure)
    }

    /// The least figure of all but the program itself, and whose it is.
    pub(crate) fn best_peer(
        &self,
        workload: Workload,
        operation: Operation,
        figure: Figure,
    ) -> Option<(&str, f64)> {
        let peers = self.tools.iter().skip(1).map(|tool| tool.name.as_str());
        let figures = peers.filter_map(|it| Some((it, self.figure(it, workload, operation, figure)?)));
        figures.min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// The workloads in the order in which they were measured.
    pub(crate) fn workloads(&self) -> Vec<Workload> {
        let mut all: Vec<Workload> = Vec::new();
        let skipped = self.skipped.iter().map(|it| it.workload);
        for workload in self.measurements.iter().map(|it| it.workload).chain(skipped) {
            if !all.contains(&workload) {
                all.push(workload);
            }
        }
        all.sort();
        all
    }

    /// What a tool took for chains of different length: their number of resources, and the figure.
    pub(crate) fn curve(&self, tool: &str, operation: Operation, figure: Figure) -> Vec<(f64, f64)> {
        let chains = self.workloads().into_iter().filter(|it| it.shape == Shape::Chains);
        let point = |it: Workload| Some((it.resources as f64, self.figure(tool, it, operation, figure)?));
        chains.filter_map(point).collect()
    }

    /// How a figure grows with the number of resources, from 1,000 on.
    pub(crate) fn growth(&self, tool: &str, operation: Operation, figure: Figure) -> Option<f64> {
        let curve = self.curve(tool, operation, figure);
        exponent(&curve.into_iter().filter(|(resources, _)| *resources >= 1_000.0).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::End;

    /// Time grows with a power of the number of resources, memory not at all.
    fn report(powers: &[(&str, f64)]) -> Report {
        let measurements = powers.iter().flat_map(|(tool, power)| {
            [100, 1_000, 10_000].map(|resources| Measurement {
                workload: Workload { shape: Shape::Chains, resources },
                operation: Operation::Deploy,
                tool: (*tool).to_owned(),
                usages: vec![Usage {
                    wall_s: (resources as f64).powf(*power),
                    cpu_s: 1.0,
                    peak_bytes: 1_000_000,
                    written_bytes: 0,
                    end: End::Exited(0),
                }],
                fsyncs: None,
            })
        });
        let tools = powers.iter();
        Report {
            format: FORMAT,
            machine: Machine::default(),
            tools: tools.map(|(name, _)| Named { name: (*name).into(), version: (*name).into() }).collect(),
            measurements: measurements.collect(),
            skipped: Vec::new(),
            limits: Vec::new(),
            makespan: None,
            rendering: None,
            again: Vec::new(),
            took_s: 0.0,
        }
    }

    #[test]
    fn what_is_measured_again_takes_the_place_of_what_was() {
        let mut report = report(&[("trueup", 1.0), ("terraform", 2.0)]);
        let again = Workload { shape: Shape::Chains, resources: 1_000 };
        report.forget(again);
        assert!(report.find("trueup", again, Operation::Deploy).is_none());
        assert_eq!(report.measurements.len(), 4);
        report.note_again("chains".into());
        report.note_again("chains".into());
        assert_eq!(report.again, ["chains"]);
    }

    #[test]
    fn growth_is_the_power_of_the_number_of_resources() {
        let report = report(&[("trueup", 1.0), ("terraform", 2.0)]);
        let growth =
            |tool, figure| report.growth(tool, Operation::Deploy, figure).map(|it| (it * 1e6).round());
        assert_eq!(growth("trueup", Figure::Wall), Some(1e6));
        assert_eq!(growth("terraform", Figure::Wall), Some(2e6));
        assert_eq!(growth("trueup", Figure::Peak), Some(0.0));
    }

    #[test]
    fn the_best_peer_is_not_the_program_itself() {
        let report = report(&[("trueup", 0.5), ("terraform", 2.0), ("tofu", 1.0)]);
        let workload = Workload { shape: Shape::Chains, resources: 100 };
        let best = report.best_peer(workload, Operation::Deploy, Figure::Wall);
        assert_eq!(best.map(|(name, wall_s)| (name, wall_s.round())), Some(("tofu", 100.0)));
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let report = report(&[("trueup", 1.0)]);
        let text = serde_json::to_string(&report).expect("it is data");
        let again: Report = serde_json::from_str(&text).expect("it was written");
        assert_eq!(serde_json::to_string(&again).expect("it is data"), text);
    }
}
