//! The one function through which records change.
//!
//! It is total: each step on each record either gives the next record or says why it cannot happen there. Stores that
//! keep only the journal rebuild records with it, so it decides from its arguments alone.

use std::collections::BTreeSet;

use trueup_core::Address;
use trueup_provider::{GenerationNumber, State};

use crate::entry::{Entry, Step};
use crate::record::{Attempt, Generation, Metadata, Record, RecordId, Status};
use crate::sealing::outline;

/// A step that cannot happen to a record as it is: a mistake in whoever wrote it, or a damaged journal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the step `{step}` cannot follow here: {why}")]
pub struct IllegalStep {
    /// The step's name.
    pub step: &'static str,
    /// What is in its way.
    pub why: &'static str,
}

/// The record after a step; `None` when nothing is left to keep.
pub fn transition(record: Option<Record>, entry: &Entry) -> Result<Option<Record>, IllegalStep> {
    let illegal = |why| IllegalStep { step: entry.step.name(), why };
    if record.as_ref().is_some_and(|record| record.id != entry.id) {
        return Err(illegal("it is about another record"));
    }
    let next = match (&entry.step, record) {
        (Step::CreateBegun { address, origin, meta, number, slot, attempt }, record) => {
            let generation = Generation {
                number: *number,
                slot: *slot,
                object: None,
                bindings: Vec::new(),
                dependencies: None,
                status: Status::Creating(Box::new(attempt.clone())),
                written_at: entry.at,
                configuration: entry.configuration,
            };
            begin_generation(entry.id, record, address, origin, meta, generation).map_err(illegal)?
        }
        (Step::Adopted { address, origin, meta, number, slot, object }, record) => {
            let generation = Generation {
                number: *number,
                slot: *slot,
                object: Some(object.clone()),
                bindings: Vec::new(),
                dependencies: None,
                status: Status::Ready,
                written_at: None,
                configuration: entry.configuration,
            };
            match record {
                Some(record) if !is_older(&record, *number) => {
                    adopt_unfinished(record, address, meta, generation).map_err(illegal)?
                }
                record => {
                    begin_generation(entry.id, record, address, origin, meta, generation).map_err(illegal)?
                }
            }
        }
        (Step::Resealed { record }, before) => resealed(entry.id, before, record).map_err(illegal)?,
        (Step::Copied { record }, None) => resealed(entry.id, None, record).map_err(illegal)?,
        (Step::Copied { .. }, Some(_)) => return Err(illegal("there is such a record already")),
        (_, None) => return Err(illegal("there is no such record")),
        (_, Some(record)) => return change(record, entry).map_err(illegal),
    };
    Ok(Some(next))
}

/// Makes a generation the current one; what was current is deposed.
fn begin_generation(
    id: RecordId,
    record: Option<Record>,
    address: &Address,
    origin: &Address,
    meta: &Metadata,
    generation: Generation,
) -> Result<Record, &'static str> {
    let mut record = match record {
        None => Record {
            id,
            address: address.clone(),
            origin: origin.clone(),
            meta: Metadata::default(),
            current: None,
            deposed: Vec::new(),
            left_slots: Vec::new(),
        },
        Some(record) => record,
    };
    if record.address != *address {
        return Err("the record has another address");
    }
    // The same generation once more: its object is gone, or never came to be.
    record.current.take_if(|current| {
        let same = current.number == generation.number && current.slot == generation.slot;
        same && current.status != Status::Deleting
    });
    check_distinct(record.generations(), &generation)?;
    if let Some(mut current) = record.current.take() {
        if current.object.is_none() {
            return Err("nothing is known of the current generation, so it cannot be deposed");
        }
        remember_uses(&mut current, &record.meta);
        // What was under way with it no longer matters: it will be deleted.
        record.deposed.push(given_up(current));
    }
    say(&mut record, meta);
    record.current = Some(generation);
    Ok(record)
}

