//! Looking for the object of a resource under all names that it may have (ADOPT-1, ADOPT-6, CRASH-1).
//!
//! Planner and executor search alike. They differ in what they know: which addresses names follow from, and how a lookup is
//! made.

use trueup_core::{Address, Failure, FailureClass, Value};
use trueup_provider::{
    CallContext, Configured, GenerationNumber, InputValues, LookupRequest, Ownership, ResourceHandler,
    Sighting, Slot, State,
};
use trueup_state::Record;

use super::slots::{Adopting, Chosen, SlotSightings, chosen, may_be, sole};
use super::{Holders, Spot};
use crate::draft::node::FoundObject;
use crate::providers::Places;

/// A search for the object of a resource.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) address: &'a Address,
    pub(crate) handler: &'a dyn ResourceHandler,
    pub(crate) config: &'a Configured,
    /// The inputs by which it is looked for.
    pub(crate) sought: &'a InputValues,
    pub(crate) record: Option<&'a Record>,
    /// Whether a create of it was interrupted, so that it may well exist.
    pub(crate) interrupted: bool,
    /// Whether somebody else's object is taken over (ADOPT-2).
    pub(crate) adopting: Adopting,
    pub(crate) places: &'a Places<'a>,
    pub(crate) holders: &'a Holders,
}

impl<'a> Search<'a> {
    /// The object under the names that follow from some addresses: its own before somebody else's, which is refused only
    /// if none is its own.
    pub(crate) async fn among(
        origins: Vec<Address>,
        look: impl AsyncFn(Address) -> Result<Option<FoundObject>, Failure>,
    ) -> Result<Option<FoundObject>, Failure> {
        let (mut refused, mut foreign) = (None, None);
        for origin in origins {
            match look(origin).await {
                Ok(None) => {}
                // Its own object, under another address that it had, comes before somebody else's under this one.
                Ok(Some(found)) if found.foreign => {
                    foreign.get_or_insert(found);
                }
                // What is not its own under one address may be under another that it had.
                Err(failure) if failure.class == FailureClass::AlreadyExists => {
                    refused.get_or_insert(failure);
                }
                found => return found,
            }
        }
        match (foreign, refused) {
            (None, Some(failure)) => Err(failure),
            (foreign, _) => Ok(foreign),
        }
    }

    /// The objects under the names of all slots that it may have, each with its slot.
    pub(crate) async fn sightings(
        self,
        context: &CallContext,
        lookup: impl AsyncFn(&CallContext) -> Result<Option<Vec<Sighting>>, Failure>,
    ) -> Result<Vec<(Sighting, Slot)>, Failure> {
        let Search { handler, record, .. } = self;
        let mut sightings = SlotSightings::new(handler, self.sought, record.is_some(), context.slot);
        while let Some(name) = sightings.next_name() {
            let context = CallContext { slot: name.slot(), ..context.clone() };
            sightings.note(name, lookup(&context).await?);
        }
        let mut found = sightings.settled(self.interrupted, self.address, handler.traits())?;
        found.retain(|(sighting, _)| may_be(sighting, record));
        Ok(found)
    }

    /// The request of one lookup.
    pub(crate) fn request(self, context: &'a CallContext) -> LookupRequest<'a> {
        LookupRequest { config: self.config, desired: self.sought, interrupted: self.interrupted, context }
    }

    /// Which of the objects that were found is the resource's, if it may have that: of this generation, unless it tells
    /// another.
    pub(crate) async fn choose(
        self,
        found: Vec<(Sighting, Slot)>,
        origin: Address,
        generation: GenerationNumber,
    ) -> Result<Option<FoundObject>, Failure> {
        let seen = sole(&found);
        let chosen = match chosen(found, self.adopting, &self.address.to_string()) {
            Ok(chosen) => chosen,
            Err(failure) => {
                if let Some(seen) = seen {
                    // Another resource's own, whatever the type takes it for, is not to be adopted either.
                    self.refuse_held(&seen, Some(&self.sought.effective)).await?;
                }
                return Err(failure);
            }
        };
        let Some(Chosen { sighting, slot, older }) = chosen else { return Ok(None) };
        self.refuse_held(&sighting.state, Some(&self.sought.effective)).await?;
        // An older generation that takes its place back is a new one in state, as is one that was let go before it.
        let deposed = self.record.into_iter().flat_map(|record| &record.deposed);
        let last = deposed.map(|generation| generation.number).max();
        let is_new = |number: &GenerationNumber| last.is_none_or(|last| *number > last);
        let number = sighting.ownership.generation().filter(is_new).unwrap_or(generation);
        let older = older.into_iter().filter(|(_, number, _)| is_new(number)).collect();
        let foreign = sighting.ownership == Ownership::Unowned;
        let (state, sought) = (sighting.state, self.sought.clone());
        Ok(Some(FoundObject { state, number, slot, origin, older, sought, foreign }))
    }

    /// Refuses an object that something else holds.
    pub(crate) async fn refuse_held(self, object: &State, inputs: Option<&Value>) -> Result<(), Failure> {
        let spot = Spot { places: self.places, config: Some(self.config), inputs };
        self.holders.refuse_held(spot, self.address, object, self.record).await
    }
}
