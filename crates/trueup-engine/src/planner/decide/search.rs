//! Looking for an object that may exist already (ADOPT-1).

use std::time::Duration;

use trueup_core::{Address, Failure};
use trueup_provider::{CallContext, Configured, InputValues, Sighting};
use trueup_state::Generation;

use super::resource::Case;
use crate::call::within;
use crate::draft::node::FoundObject;
use crate::saved::{QuestionKind, SightingForm};
use crate::sighting::{Adopting, Search};

/// What looking came to.
pub(super) enum SearchResult {
    Nothing,
    /// The inputs are not known yet.
    Later,
    Found(Box<FoundObject>),
}

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
        let look = async |origin: Address| self.look_as(inputs, config, window, origin).await;
        let found = Search::among(origins, look).await?;
        Ok(found.map_or(SearchResult::Nothing, |found| SearchResult::Found(Box::new(found))))
    }

    /// The object under the names that follow from one address.
    async fn look_as(
        &self,
        inputs: &InputValues,
        config: &Configured,
        window: Duration,
        origin: Address,
    ) -> Result<Option<FoundObject>, Failure> {
        let (sources, node) = (self.sources, &self.draft.nodes[self.at]);
        let Some(places) = self.draft.places(&sources.calls, self.at) else { return Ok(None) };
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let current = record.and_then(|record| record.current.as_ref());
        let context = sources.context_as(&node.address, &origin, record);
        let search = Search {
            address: &node.address,
            handler: self.handler,
            config,
            sought: inputs,
            record,
            interrupted: current.is_some_and(Generation::is_interrupted),
            adopting: Adopting::of(node.declared().and_then(|it| it.options.adopt), sources.options.adopt),
            places: &places,
            holders: &self.draft.holders,
        };
        // What cannot be looked for is not waited for.
        let is_settled = |found: &Option<Vec<Sighting>>| found.as_ref().is_none_or(|it| !it.is_empty());
        let lookup = async |context: &CallContext| {
            let lookup = async |context: &CallContext| self.handler.lookup(search.request(context)).await;
            let look = || sources.calls.retried(sources.call(node), context, &lookup);
            within(&*sources.calls.clock, || window, look, is_settled).await
        };
        let looking = async {
            let found = search.sightings(&context, lookup).await?.into_iter();
            Ok(found.map(|(sighting, slot)| (SightingForm::from(sighting), slot)).collect::<Vec<_>>())
        };
        let found = sources.observed(QuestionKind::Lookup, &origin, &[&inputs.effective], looking).await?;
        let found = found.into_iter().map(|(sighted, slot)| (Sighting::from(sighted), slot)).collect();
        search.choose(found, origin, context.generation).await
    }
}
