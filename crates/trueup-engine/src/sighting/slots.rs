//! Which object a resource is: what lookups under its possible names come to (ADOPT-2, RECONCILE-4).

use trueup_core::{Address, Entries, Failure, FailureClass, Value};
use trueup_provider::{
    GenerationNumber, InputValues, Ownership, Recovery, ResourceHandler, Sighting, Slot, State, Traits,
};

use trueup_state::Record;

use crate::failures::outcome_unknown;
use crate::mutations::planted;

/// How many slots are searched for the object of a resource without record. Replacements that create first alternate
/// between two names; more are in use only while older generations could not be deleted.
const SLOTS_SEARCHED: u64 = 2;

/// A name to look under.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LookupName {
    /// The name of a slot.
    OfSlot(Slot),
    /// A name that no object bears. A lookup that finds something under it does not go by the name.
    Nobodys,
}

impl LookupName {
    /// The slot that the name follows from.
    pub(crate) fn slot(self) -> Option<Slot> {
        match self {
            LookupName::OfSlot(slot) => Some(slot),
            LookupName::Nobodys => None,
        }
    }
}

/// What lookups in one slot after another found.
pub(crate) struct SlotSightings {
    /// The objects, each with the slot whose name it bears.
    found: Vec<(Sighting, Slot)>,
    /// The type cannot look.
    unable: bool,
    /// What is looked for, if the inputs tell.
    identity: Option<Value>,
    /// The names to look under, last first.
    left: Vec<LookupName>,
}

impl SlotSightings {
    /// Nothing found yet, from this slot on. A resource with a record is looked for under the name that the record gives
    /// it, and one whose inputs tell its identity has no other.
    pub(crate) fn new(
        handler: &dyn ResourceHandler,
        desired: &InputValues,
        is_recorded: bool,
        slot: Option<Slot>,
    ) -> Self {
        let identity = handler.schema().inputs.attributes.iter().filter(|(_, attribute)| attribute.identity);
        let mut given = identity.map(|(name, _)| desired.effective.get(name).is_some()).peekable();
        let names_itself = given.peek().is_some() && given.all(|given| given);
        let count = if is_recorded || names_itself { 1 } else { SLOTS_SEARCHED };
        let nothing = Value::object::<&str>([]);
        let identity = handler.schema().identity(Some(&desired.effective), &nothing).filter(|_| names_itself);
        let slots = slot.into_iter().flat_map(|slot| slot.0..slot.0 + count);
        let left = slots.map(|slot| LookupName::OfSlot(Slot(slot))).rev().collect();
        SlotSightings { found: Vec::new(), unable: false, identity, left }
    }

    /// The name to look under next.
    pub(crate) fn next_name(&self) -> Option<LookupName> {
        self.left.last().copied()
    }

    /// Notes what was found under a name; `None` if the type cannot look.
    pub(crate) fn note(&mut self, name: LookupName, sightings: Option<Vec<Sighting>>) {
        self.left.pop();
        let Some(sightings) = sightings else {
            self.unable = true;
            self.left.clear();
            return;
        };
        self.unable = false;
        let LookupName::OfSlot(slot) = name else { return self.note_under_no_name(&sightings) };
        let before = self.found.len();
        for sighting in sightings {
            let sighting = self.identified(sighting);
            let is_known = self.found[..before].iter().any(|(known, _)| is_same(known, &sighting));
            // Somebody else's object counts only in the way of the first name.
            if !is_known && (before == 0 || sighting.ownership != Ownership::Unowned) {
                self.found.push((sighting, slot));
            }
        }
        if planted!(TrustFirstName) && self.found.iter().any(|(sighting, _)| is_untold(sighting)) {
            return self.left.clear();
        }
        let untold = self.found.iter().filter(|(sighting, _)| is_untold(sighting));
        let mut slots = untold.map(|(_, slot)| *slot);
        let first = slots.next();
        if self.left.is_empty() && first.is_some_and(|first| slots.any(|slot| slot != first)) {
            self.left.push(LookupName::Nobodys);
        }
    }

    /// Notes what was found under a name that no object bears. If that is anything, the lookup finds one object under
    /// every name, and the first slot counts alone.
    fn note_under_no_name(&mut self, sightings: &[Sighting]) {
        let first = self.found.iter().find(|(sighting, _)| is_untold(sighting)).map(|(_, slot)| *slot);
        if !sightings.is_empty() {
            self.found.retain(|(sighting, slot)| !is_untold(sighting) || Some(*slot) == first);
        }
    }

    /// What was found by an identity has it, even if it does not tell.
    fn identified(&self, mut sighting: Sighting) -> Sighting {
        if sighting.state.identity.is_none() {
            sighting.state.identity = self.identity.clone();
        }
        sighting
    }

    /// What was found, for a create that was interrupted or not: what cannot be looked for may be there (CRASH-1).
    pub(crate) fn settled(
        self,
        interrupted: bool,
        address: &Address,
        traits: &Traits,
    ) -> Result<Vec<(Sighting, Slot)>, Failure> {
        if interrupted && self.unable && self.found.is_empty() {
            return Err(outcome_unknown(address, traits));
        }
        let mut found = self.found;
        if found.iter().any(|(sighting, _)| sighting.ownership != Ownership::Unowned) {
            // Somebody else's object in the way of its first name is none of its own.
            found.retain(|(sighting, _)| sighting.ownership != Ownership::Unowned);
        }
        Ok(found)
    }
}

