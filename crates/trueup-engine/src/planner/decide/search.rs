//! Looking for an object that may exist already (ADOPT-1).

use std::time::Duration;

use trueup_core::{Address, Failure, FailureClass};
use trueup_provider::{CallContext, Configured, InputValues, LookupRequest, Ownership, Sighting};
use trueup_state::Generation;

use super::resource::Case;
use crate::call::within;
use crate::draft::node::FoundObject;
use crate::saved::{Asked, Sighted};
use crate::sighting::{Chosen, SlotSightings, chosen, may_be, sole};

impl Case<'_> {
    /// Looks for an object of this identity, if the type can and the inputs are known (ADOPT-1, ADOPT-6). What is not
    /// there by the end of the window is absent.
    pub(super) async fn look(&self, inputs: &InputValues, window: Duration) -> Result<SearchResult, Failure> {
        let node = &self.draft.nodes[self.at];
        let Some(config) = &node.config else { return Ok(SearchResult::Later) };
        if !inputs.effective.is_wholly_known() {
            return Ok(SearchResult::Later);
        }
        let origins = self.draft.origins(self.sources.program, self.at);
        let (mut refused, mut foreign) = (None, None);
        for origin in origins {
            match self.look_as(inputs, config, window, origin).await {
                Ok(SearchResult::Nothing) => {}
                // Its own object, under another address that it had, comes before somebody else's under this one.
                Ok(SearchResult::Found(found)) if found.foreign => {
                    foreign.get_or_insert(found);
                }
                // What is not its own under one address may be under another that it had.
                Err(failure) if failure.class == FailureClass::AlreadyExists => {
                    refused.get_or_insert(failure);
                }
                looked => return looked,
            }
        }
        match (foreign, refused) {
            (Some(found), _) => Ok(SearchResult::Found(found)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(SearchResult::Nothing),
        }
    }

    /// The same under the names that follow from one address.
    pub(super) async fn look_as(
        &self,
        inputs: &InputValues,
        config: &Configured,
        window: Duration,
        origin: Address,
    ) -> Result<SearchResult, Failure> {
        let node = &self.draft.nodes[self.at];
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let context = self.sources.context_as(&node.address, &origin, record);
        let interrupted =
            record.and_then(|record| record.current.as_ref()).is_some_and(Generation::is_interrupted);
        let is_found = |found: &Option<Vec<Sighting>>| found.as_ref().is_some_and(|it| !it.is_empty());
        let call = self.sources.call(node);
        let looking = async {
            let mut sightings = SlotSightings::new(self.handler, inputs, record.is_some(), context.slot);
            while let Some(slot) = sightings.next_slot() {
                let context = CallContext { slot, ..context.clone() };
                let lookup = async |context: &CallContext| {
                    let request = LookupRequest { config, desired: inputs, interrupted, context };
                    self.handler.lookup(request).await
                };
                let lookup = || self.sources.calls.retried(call, &context, lookup);
                sightings.note(slot, within(&*self.sources.calls.clock, || window, lookup, is_found).await?);
            }
            let found = sightings.settled(interrupted, &node.address, self.handler.traits())?.into_iter();
            let found = found.filter(|(sighting, _)| may_be(sighting, record));
            Ok(found.map(|(sighting, slot)| (Sighted::from(sighting), slot)).collect::<Vec<_>>())
        };
        let found = self.sources.observed(Asked::Lookup, &origin, &[&inputs.effective], looking).await?;
        let found: Vec<_> =
            found.into_iter().map(|(sighted, slot)| (Sighting::from(sighted), slot)).collect();
        let adopt = node.declared().and_then(|it| it.options.adopt).unwrap_or(self.sources.options.adopt);
        let seen = sole(&found);
        let chosen = match chosen(found, adopt, &node.address.to_string()) {
            Err(failure) => {
                if let Some(seen) = seen {
                    // Another resource's own, whatever the type takes it for, is not to be adopted either.
                    self.refuse_held(&seen, Some(&inputs.effective), record).await?;
                }
                return Err(failure);
            }
            Ok(chosen) => chosen,
        };
        match chosen {
            None => Ok(SearchResult::Nothing),
            Some(Chosen { sighting, slot, older }) => {
                self.refuse_held(&sighting.state, Some(&inputs.effective), record).await?;
                let number = sighting.ownership.generation().unwrap_or(context.generation);
                let foreign = sighting.ownership == Ownership::Unowned;
                let (state, sought) = (sighting.state, inputs.clone());
                let found = FoundObject { state, number, slot, origin, older, sought, foreign };
                Ok(SearchResult::Found(Box::new(found)))
            }
        }
    }
}

/// What looking came to.
pub(super) enum SearchResult {
    Nothing,
    /// The inputs are not known yet.
    Later,
    Found(Box<FoundObject>),
}
