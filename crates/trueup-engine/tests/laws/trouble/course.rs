//! A bench over the cloud that keeps books: steps are run one after another, and after each the books are compared with
//! the records.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trueup_core::Address;
use trueup_engine::{Action, Outcome, Plan, RunReport};
use trueup_program::Program;
use trueup_provider::{CallContext, Slot};
use trueup_state::{Generation, MemoryStore, Record, Scope, Status, Store as _};

use super::cloud::{Cloud, ELSEWHERE, Fault, HOME, Kind, Object, ObjectId, Spec};
use super::scenario::{FaultSeed, LastProgram, Run, Scenario, Step};
use super::sketch::{COLOURS, Item, Said, Serial, Sketch, name};
use super::types::registry;
use crate::lifecycle::world::Bench;

/// How many of the names that a resource may have are tried to find it (RECONCILE-4).
const SLOTS_SEARCHED: u64 = 2;

pub(crate) struct Course {
    bench: Bench,
    cloud: Cloud,
    /// The program that was run last.
    pub(crate) sketch: Sketch,
    has_lost_state: bool,
}

/// A program, and the objects of its resources.
pub(crate) struct Standing {
    sketch: Sketch,
    objects: BTreeMap<Serial, ObjectId>,
}

impl Course {
    /// The bench after the first deploy of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let cloud = Cloud::default();
        let mut bench = Bench::new();
        bench.others = registry(&cloud);
        let sketch = Sketch::new(&scenario.seeds);
        let mut course = Course { bench, cloud, sketch, has_lost_state: false };
        course.settle(1);
        course
    }

    /// Runs a step, and compares books and records. Whether all of it succeeded.
    pub(crate) fn run(&mut self, step: &Step) -> bool {
        step.edits.iter().for_each(|edit| self.sketch.edit(edit));
        self.restamp(&step.restamped);
        if step.loses_state {
            self.lose_state();
        }
        self.remove_unfindable();
        if step.squatters {
            self.squat();
        }
        let faults: Vec<Fault> = step.faults.iter().filter_map(|fault| self.fault(fault)).collect();
        self.cloud.books().faults = faults;
        let succeeded = match step.run {
            Run::Deploy => self.deploy(),
            Run::CutOff(waits) => self.cut_off(waits),
            Run::Destroy => self.destroy(&self.sketch.program()),
        };
        let mut books = self.cloud.books();
        books.faults.clear();
        books.restamped.clear();
        succeeded
    }

    /// Deploys until nothing is left to do, at most so often, and expects that all is as the program says.
    pub(crate) fn settle(&mut self, deploys_max: usize) {
        for _ in 0..deploys_max {
            if self.deploy() && self.plan().is_empty() {
                break;
            }
            // Nothing tells what objects use that outlived the state. Where something must be deleted first, a person has
            // to help.
            if self.has_lost_state && (self.sketch.has_stiff() || self.is_deleting()) {
                self.cloud.books().remove_unfamiliar(|_, _| true);
            }
        }
        self.expect_done();
    }

    /// Expects that nothing is left to do, and that all is as the program says.
    pub(crate) fn expect_done(&self) {
        let plan = self.plan();
        assert!(plan.is_empty(), "there is something left to do:\n{plan}");
        self.expect_settled();
        // What is as the program says uses what its record says.
        self.cloud.books().unfamiliar.clear();
    }

    /// Destroys everything, and expects that it goes.
    pub(crate) fn end(&self, program: LastProgram) {
        let mut last = Sketch::default();
        if program != LastProgram::Empty {
            last = self.sketch.clone();
        }
        if program == LastProgram::Elsewhere {
            last.region = Some(ELSEWHERE);
        }
        assert!(self.destroy(&last.program()), "the destroy failed");
    }

    /// The program and the objects of its resources, once all is settled.
    pub(crate) fn standing(&self) -> Standing {
        Standing { sketch: self.sketch.clone(), objects: self.objects() }
    }

    /// Expects that resources still have the objects they had, unless something called for others.
    pub(crate) fn expect_kept(&self, before: &Standing) {
        let now = self.objects();
        for (number, item) in &self.sketch.items {
            if self.keeps(*number, before) {
                let (had, has) = (before.objects.get(&item.serial), now.get(&item.serial));
                assert_eq!(had, has, "the object of {}", self.sketch.address(*number));
            }
        }
    }

    /// Whether nothing calls for another object of a resource.
    fn keeps(&self, number: usize, before: &Standing) -> bool {
        let item = &self.sketch.items[&number];
        let Some(had) = before.objects.get(&item.serial) else { return false };
        let Some(old) = before.sketch.items.values().find(|old| old.serial == item.serial) else {
            return false;
        };
        let host = item.host.map(|host| self.sketch.items[&host].serial);
        let old_host = old.host.map(|host| before.sketch.items[&host].serial);
        let stays = item.colour == old.colour && host == old_host && !self.sketch.is_stiff(number);
        stays
            && self.sketch.region.unwrap_or(HOME) == before.sketch.region.unwrap_or(HOME)
            && !self.cloud.books().removed_by_hand.contains(had)
            && item.host.is_none_or(|host| self.keeps(host, before))
    }

    fn plan(&self) -> Plan {
        self.bench.try_plan(&self.sketch.program()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn deploy(&mut self) -> bool {
        let program = self.sketch.program();
        let run =
            |course: &Course| course.bench.try_deploy(&program).unwrap_or_else(|error| panic!("{error}"));
        let succeeded = self.judged(run);
        self.sketch.note_moves(&self.recorded_addresses());
        succeeded
    }

    /// Destroys everything, and expects that it is gone if that is what the run says.
    fn destroy(&self, program: &Program) -> bool {
        let run =
            |course: &Course| course.bench.try_destroy(program).unwrap_or_else(|error| panic!("{error}"));
        let succeeded = self.judged(run);
        if succeeded {
            assert!(self.records().is_empty(), "{:#?}", self.records());
            let left: Vec<Object> = self.familiar_objects().into_values().collect();
            assert!(left.is_empty(), "{left:#?}");
        }
        succeeded
    }

    fn cut_off(&mut self, waits: usize) -> bool {
        let before = self.records();
        let finished = self.bench.deploy_cut_off(&self.sketch.program(), waits);
        self.cloud.books().failed.clear();
        self.expect_books(&before);
        self.sketch.note_moves(&self.recorded_addresses());
        finished
    }

    /// Runs something, and compares its report, the records and the books.
    fn judged(&self, run: impl FnOnce(&Course) -> RunReport) -> bool {
        let before = self.records();
        let report = run(self);
        self.expect_books(&before);
        let failed = std::mem::take(&mut self.cloud.books().failed);
        assert!(failed.is_empty() || !report.succeeded(), "the run says nothing of {failed:#?}");
        for (address, outcome) in &report.outcomes {
            if *outcome == Outcome::Done(Action::Delete) {
                self.expect_deleted(address, &before);
            }
        }
        report.succeeded()
    }

    /// Whether a delete has begun that must be finished before anything else becomes of its resource.
    fn is_deleting(&self) -> bool {
        let records = self.records();
        records.iter().filter_map(|it| it.current.as_ref()).any(|current| current.status == Status::Deleting)
    }

    fn recorded_addresses(&self) -> BTreeSet<Address> {
        self.records().into_iter().map(|record| record.address).collect()
    }

    fn records(&self) -> Vec<Record> {
        let snapshot = self.bench.run(self.bench.store.load(&Scope::new("stack", "test"))).unwrap();
        snapshot.records.into_iter().map(|(record, _)| Arc::unwrap_or_clone(record)).collect()
    }

    /// The objects of declared resources, as they are recorded.
    fn objects(&self) -> BTreeMap<Serial, ObjectId> {
        let recorded: BTreeMap<Address, ObjectId> = self
            .records()
            .iter()
            .filter_map(|it| Some((it.address.clone(), id(it.current.as_ref()?)?)))
            .collect();
        let items = self.sketch.items.iter();
        items
            .filter_map(|(number, it)| Some((it.serial, *recorded.get(&self.sketch.address(*number))?)))
            .collect()
    }

    /// The objects that are not somebody else's.
    fn owned_objects(&self) -> BTreeMap<ObjectId, Object> {
        let recorded = recorded_objects(&self.records());
        let mut objects = self.cloud.books().objects.clone();
        objects.retain(|id, object| !object.tags.is_empty() || recorded.contains(id));
        objects
    }

    /// The same without what outlived the state, which some run may still have to find.
    fn familiar_objects(&self) -> BTreeMap<ObjectId, Object> {
        let mut objects = self.owned_objects();
        objects.retain(|id, _| !self.cloud.books().unfamiliar.contains(id));
        objects
    }
}

/// What is done to the cloud and the state.
impl Course {
    fn restamp(&mut self, resources: &[usize]) {
        for at in resources {
            let Some(number) = self.sketch.pick(*at) else { continue };
            self.sketch.items.get_mut(&number).unwrap().size += 10;
            self.cloud.books().restamped.insert(name(number));
        }
    }

    fn lose_state(&mut self) {
        self.bench.store = MemoryStore::on_clock(self.bench.clock.clone());
        self.has_lost_state = true;
        self.cloud.books().lose_sight();
    }

    /// Lets somebody remove the objects that outlived the state and that no run can find again.
    fn remove_unfindable(&mut self) {
        let here = self.sketch.region.unwrap_or(HOME);
        let mut origins = self.sketch.origins();
        // The program cannot tell apart the objects of two resources that had one address.
        origins.retain(|origin| !self.sketch.reused.contains(origin));
        let origins: BTreeSet<String> = origins.iter().map(Address::to_string).collect();
        let paths: BTreeSet<String> = self.sketch.items.values().map(Item::path).collect();
        let recorded = recorded_objects(&self.records());
        self.cloud.books().remove_unfamiliar(|id, object| {
            let declared = object.tags.get("trueup:address").is_some_and(|origin| origins.contains(origin));
            let named = match object.kind {
                Kind::Page => paths.contains(&object.name),
                kind => kind.is_found_by_name() && object.slot.0 < SLOTS_SEARCHED,
            };
            let findable = declared && named && object.region == here;
            !findable && !recorded.contains(&id)
        });
    }

    /// Puts objects of somebody else where new resources look for theirs, and lets runs take them over.
    fn squat(&mut self) {
        self.bench.options.plan.adopt = true;
        let recorded = self.recorded_addresses();
        let region = self.sketch.region.unwrap_or(HOME);
        for (number, item) in &self.sketch.items {
            let address = self.sketch.address(*number);
            let name = match item.kind {
                Kind::Page => item.path(),
                _ => CallContext::new("stack", "test", address.clone()).physical_name(),
            };
            let mut books = self.cloud.books();
            // Two that had one address look under one name.
            let is_new = !recorded.contains(&address) && !self.sketch.has_history(&address);
            let is_taken = books.objects.values().any(|object| object.name == name);
            if item.kind.is_found_by_name() && is_new && !is_taken {
                let spec = Spec { size: 7, colour: "grey".to_owned(), ..Spec::default() };
                let (kind, tags) = (item.kind, BTreeMap::new());
                books.put(Object {
                    kind,
                    name,
                    region,
                    slot: Slot::FIRST,
                    tags,
                    spec,
                    seal: 0,
                    complete: true,
                });
            }
        }
    }

    /// The fault that a seed stands for: of something declared or recorded.
    fn fault(&self, seed: &FaultSeed) -> Option<Fault> {
        let declared = self.sketch.items.keys().map(|number| name(*number));
        let recorded = self.records().into_iter().map(|record| record.address.name().to_owned());
        let names: BTreeSet<String> = declared.chain(recorded).collect();
        let resource = names.iter().nth(seed.at % names.len().max(1))?.clone();
        let FaultSeed { operation, effect, ref class, lasts, .. } = *seed;
        Some(Fault { operation, resource, effect, class: class.clone(), lasts })
    }
}

/// The law that every run obeys, however it ends.
impl Course {
    /// Expects that no request was a mistake, that each object is held by one record, and that whatever dropped out of the
    /// records is gone.
    fn expect_books(&self, before: &[Record]) {
        let records = self.records();
        let mistakes = self.cloud.books().mistakes.clone();
        assert!(mistakes.is_empty(), "{mistakes:#?}");
        let all: Vec<ObjectId> = records.iter().flat_map(|it| it.generations().filter_map(id)).collect();
        let recorded = recorded_objects(&records);
        assert_eq!(all.len(), recorded.len(), "an object is recorded twice: {records:#?}");
        for (id, object) in self.familiar_objects() {
            let held = recorded.contains(&id) || is_intended(&records, &object);
            assert!(held, "object {id} is nowhere recorded: {object:#?}\n{records:#?}");
        }
        let dropped: Vec<ObjectId> = recorded_objects(before).difference(&recorded).copied().collect();
        let books = self.cloud.books();
        let left = dropped.iter().find(|id| books.objects.contains_key(id));
        assert!(left.is_none(), "object {left:?} is there, and no longer recorded");
    }

    /// Expects that nothing is left of what was recorded under an address.
    fn expect_deleted(&self, address: &Address, before: &[Record]) {
        let deleted: Vec<Record> = before.iter().filter(|it| it.address == *address).cloned().collect();
        let books = self.cloud.books();
        let left = recorded_objects(&deleted).into_iter().find(|id| books.objects.contains_key(id));
        assert!(left.is_none(), "{address} is reported deleted, and {left:?} is there");
    }

    /// Expects that each declared resource has one object, the recorded one, as the program says, and nothing else is
    /// there.
    fn expect_settled(&self) {
        let records = self.records();
        assert_eq!(records.len(), self.sketch.items.len(), "{records:#?}");
        for record in &records {
            let status = record.current.as_ref().map(|current| &current.status);
            assert_eq!(status, Some(&Status::Ready), "{}", record.address);
            assert!(record.deposed.is_empty(), "{} keeps older generations: {record:#?}", record.address);
        }
        let ids = self.objects();
        let there = self.owned_objects();
        let wanted: BTreeMap<ObjectId, (u64, Spec)> =
            self.sketch.items.keys().map(|number| self.wanted(*number, &ids, &there)).collect();
        let complete = |(id, it): (&ObjectId, &Object)| {
            assert!(it.complete, "half of {id} is made: {it:#?}");
            (*id, (it.region, it.spec.clone()))
        };
        assert_eq!(
            there.iter().map(complete).collect::<BTreeMap<_, _>>(),
            wanted,
            "the cloud and what is wanted"
        );
    }

    /// The object that a resource should have.
    fn wanted(
        &self,
        number: usize,
        ids: &BTreeMap<Serial, ObjectId>,
        there: &BTreeMap<ObjectId, Object>,
    ) -> (ObjectId, (u64, Spec)) {
        let item = &self.sketch.items[&number];
        let of = |number: usize| ids[&self.sketch.items[&number].serial];
        let copied = |(number, said): (usize, Said)| {
            let id = of(number);
            let object = there.get(&id);
            object.map_or_else(String::new, |object| match said {
                Said::Url => object.url(id),
                Said::Seal => object.seal(id),
            })
        };
        let spec = Spec {
            size: item.size,
            colour: COLOURS[item.colour].to_owned(),
            needs: self.sketch.needed(number).map(of),
            host: item.host.map(of),
            note: item.note.map(copied),
            bound: self.sketch.bound(number).map(copied),
        };
        (of(number), (self.sketch.region.unwrap_or(HOME), spec))
    }
}

fn id(generation: &Generation) -> Option<ObjectId> {
    generation.object.as_ref()?.outputs.get("id")?.to_string().parse().ok()
}

fn recorded_objects(records: &[Record]) -> BTreeSet<ObjectId> {
    records.iter().flat_map(|record| record.generations().filter_map(id)).collect()
}

/// Whether a create that has begun may have made an object.
fn is_intended(records: &[Record], object: &Object) -> bool {
    records.iter().any(|record| {
        let current = record.current.as_ref();
        let tagged = |key: &str, value: String| object.tags.get(key) == Some(&value);
        current.is_some_and(|current| {
            matches!(current.status, Status::Creating(_))
                && current.object.is_none()
                && tagged("trueup:address", record.origin.to_string())
                && tagged("trueup:generation", current.number.to_string())
        })
    })
}
