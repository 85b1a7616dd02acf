//! Whether the configuration of a provider leads where the object is.

use trueup_core::{Failure, Value};
use trueup_provider::{InputValues, State};
use trueup_state::{Generation, Record};

use super::resource::Case;
use crate::draft::node::Decision;
use crate::plan::{Action, Reason};
use crate::providers::{Place, expected, place, written};
use crate::sighting::Spot;

impl Case<'_> {
    /// Whether an object was made, or a create sent, where the provider's configuration of now may not lead.
    pub(super) async fn may_be_elsewhere(&self, current: &Generation) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let Some(places) = self.draft.places(&self.sources.calls, self.at) else { return false };
        places.elsewhere(config, current).await.is_some_and(|other| other.place != Place::Alike)
    }

    /// Whether the desired inputs denote the object of a generation, however they spell it (REPLACE-11).
    pub(super) async fn is_object_of(&self, generation: &Generation) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let Some(places) = self.draft.places(&self.sources.calls, self.at) else { return false };
        places.is_object_of(config, &self.desired.effective, generation).await
    }

    /// Whether the desired inputs denote the same object as others under the configuration in use.
    pub(super) fn is_desired(&self, inputs: &InputValues) -> bool {
        let Some(config) = &self.draft.nodes[self.at].config else { return false };
        let place = |inputs: &InputValues| place(self.handler, config, &inputs.effective);
        place(self.desired).is_some_and(|here| place(inputs) == Some(here))
    }

    /// Refuses an object that something else holds.
    pub(super) async fn refuse_held(
        &self,
        object: &State,
        inputs: Option<&Value>,
        record: Option<&Record>,
    ) -> Result<(), Failure> {
        let node = &self.draft.nodes[self.at];
        let Some(places) = self.draft.places(&self.sources.calls, self.at) else { return Ok(()) };
        let spot = Spot { places: &places, config: node.config.as_ref(), inputs };
        self.draft.holders.refuse_held(spot, &node.address, object, record).await
    }

    /// Whether the configuration of its provider, once it is known, may lead away from what is there or may have been
    /// made.
    pub(super) async fn may_move(&self, current: &Generation, decision: &Decision) -> Result<bool, Failure> {
        let node = &self.draft.nodes[self.at];
        let in_place = match decision.action {
            Action::NoOp | Action::MayUpdate | Action::Update => true,
            Action::Create => current.is_interrupted(),
            _ => false,
        };
        if !in_place || node.config.is_some() || node.is_in_records() {
            return Ok(false);
        }
        let written = written(&self.sources.calls, self.sources.program, self.draft, &node.provider).await;
        let expected = expected(&self.sources.calls, &node.provider, written).await?;
        match self.draft.places(&self.sources.calls, self.at).zip(expected) {
            Some((places, expected)) => Ok(places.may_lead_elsewhere(&expected, current).await),
            None => Ok(false),
        }
    }

    /// The same decision with leave to replace the object if it turns out to be in another place (UNKNOWN-14). What is
    /// protected has none for a mere possibility, but is looked at.
    pub(super) async fn as_possible_move(&self, mut decision: Decision) -> Result<Decision, Failure> {
        decision.reasons.push(Reason::ProviderUnknown);
        if self.draft.nodes[self.at].declared().is_some_and(|declared| declared.options.protect) {
            decision.action = decision.action.max(Action::MayUpdate);
            return Ok(decision);
        }
        decision.outputs = self.ask(None).await?.outputs;
        decision.action = Action::MayReplace;
        Ok(decision)
    }
}
