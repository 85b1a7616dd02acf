//! A bench and the program deployed on it: edits are made, deployed, and the end compared with the program.

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::Value;
use trueup_engine::{EngineError, Plan, RunReport, SavedPlan};
use trueup_state::{Record, Status};

use crate::laws::sketch::{Edit, Scenario, Sketch, Tampering, name, shown};
use crate::lifecycle::world::Bench;

pub(crate) struct Course {
    pub(crate) bench: Bench,
    /// The program that was deployed last.
    pub(crate) deployed: Sketch,
    /// The objects that were let go on purpose.
    pub(crate) left: BTreeSet<u64>,
    /// What was done to the cloud since then.
    meddled: Meddled,
}

/// Whose objects were changed or removed outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meddled {
    pub(crate) tampered: BTreeSet<usize>,
    pub(crate) vanished: BTreeSet<usize>,
}

/// A program that is not deployed yet, and what was done to the cloud meanwhile.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) sketch: Sketch,
    pub(crate) meddled: Meddled,
}

impl Course {
    /// The bench after the first deploy of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let mut course = Course {
            bench: Bench::new(),
            deployed: Sketch::default(),
            left: BTreeSet::new(),
            meddled: Meddled::default(),
        };
        let first = Sketch::new(&scenario.seeds);
        course.deploy(&first).expect("what is new is protected from nothing");
        course
    }

    /// Makes edits of what is deployed, those of the cloud at once.
    pub(crate) fn edit(&mut self, edits: &[Edit]) -> Edited {
        let mut sketch = self.deployed.clone();
        let records = self.bench.records();
        let object = |at: usize| {
            let number = self.deployed.pick(at)?;
            Some((number, id(records.get(&name(number))?.current.as_ref()?)?))
        };
        for edit in edits {
            sketch.edit(edit);
            match edit {
                Edit::Tamper(at, how) => {
                    let Some((number, id)) = object(*at) else { continue };
                    if let Some(thing) = self.bench.world.cloud().things.get_mut(&id) {
                        match how {
                            Tampering::Size => thing.size = 99,
                            Tampering::Colour => "grey".clone_into(&mut thing.colour),
                        }
                        self.meddled.tampered.insert(number);
                    }
                }
                Edit::Vanish(at) => {
                    let Some((number, id)) = object(*at) else { continue };
                    self.bench.world.cloud().things.remove(&id);
                    self.meddled.vanished.insert(number);
                }
                _ => {}
            }
        }
        Edited { sketch, meddled: self.meddled.clone() }
    }

    /// The plan of a program; `None` if it is refused for a reason that programs can have.
    pub(crate) fn plan(&self, sketch: &Sketch) -> Option<Plan> {
        accepted(self.bench.try_plan(&sketch.program()))
    }

    /// Deploys a program; `None` if it is refused. What is accepted succeeds, since nothing fails here.
    pub(crate) fn deploy(&mut self, sketch: &Sketch) -> Option<RunReport> {
        let let_go = self.retained(sketch);
        let report = accepted(self.bench.try_deploy(&sketch.program()))?;
        assert!(report.succeeded(), "{}\n{:#?}", report.plan, report.outcomes);
        self.left.extend(let_go);
        self.deployed = sketch.clone();
        self.meddled = Meddled::default();
        Some(report)
    }

    /// The same by a plan that was saved before.
    pub(crate) fn deploy_saved(&mut self, sketch: &Sketch, saved: &SavedPlan) {
        let let_go = self.retained(sketch);
        let report = self.bench.try_deploy_saved(&sketch.program(), saved);
        let report = report.unwrap_or_else(|error| panic!("{}\n{error}", saved.plan));
        assert!(report.succeeded(), "{}\n{:#?}", report.plan, report.outcomes);
        self.left.extend(let_go);
        self.deployed = sketch.clone();
        self.meddled = Meddled::default();
    }

    /// The objects that stay in the cloud if a program removes or replaces them.
    pub(crate) fn retained(&self, sketch: &Sketch) -> Vec<u64> {
        let records = self.bench.records();
        let retains = |own: &str, record: &Record| {
            let declared = sketch.items.iter().find(|(number, _)| name(**number) == own);
            declared.map_or(record.meta.retain, |(_, item)| item.options.retain)
        };
        let kept = records.iter().filter(|(own, record)| retains(own, record));
        kept.flat_map(|(_, record)| record.generations().filter_map(id)).collect()
    }

    /// Expects that records and cloud are as the program last deployed says, and nothing else is there.
    pub(crate) fn expect_settled(&self) {
        let records = self.bench.records();
        let declared: BTreeSet<String> = self.deployed.items.keys().copied().map(name).collect();
        let recorded: BTreeSet<String> = records.keys().cloned().collect();
        assert_eq!(declared, recorded, "declared and recorded");
        let url =
            |of: usize| text(records[&name(of)].current.as_ref().unwrap().object.as_ref().unwrap(), "url");
        let cloud = self.bench.world.cloud();
        let mut wanted = BTreeMap::new();
        for (number, item) in &self.deployed.items {
            let own = name(*number);
            let record = &records[&own];
            assert!(record.deposed.is_empty(), "{own} keeps older generations: {record:#?}");
            let current = record.current.as_ref().unwrap();
            assert_eq!(current.status, Status::Ready, "{own}");
            let inputs = &current.object.as_ref().unwrap().inputs.as_ref().unwrap().effective;
            let from = inputs.get("from").filter(|from| !from.is_null()).map(plain);
            assert_eq!(from, item.from.map(url), "what {own} has read");
            wanted.insert(id(current).unwrap(), (own, item.size, shown(&item.colour, url)));
        }
        let there =
            cloud.things.iter().filter(|(id, _)| !self.left.contains(*id) || wanted.contains_key(*id));
        let there: BTreeMap<u64, (String, u64, String)> =
            there.map(|(id, thing)| (*id, (owner(&thing.tags), thing.size, thing.colour.clone()))).collect();
        assert_eq!(there, wanted, "the cloud and what is wanted");
    }
}

/// A plan or run, or `None` if it was refused because of what a program says.
fn accepted<T>(outcome: Result<T, EngineError>) -> Option<T> {
    match outcome {
        Ok(outcome) => Some(outcome),
        Err(EngineError::Unsound(diagnostics)) => {
            for diagnostic in diagnostics.iter() {
                let told = diagnostic.to_string();
                let expected = told.contains("is protected and would be") || told.contains("create-first");
                assert!(expected, "refused: {told}");
            }
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The id of the object of a generation, if it is known.
pub(crate) fn id(generation: &trueup_state::Generation) -> Option<u64> {
    text(generation.object.as_ref()?, "id").parse().ok()
}

/// The name of the resource that an object belongs to, by its tags.
pub(crate) fn owner(tags: &BTreeMap<String, String>) -> String {
    tags["trueup:address"].rsplit('.').next().unwrap().to_owned()
}

fn text(state: &trueup_provider::State, output: &str) -> String {
    state.outputs.get(output).map(plain).unwrap_or_default()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