/// Whether the record is of an older object alone: one that was found too, and is replaced by this generation.
fn is_older(record: &Record, number: GenerationNumber) -> bool {
    let found = |current: &Generation| matches!(current.status, Status::Ready | Status::Updating(_));
    record.current.as_ref().is_some_and(|current| found(current) && current.number < number)
}

/// Takes in what the program says. What was made before, and follows nothing new, may still use what it said then.
fn say(record: &mut Record, meta: &Metadata) {
    if record.meta.dependencies != meta.dependencies || record.meta.circular != meta.circular {
        for generation in &mut record.deposed {
            generation.dependencies.get_or_insert_with(|| firm_dependencies(&record.meta));
        }
        if let Some(current) = &mut record.current {
            current.dependencies.get_or_insert_default();
            remember_uses(current, &record.meta);
        }
    }
    record.meta = meta.clone();
}

/// Adds what the program says to what a generation used before: an update that failed may have given it either.
fn remember_uses(generation: &mut Generation, meta: &Metadata) {
    if let Some(used) = &mut generation.dependencies {
        used.extend(firm_dependencies(meta));
        used.sort();
        used.dedup();
    }
}

/// Bindings that went in circles gave way then, and do from now on.
fn firm_dependencies(meta: &Metadata) -> Vec<Address> {
    meta.firm_dependencies().cloned().collect()
}

/// Takes a found object for the one whose create was under way.
fn adopt_unfinished(
    mut record: Record,
    address: &Address,
    meta: &Metadata,
    found: Generation,
) -> Result<Record, &'static str> {
    if record.address != *address {
        return Err("the record has another address");
    }
    match &record.current {
        Some(current) if matches!(current.status, Status::Creating(_)) && current.number == found.number => {}
        None => {}
        Some(_) => return Err("the current generation is not one whose create is under way"),
    }
    check_distinct(&record.deposed, &found)?;
    // It was made when the program may have said something else.
    say(&mut record, meta);
    let dependencies = record.current.and_then(|current| current.dependencies);
    record.current = Some(Generation { dependencies, ..found });
    Ok(record)
}

/// The record with its secrets sealed otherwise; where the journal begins with it, as it is.
fn resealed(id: RecordId, before: Option<Record>, record: &Record) -> Result<Record, &'static str> {
    if record.id != id {
        return Err("it holds another record");
    }
    match before {
        Some(before) if outline(&before) != outline(record) => Err("more than secrets would change"),
        _ => Ok(record.clone()),
    }
}

/// Generations beside one another differ in number and name, and a later one has a higher number.
fn check_distinct<'a>(
    others: impl IntoIterator<Item = &'a Generation>,
    generation: &Generation,
) -> Result<(), &'static str> {
    for other in others {
        if other.number >= generation.number {
            return Err("a generation of that number or a later one exists");
        }
        if other.slot == generation.slot {
            return Err("another generation bears that name");
        }
    }
    Ok(())
}