/// Whether an object can be looked for by these inputs: its type can look, and those that tell its identity are known.
pub(crate) fn can_look(handler: &dyn ResourceHandler, inputs: &InputValues) -> bool {
    let mut identity = handler.schema().inputs.attributes.iter().filter(|(_, attribute)| attribute.identity);
    handler.recovery(&inputs.effective) == Recovery::Lookup
        && identity.all(|(name, _)| inputs.effective.get(name).is_none_or(Value::is_wholly_known))
}

/// Whether what was found can be the object of a resource with this record: of another generation than the one that is
/// under way, it is one that was let go.
pub(crate) fn may_be(sighting: &Sighting, record: Option<&Record>) -> bool {
    let current = record.and_then(|record| record.current.as_ref());
    match (generation(sighting), current) {
        (Some(number), Some(current)) => number == current.number,
        _ => true,
    }
}

/// The object that counts, with its slot.
pub(crate) struct Chosen {
    pub(crate) sighting: Sighting,
    pub(crate) slot: Slot,
    /// Older generations, each with its number and slot, oldest first.
    pub(crate) older: Vec<(State, GenerationNumber, Slot)>,
}

/// What was found, if it is one object and nobody's that can be told.
pub(crate) fn sole(found: &[(Sighting, Slot)]) -> Option<State> {
    match found {
        [(sighting, _)] if sighting.ownership == Ownership::Unowned => Some(sighting.state.clone()),
        _ => None,
    }
}

/// Whether somebody else's object is taken over (ADOPT-2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Adopting {
    /// It is.
    Allowed,
    /// Neither the run nor the resource says so.
    Unsaid,
    /// The resource forbids it, whatever the run says.
    Forbidden,
}

impl Adopting {
    /// By what the resource says, and the run.
    pub(crate) fn of(declared: Option<bool>, run: bool) -> Self {
        match (declared, run) {
            (Some(true), _) | (None, true) => Adopting::Allowed,
            (None, false) => Adopting::Unsaid,
            (Some(false), _) => Adopting::Forbidden,
        }
    }

    /// What to do about an object that is not taken over.
    fn advice(self) -> &'static str {
        match self {
            Adopting::Allowed | Adopting::Unsaid => {
                "deploy with --adopt to take it over, or give the resource another identity"
            }
            Adopting::Forbidden => {
                "the resource says `adopt = false`, which counts more than --adopt: remove that to take it over, or \
                 give the resource another identity"
            }
        }
    }
}

/// The one that counts, and what is older.
pub(crate) fn chosen(
    mut found: Vec<(Sighting, Slot)>,
    adopting: Adopting,
    address: &str,
) -> Result<Option<Chosen>, Failure> {
    if found.len() > 1 && found.iter().any(|(sighting, _)| generation(sighting).is_none()) {
        return Err(indistinguishable(&found, address));
    }
    found.sort_by_key(|(sighting, _)| generation(sighting));
    match found.pop() {
        Some((sighting, _))
            if sighting.ownership == Ownership::Unowned
                && adopting != Adopting::Allowed
                && !planted!(AdoptUnowned) =>
        {
            let identity = sighting.state.identity.map_or(String::new(), |identity| format!(": {identity}"));
            let message = format!("its object already exists and is not managed by this stack{identity}");
            Err(Failure::new(FailureClass::AlreadyExists, message).hint(adopting.advice()))
        }
        None => Ok(None),
        Some((sighting, slot)) => {
            let older = found.into_iter().filter_map(|(older, slot)| {
                let number = generation(&older)?;
                Some((older.state, number, slot))
            });
            Ok(Some(Chosen { sighting, slot, older: older.collect() }))
        }
    }
}

/// RECONCILE-4: several objects, and no marks that tell which one is live.
fn indistinguishable(found: &[(Sighting, Slot)], address: &str) -> Failure {
    let identity = |(sighting, _): &(Sighting, Slot)| {
        let identity = sighting.state.identity.as_ref();
        identity.map_or_else(|| "one without identity".to_owned(), ToString::to_string)
    };
    let identities: Vec<String> = found.iter().map(identity).collect();
    let message = format!(
        "{} objects could be {address}, and nothing tells which one is live: {}",
        found.len(),
        identities.join(" and ")
    );
    Failure::new(FailureClass::Conflict, message).hint(format!(
        "delete the unused one by hand and run again, or take over the live one with `trueup import {address} ID` \
         and then delete the other by hand"
    ))
}

/// Whether an object is the resource's own and bears no generation.
fn is_untold(sighting: &Sighting) -> bool {
    generation(sighting).is_none() && sighting.ownership != Ownership::Unowned
}

/// Whether two slots led to one object. An identity without any value tells nothing of objects without marks.
fn is_same(known: &Sighting, other: &Sighting) -> bool {
    let tells = |identity: &Value| {
        let mut values = identity.as_entries().into_iter().flat_map(Entries::iter);
        !is_untold(other) || values.any(|(_, value)| !value.is_null())
    };
    let identities = known.state.identity.as_ref().zip(other.state.identity.as_ref());
    identities.is_some_and(|(known, other)| known == other && tells(other))
}

fn generation(sighting: &Sighting) -> Option<GenerationNumber> {
    sighting.ownership.generation()
}
