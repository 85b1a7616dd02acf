//! What is true, as the log tells it: objects, records, and what each process was allowed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use trueup_core::Address;
use trueup_engine::{Plan, PlannedAction};
use trueup_provider::{CallContext, GenerationNumber, Slot};
use trueup_state::{FencingToken, Generation, Record, RecordId, Status, Step};

use crate::cloud::{Effect, Kind, ObjectId, Who};
use crate::log::{Happened, Orders};
use crate::scenario::{STACK, STAGE};

/// What is true by now.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) objects: BTreeMap<ObjectId, Known>,
    pub(crate) records: BTreeMap<RecordId, Arc<Record>>,
    pub(crate) processes: BTreeMap<u64, Allowed>,
    /// Objects of which some process was told that they are gone.
    pub(crate) told_gone: BTreeSet<ObjectId>,
    /// Which leases were given out.
    pub(crate) leases: BTreeMap<FencingToken, Given>,
    /// All writes that became durable, in order, by commit.
    pub(crate) commits: BTreeMap<u64, Vec<trueup_state::Write>>,
    pub(crate) acknowledged: BTreeSet<u64>,
}

/// A lease that was given out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    pub(crate) process: u64,
    /// Whether it was neither given back nor taken away.
    pub(crate) held: bool,
    /// When it ends unless it is renewed.
    pub(crate) until: Duration,
}

/// What is known of an object, dead or alive.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) live: bool,
    /// For which resource the engine made it, if it did.
    pub(crate) made_for: Option<(Address, GenerationNumber)>,
    pub(crate) name: Option<String>,
    pub(crate) uses: Vec<ObjectId>,
    /// Let go on purpose, or lost with the state and nothing can find it.
    pub(crate) forgotten: bool,
    /// Lost with the state, and to be found again by whoever declares it.
    pub(crate) lost: bool,
    /// Lost with the state for good.
    pub(crate) orphaned: bool,
    /// Found again and not changed since: what it uses, no record tells.
    pub(crate) found: bool,
    pub(crate) deleted_by_hand: bool,
}

/// How many of the names that a resource may have are tried to find it.
const SLOTS_SEARCHED: u64 = 2;

impl Known {
    /// Whether it is found by who declares it and has no record: what the program has named always, what the engine has
    /// named under one of the first names.
    fn can_be_found(&self, kind: Kind) -> bool {
        let Some((origin, _)) = self.made_for.as_ref().filter(|_| kind.is_found()) else { return false };
        let named = |slot: Slot| {
            let context = CallContext::new(STACK, STAGE, origin.clone());
            Some(CallContext { slot: Some(slot), ..context }.physical_name()) == self.name
        };
        // The program may call a leaf otherwise by now.
        kind == Kind::Page || kind != Kind::Leaf && (0..SLOTS_SEARCHED).map(Slot).any(named)
    }
}

/// What a process was allowed, and how things were when it was.
#[derive(Default)]
pub(crate) struct Allowed {
    pub(crate) plan: Option<Plan>,
    /// What the program protects, or its record if it is not declared.
    pub(crate) protected: Vec<String>,
    /// What the program lets go rather than delete, or its record if it is not declared.
    pub(crate) retained: Vec<String>,
    /// The records when the plan was approved.
    pub(crate) baseline: BTreeMap<RecordId, Arc<Record>>,
    /// When it was first told to stop.
    pub(crate) cancelled: Option<Duration>,
    /// The records with which something was begun after that.
    pub(crate) begun_late: BTreeSet<RecordId>,
    pub(crate) orders: Orders,
}

impl Allowed {
    /// What was planned for an address.
    pub(crate) fn action(&self, address: &Address) -> Option<&PlannedAction> {
        self.plan.as_ref()?.actions.iter().find(|action| action.address == *address)
    }

    /// What was recorded of a generation of an address when the plan was approved.
    pub(crate) fn generation(&self, address: &Address, number: GenerationNumber) -> Option<&Generation> {
        let moved = self.plan.iter().flat_map(|plan| &plan.moves).find(|moved| moved.to == *address);
        let before = moved.map_or(address, |moved| &moved.from);
        self.baseline.values().find(|record| record.address == *before)?.generation(number)
    }
}

/// The object of a generation, as far as it is known.
pub(crate) fn object_of(generation: &Generation) -> Option<ObjectId> {
    generation.object.as_ref()?.outputs.get("id")?.as_str().map(str::to_owned)
}

impl Watch {
    /// The record that has an address now.
    pub(crate) fn record_at(&self, address: &Address) -> Option<&Arc<Record>> {
        self.records.values().find(|record| record.address == *address)
    }

    /// Whether a record knows an object.
    pub(crate) fn is_recorded(&self, object: &str) -> bool {
        let mut generations = self.records.values().flat_map(|record| record.generations());
        generations.any(|generation| object_of(generation).as_deref() == Some(object))
    }

    /// The origin and generation of a record other than this one that knows an object.
    fn holder_beside(&self, object: &str, record: RecordId) -> Option<(Address, GenerationNumber)> {
        let others = self.records.iter().filter(|(id, _)| **id != record);
        let mut generations = others.flat_map(|(_, it)| it.generations().map(move |own| (it, own)));
        let (holder, generation) =
            generations.find(|(_, generation)| object_of(generation).as_deref() == Some(object))?;
        Some((holder.origin.clone(), generation.number))
    }

    /// The objects that live.
    pub(crate) fn live(&self) -> impl Iterator<Item = (&ObjectId, &Known)> {
        self.objects.iter().filter(|(_, known)| known.live)
    }