/// Steps that happen to a record that exists.
fn change(mut record: Record, entry: &Entry) -> Result<Option<Record>, &'static str> {
    match &entry.step {
        Step::UpdateBegun { meta, attempt } => begin_update(&mut record, meta, attempt, entry)?,
        Step::Answered { number, object } => {
            let generation = called(&mut record, *number)?;
            generation.object = Some(object.clone());
            written(generation, entry);
        }
        Step::Pending { number, context } => {
            let generation = in_flight(&mut record, *number)?;
            if let Status::Creating(attempt) | Status::Updating(attempt) = &mut generation.status {
                attempt.pending = Some(context.clone());
            }
        }
        Step::Settled { number, object } => settle(in_flight(&mut record, *number)?, object, entry),
        Step::Abandoned { number } => abandon(&mut record, *number)?,
        Step::Refreshed { number, object } => {
            let generation = any(&mut record, *number)?;
            if generation.status != Status::Ready {
                return Err("an operation is under way");
            }
            generation.object = Some(object.clone());
            generation.configuration = entry.configuration.or(generation.configuration);
        }
        Step::Migrated { number, object } => {
            let generation = any(&mut record, *number)?;
            if generation.object.is_none() {
                return Err("nothing is known of the object");
            }
            generation.object = Some(object.clone());
        }
        Step::MetaChanged { meta } => {
            say(&mut record, meta);
            // With nothing under way, what it says is what the object follows.
            let settled = record.current.as_mut().filter(|current| current.status == Status::Ready);
            if let Some(current) = settled {
                current.dependencies = None;
            }
        }
        Step::DeleteBegun { number } => {
            let generation = any(&mut record, *number)?;
            if generation.object.is_none() {
                return Err("nothing is known of the object");
            }
            remember_inputs(generation);
            generation.status = Status::Deleting;
        }
        Step::Deleted { number } => {
            if any(&mut record, *number)?.status != Status::Deleting {
                return Err("no delete is under way");
            }
            remove(&mut record, *number);
        }
        Step::Dropped { number } => {
            let dropped = any(&mut record, *number)?;
            // An object that stays where it is keeps its name; one that never came to be has none.
            let left = dropped.object.is_some().then_some(dropped.slot);
            record.left_slots.extend(left);
            remove(&mut record, *number);
        }
        Step::Moved { to } => record.address = to.clone(),
        Step::Relinked { moved } => relink(&mut record, moved),
        Step::CreateBegun { .. } | Step::Adopted { .. } | Step::Resealed { .. } | Step::Copied { .. } => {
            return Err("it is about the record as a whole");
        }
    }
    let empty = record.current.is_none() && record.deposed.is_empty();
    Ok((!empty).then_some(record))
}

/// Notes that the object may have changed by now.
fn written(generation: &mut Generation, entry: &Entry) {
    generation.written_at = entry.at.or(generation.written_at);
}

/// Puts an update under way: on what is ready, or again on what was interrupted.
fn begin_update(
    record: &mut Record,
    meta: &Metadata,
    attempt: &Attempt,
    entry: &Entry,
) -> Result<(), &'static str> {
    let current = record.current.as_mut().ok_or("there is no current generation")?;
    current.status = status_of_update(current, attempt)?;
    written(current, entry);
    // Until it has succeeded, the object may use what it used, what an attempt before gave it, and what this one will.
    let before = current.dependencies.take().unwrap_or_default();
    let all: BTreeSet<Address> = before.into_iter().chain(record.meta.firm_dependencies().cloned()).collect();
    let only_new = is_within(&all, &meta.dependencies);
    say(record, meta);
    if let Some(current) = &mut record.current {
        current.dependencies = (!only_new).then(|| all.into_iter().collect());
    }
    Ok(())
}

fn status_of_update(current: &Generation, attempt: &Attempt) -> Result<Status, &'static str> {
    Ok(match (&current.status, &current.object) {
        (Status::Deleting, _) => return Err("a delete is under way"),
        (_, None) => return Err("nothing is known of the object"),
        // A half-made object is finished by the same contract that begins one.
        (Status::Creating(_), Some(_)) => Status::Creating(Box::new(attempt.clone())),
        (Status::Ready | Status::Updating(_), Some(_)) => Status::Updating(Box::new(attempt.clone())),
    })
}

/// Ends what is under way: the object is as it was to be.
fn settle(generation: &mut Generation, object: &State, entry: &Entry) {
    if let Status::Creating(attempt) | Status::Updating(attempt) = &generation.status {
        generation.bindings = attempt.bindings.clone();
    }
    generation.object = Some(object.clone());
    generation.dependencies = None;
    generation.status = Status::Ready;
    generation.configuration = entry.configuration.or(generation.configuration);
    written(generation, entry);
}

