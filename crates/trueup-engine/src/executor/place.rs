//! Whether an object is where its provider leads, once that is known.
//!
//! A configuration that follows from other resources of the run may be known only now. Then nobody has looked at the
//! object yet. It may have drifted, and it may be in another place: if so, it is replaced, as the plan granted, and
//! deleted where it is (DRIFT-12). Where the configuration was known, the plan has looked.

use trueup_core::Failure;
use trueup_program::DriftPolicy;
use trueup_provider::{CallContext, Configured, Observed, ReadRequest};
use trueup_state::Generation;

use super::apply::Applying;
use super::tasks::TaskError;
use crate::call::{unseen_for, within};
use crate::draft::node::{Sight, Start};
use crate::events::Operation;
use crate::mutations::planted;
use crate::plan::{Action, Reason};
use crate::providers::{Elsewhere, Place, Places, out_of_reach};
use crate::sighting::ObjectHolder;

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
        match self.sight(&places, &current, other).await? {
            Sight::Elsewhere { .. } => self.move_away()?,
            Sight::Gone => {
                let provider = self.writer.provider();
                let holder = ObjectHolder::recorded(&self.address, &provider, &current);
                self.resource.holders.note_gone(holder);
                self.resource.decision.start = Start::Recreate;
            }
            Sight::Present(seen) if self.repairs_drift() => self.resource.observed = Some(*seen),
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

    /// What is seen of an object, here or where the other configuration leads that it was made with.
    async fn sight(
        &self,
        places: &Places<'_>,
        current: &Generation,
        other: Option<Elsewhere>,
    ) -> Result<Sight, Failure> {
        let (Some(state), Some(inputs)) = (&current.object, current.inputs()) else {
            return Ok(Sight::Unseen);
        };
        let made_with = match other {
            Some(other) => {
                Some((other, places.recorded.ready(places.calls, &places.provider, other.number).await))
            }
            None => None,
        };
        if let Some((other, ready)) = &made_with
            && other.place == Place::Apart
        {
            // What the configuration in use finds is not it.
            ready.clone().map_err(|failure| out_of_reach(failure, &places.provider, ""))?;
            return Ok(Sight::Elsewhere { apart: true });
        }
        let context = &self.context(None);
        let read = async |config: &Configured| {
            let read = async |context: &CallContext| {
                places.handler.read(ReadRequest { config, inputs: &inputs.effective, state, context }).await
            };
            self.run.calls.retried(self.calling(Operation::Read), context, read).await
        };
        // What was written a moment ago may not be visible yet (DRIFT-10).
        let window = || {
            let window = places.handler.consistency_window(&inputs.effective);
            unseen_for(window, &current.status, current.written_at, &*self.run.calls.clock)
        };
        let is_seen = |observed: &Observed| *observed != Observed::Absent;
        match within(&*self.run.calls.clock, window, || read(&self.config), is_seen).await? {
            Observed::Present(seen) if made_with.is_none() || !places.is_another(state, &seen) => {
                return Ok(Sight::Present(seen));
            }
            Observed::Unreadable => return Ok(Sight::Unreadable),
            Observed::Present(_) | Observed::Absent => {}
        }
        let Some((other, ready)) = made_with else { return Ok(Sight::Gone) };
        let looked = match ready {
            Ok(config) => read(&config).await,
            Err(failure) => Err(failure),
        };
        let seen = other.is_seen(looked, &places.provider)?;
        Ok(if seen { Sight::Elsewhere { apart: false } } else { Sight::Gone })
    }
}
