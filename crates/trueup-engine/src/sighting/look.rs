//! Looking at a recorded object, where its provider leads now and where the configuration leads that it was made with
//! (DRIFT-10, DRIFT-11).
//!
//! Planner and executor look alike. They differ in what they may conclude.

use trueup_core::Failure;
use trueup_provider::{CallContext, Configured, Observed, ReadRequest};
use trueup_state::Generation;

use crate::call::{Call, unseen_for, within};
use crate::draft::node::Sight;
use crate::mutations::planted;
use crate::providers::{Place, Places, out_of_reach};

/// A recorded object, and how its provider is called to see it.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    pub(crate) places: &'a Places<'a>,
    /// The configuration in use.
    pub(crate) config: &'a Configured,
    pub(crate) generation: &'a Generation,
    pub(crate) call: Call<'a>,
    pub(crate) context: &'a CallContext,
}

impl Look<'_> {
    /// What is seen of the object.
    pub(crate) async fn sight(self) -> Result<Sight, Failure> {
        let Look { places, config, generation, .. } = self;
        let (Some(state), Some(inputs)) = (&generation.object, generation.inputs()) else {
            return Ok(Sight::Unseen);
        };
        let elsewhere = places.elsewhere(config, generation).await;
        if let Some(elsewhere) = elsewhere.filter(|it| it.place == Place::Apart) {
            // What the configuration in use finds is not it.
            let ready = places.recorded.ready(places.calls, &places.provider, elsewhere.number).await;
            ready.map_err(|failure| out_of_reach(failure, &places.provider, ""))?;
            return Ok(Sight::Elsewhere { apart: true });
        }
        // What was written a moment ago may not be visible yet: its absence must outlast the window (DRIFT-10).
        let clock = &*places.calls.clock;
        let window = || {
            let window = places.handler.consistency_window(&inputs.effective);
            unseen_for(window, &generation.status, generation.written_at, clock)
        };
        let is_seen = |observed: &Observed| *observed != Observed::Absent;
        let looked = within(clock, window, || self.read(config), is_seen).await;
        planted!(TreatDeniedAsGone => if looked.as_ref().is_err_and(is_denied) { return Ok(Sight::Gone) });
        match looked? {
            Observed::Present(seen) if elsewhere.is_none() || !places.is_another(state, &seen) => {
                return Ok(if *seen == *state { Sight::AsRecorded } else { Sight::Present(seen) });
            }
            Observed::Unreadable => return Ok(Sight::Unreadable),
            Observed::Present(_) | Observed::Absent => {}
        }
        let Some(elsewhere) = elsewhere else { return Ok(Sight::Gone) };
        let looked = match places.recorded.ready(places.calls, &places.provider, elsewhere.number).await {
            Ok(made_with) => self.read(&made_with).await,
            Err(failure) => Err(failure),
        };
        let is_there = elsewhere.is_seen(looked, &places.provider)?;
        Ok(if is_there { Sight::Elsewhere { apart: false } } else { Sight::Gone })
    }

    async fn read(self, config: &Configured) -> Result<Observed, Failure> {
        let (Some(state), Some(inputs)) = (&self.generation.object, self.generation.inputs()) else {
            return Ok(Observed::Unreadable);
        };
        let read = async |context: &CallContext| {
            let request = ReadRequest { config, inputs: &inputs.effective, state, context };
            self.places.handler.read(request).await
        };
        self.places.calls.retried(self.call, self.context, read).await
    }
}

#[cfg(feature = "mutations")]
fn is_denied(failure: &Failure) -> bool {
    failure.class == trueup_core::FailureClass::Denied
}