/// Gives up what is under way. The record then says what it said before.
fn abandon(record: &mut Record, number: GenerationNumber) -> Result<(), &'static str> {
    // Older generations are only ever deleted (DELETE-10).
    if let Ok(refused) = any(record, number)
        && refused.status == Status::Deleting
    {
        refused.status = Status::Ready;
        return Ok(());
    }
    let generation = in_flight(record, number)?;
    match (&generation.object, &mut generation.status) {
        (None, _) => record.current = None,
        // Half an object was there before and still is: it stays to be finished (CRASH-2).
        (Some(_), Status::Creating(attempt)) => attempt.pending = None,
        (Some(_), status) => *status = Status::Ready,
    }
    Ok(())
}

/// Follows dependencies to their new addresses.
fn relink(record: &mut Record, moved: &[(Address, Address)]) {
    for dependencies in record.dependencies_mut() {
        for dependency in dependencies.iter_mut() {
            if let Some((_, to)) = moved.iter().find(|(from, _)| from == dependency) {
                *dependency = to.clone();
            }
        }
        dependencies.sort();
    }
}

fn is_within(some: &BTreeSet<Address>, others: &[Address]) -> bool {
    some.iter().all(|address| others.contains(address))
}

/// A generation with which nothing is under way any more but its end.
fn given_up(mut generation: Generation) -> Generation {
    remember_inputs(&mut generation);
    if generation.status != Status::Deleting {
        generation.status = Status::Ready;
    }
    generation
}

/// Keeps the inputs that an object was being brought to, if it has no others: whoever deletes it needs some.
fn remember_inputs(generation: &mut Generation) {
    let attempted = generation.attempt().map(|attempt| attempt.inputs.clone());
    if let Some(object) = generation.object.as_mut().filter(|object| object.inputs.is_none()) {
        object.inputs = attempted;
    }
}

fn any(record: &mut Record, number: GenerationNumber) -> Result<&mut Generation, &'static str> {
    let mut generations = record.deposed.iter_mut().chain(&mut record.current);
    generations.find(|generation| generation.number == number).ok_or("there is no such generation")
}

fn in_flight(record: &mut Record, number: GenerationNumber) -> Result<&mut Generation, &'static str> {
    match &mut record.current {
        Some(current) if current.number == number => match current.status {
            Status::Creating(_) | Status::Updating(_) => Ok(current),
            Status::Ready | Status::Deleting => Err("no create or update is under way"),
        },
        _ => Err("it is not the current generation"),
    }
}

/// A generation whose provider may answer: also one that is being deleted, of which something may be left (DELETE-14).
fn called(record: &mut Record, number: GenerationNumber) -> Result<&mut Generation, &'static str> {
    match any(record, number)?.status {
        Status::Deleting => any(record, number),
        _ => in_flight(record, number),
    }
}

fn remove(record: &mut Record, number: GenerationNumber) {
    record.deposed.retain(|generation| generation.number != number);
    record.current = record.current.take().filter(|generation| generation.number != number);
}

impl Step {
    /// The step's name, as the journal writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Step::CreateBegun { .. } => "create-begun",
            Step::Adopted { .. } => "adopted",
            Step::UpdateBegun { .. } => "update-begun",
            Step::Answered { .. } => "answered",
            Step::Pending { .. } => "pending",
            Step::Settled { .. } => "settled",
            Step::Abandoned { .. } => "abandoned",
            Step::Refreshed { .. } => "refreshed",
            Step::Migrated { .. } => "migrated",
            Step::MetaChanged { .. } => "meta-changed",
            Step::DeleteBegun { .. } => "delete-begun",
            Step::Deleted { .. } => "deleted",
            Step::Dropped { .. } => "dropped",
            Step::Moved { .. } => "moved",
            Step::Relinked { .. } => "relinked",
            Step::Resealed { .. } => "resealed",
            Step::Copied { .. } => "copied",
        }
    }
}