    pub(super) fn learn(&mut self, at: Duration, happened: &Happened) {
        match happened {
            Happened::Began { process, orders, .. } => {
                self.processes.insert(*process, Allowed { orders: *orders, ..Allowed::default() });
            }
            Happened::Approved { process, plan, protected, retained } => {
                let baseline = self.records.clone();
                let allowed = self.processes.entry(*process).or_default();
                allowed.plan = Some((**plan).clone());
                allowed.protected.clone_from(protected);
                allowed.retained.clone_from(retained);
                allowed.baseline = baseline;
            }
            Happened::Cancelled { process } => {
                self.processes.entry(*process).or_default().cancelled.get_or_insert(at);
            }
            Happened::Effect { who, object, effect } => self.learn_effect(who, object, effect),
            Happened::ToldGone { object } => {
                self.told_gone.insert(object.clone());
            }
            Happened::Leased { process, token, until } => {
                self.leases.values_mut().for_each(|given| given.held = false);
                self.leases.insert(*token, Given { process: *process, held: true, until: *until });
            }
            Happened::Unleased { token } => {
                self.leases.entry(*token).and_modify(|given| given.held = false);
            }
            Happened::Committed { process, sequence, writes, .. } => {
                for write in writes {
                    self.learn_begun(*process, write);
                    self.learn_write(write);
                }
                self.commits.insert(*sequence, writes.clone());
            }
            Happened::Acknowledged { sequence } => {
                self.acknowledged.insert(*sequence);
            }
            Happened::StateLost => self.lose(),
            Happened::Killed { .. }
            | Happened::Ended { .. }
            | Happened::Asked { .. }
            | Happened::Refused { .. }
            | Happened::Note(_) => {}
        }
    }

    fn learn_effect(&mut self, who: &Who, object: &ObjectId, effect: &Effect) {
        match effect {
            Effect::Created { name, uses, .. } => {
                let made_for = match who {
                    Who::Engine(caller) => Some((caller.origin.clone(), caller.generation)),
                    Who::Hand => None,
                };
                let known = Known {
                    live: true,
                    made_for,
                    name: name.clone(),
                    uses: uses.clone(),
                    forgotten: false,
                    lost: false,
                    orphaned: false,
                    found: false,
                    deleted_by_hand: false,
                };
                self.objects.insert(object.clone(), known);
            }
            Effect::Changed { uses, .. } => {
                if let Some(known) = self.objects.get_mut(object) {
                    known.uses.clone_from(uses);
                    known.found &= *who == Who::Hand;
                }
            }
            Effect::Deleted => {
                if let Some(known) = self.objects.get_mut(object) {
                    known.live = false;
                    known.deleted_by_hand = *who == Who::Hand;
                }
            }
        }
    }

    fn learn_write(&mut self, write: &trueup_state::Write) {
        let id = write.entry.id;
        if let Step::Dropped { number } = &write.entry.step {
            let record = self.records.get(&id);
            let object = record.and_then(|record| record.generation(*number)).and_then(object_of);
            let made_for = record.map(|record| (record.origin.clone(), *number));
            let held = |it: &ObjectId| Some((it.clone(), self.holder_beside(it, id)?));
            let shared: BTreeMap<ObjectId, (Address, GenerationNumber)> =
                self.objects.keys().filter_map(held).collect();
            for (id, known) in &mut self.objects {
                match shared.get(id) {
                    // From now on it is the other one's.
                    Some(other) if known.made_for == made_for => known.made_for = Some(other.clone()),
                    Some(_) => {}
                    None => known.forgotten |= object.as_ref() == Some(id) || known.made_for == made_for,
                }
            }
        }
        if let Step::Adopted { object, .. } = &write.entry.step
            && let Some(id) = object.outputs.get("id").and_then(|id| id.as_str())
            && let Some(known) = self.objects.get_mut(id)
        {
            known.found |= known.lost;
            (known.forgotten, known.lost, known.orphaned) = (false, false, false);
            if let (Some(made_for), Step::Adopted { origin, number, .. }) =
                (&mut known.made_for, &write.entry.step)
            {
                // Without marks, nobody knows which generation it was.
                *made_for = (origin.clone(), *number);
            }
        }
        match &write.record {
            Some(record) => self.records.insert(id, record.clone()),
            None => self.records.remove(&id),
        };
    }

    /// Nothing is recorded any more. What cannot be looked for is nobody's from now on.
    fn lose(&mut self) {
        self.records.clear();
        self.leases.clear();
        self.commits.clear();
        self.acknowledged.clear();
        for (id, known) in &mut self.objects {
            let can_be_found = Kind::ALL.iter().any(|kind| kind.is_of(id) && known.can_be_found(*kind));
            known.lost = can_be_found;
            known.orphaned |= !can_be_found;
            known.forgotten |= !can_be_found;
        }
    }

    /// Counts what is begun although its process was told to stop.
    fn learn_begun(&mut self, process: u64, write: &trueup_state::Write) {
        let begins = matches!(
            write.entry.step,
            Step::CreateBegun { .. } | Step::UpdateBegun { .. } | Step::DeleteBegun { .. }
        );
        let busy = self
            .records
            .get(&write.entry.id)
            .is_some_and(|record| record.generations().any(|generation| generation.status != Status::Ready));
        if let Some(allowed) = self.processes.get_mut(&process).filter(|it| it.cancelled.is_some())
            && begins
            && !busy
        {
            allowed.begun_late.insert(write.entry.id);
        }
    }
}
