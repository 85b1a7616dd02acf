//! Whether an object is where its provider leads, once that is known.
//!
//! A configuration that follows from other resources of the run may be known only now. Then nobody has looked at the
//! object yet. It may have drifted, and it may be in another place: if so, it is replaced, as the plan granted, and
//! deleted where it is (DRIFT-12). Where the configuration was known, the plan has looked.

use trueup_core::Failure;
use trueup_program::DriftPolicy;

use super::apply::Applying;
use super::tasks::TaskError;
use crate::draft::node::{Sight, Start};
use crate::events::Operation;
use crate::mutations::planted;
use crate::plan::{Action, Reason};
use crate::providers::Place;
use crate::sighting::{Look, ObjectHolder};

impl Applying<'_> {
    /// Looks at the object, if nobody could before, and has it replaced if it is in another place.
    pub(super) async fn find_place(&mut self) -> Result<(), TaskError> {
        let Some(current) = self.current().filter(|_| self.is_unseen()) else { return Ok(()) };
        let places = self.run.places(&self.resource.handler, self.writer.provider());
        let other = places.elsewhere(&self.config, &current).await;
        if other.is_some() && self.keeps_object(Some(&current)).await {
            return Ok(());
        }
        let is_apart = other.is_some_and(|other| other.place != Place::Alike);
        if current.is_interrupted() {
            if is_apart {
                // What came of a create is where the create was sent, and goes before another one is made.
                self.require_grant(Action::Replace)?;
                self.resource.decision.start = Start::FinishDelete;
            }
            return Ok(());
        }
        // Whoever deletes what is replaced anyway looks for it.
        let is_wanted = other.is_some() || self.repairs_drift();
        if self.resource.decision.action == Action::Replace || !is_wanted {
            return Ok(());
        }
        let (call, context) = (self.calling(Operation::Read), &self.context(None));
        let look = Look { places: &places, config: &self.config, generation: &current, call, context };
        match look.sight().await? {
            Sight::Elsewhere { .. } => self.move_away()?,
            Sight::Gone => {
                let provider = self.writer.provider();
                let holder = ObjectHolder::recorded(&self.address, &provider, &current);
                self.resource.holders.note_gone(holder);
                self.resource.decision.start = Start::Recreate;
            }
            Sight::Present(seen) if self.repairs_drift() => self.resource.observed = Some(*seen),
            Sight::AsRecorded if self.repairs_drift() => self.resource.observed = current.object,
            Sight::Unreadable => self.is_out_of_sight = is_apart,
            Sight::Present(_) | Sight::AsRecorded | Sight::Unseen => {}
        }
        Ok(())
    }

    /// Replaces the object, because it is in another place.
    pub(super) fn move_away(&mut self) -> Result<(), Failure> {
        self.require_grant(Action::Replace)?;
        self.resource.decision.action = Action::Replace;
        self.resource.decision.reasons.push(Reason::ProviderChanged);
        Ok(())
    }

    /// Whether something outside is recorded that the plan could not look at.
    fn is_unseen(&self) -> bool {
        let start = &self.resource.decision.start;
        self.resource.is_late
            && !planted!(TrustLateBlock)
            && !self.resource.is_stubbed
            && !self.resource.handler.traits().in_records
            && matches!(start, Start::Record | Start::LookFirst | Start::RepeatCreate)
    }

    /// Whether drift is looked for and may be repaired: what was to stay is not touched.
    fn repairs_drift(&self) -> bool {
        self.run.options.plan.drift
            && self.resource.options.drift == DriftPolicy::Fix
            && self.resource.decision.action != Action::NoOp
    }
}
