//! What an earlier run began and did not finish (CRASH-1, CRASH-2, CRASH-6).

use std::time::Duration;

use trueup_core::{Failure, Path, Value};
use trueup_provider::{FailedCreate, InputValues, Recovery, State};
use trueup_state::Generation;

use super::resource::Case;
use super::search::SearchResult;
use crate::draft::node::{Decision, Start};
use crate::failures::outcome_unknown;
use crate::mutations::planted;
use crate::plan::{Action, Reason};

impl Case<'_> {
    /// A create whose outcome nobody knows (CRASH-1).
    pub(super) async fn decide_unknown_create(&self, current: &Generation) -> Result<Decision, Failure> {
        if let Some(state) = self.imported().await? {
            // A person looked, and says which object it is.
            let found = self.found_by_id(state, current.number, current.slot);
            return self.decide_found(found, Reason::Recovered).await;
        }
        if self.may_be_elsewhere(current).await {
            // What came of it, if anything, goes before another one is made.
            let decision = self.create(Start::FinishDelete, vec![Reason::Recovered]).await?;
            return self.as_replacement(decision, Reason::ProviderChanged).await;
        }
        let attempted = attempted_inputs(current, self.desired);
        let begun_with = current.inputs().unwrap_or(attempted);
        match self.handler.recovery(&attempted.effective) {
            // It may be there and not be visible yet: its absence must outlast the type's window.
            Recovery::Lookup => {
                match self.look(attempted, self.interrupted_window(attempted)).await? {
                    SearchResult::Found(found) => {
                        let found = *found;
                        #[cfg(feature = "mutations")]
                        let found = found.trusted(attempted);
                        // Whether it ever came to the inputs of the attempt, nobody knows: there are no olds (RECONCILE-1).
                        let decision = self.decide_found(found, Reason::Recovered).await?;
                        self.unless_replaced(decision, begun_with).await
                    }
                    // The request may still be under way, until whoever sent it has lost the lease: looked for once more then.
                    SearchResult::Nothing | SearchResult::Later => {
                        let start = if planted!(TrustOldAbsence) { Start::Record } else { Start::LookFirst };
                        let decision = self.create(start, vec![Reason::Recovered]).await?;
                        self.unless_replaced(decision, begun_with).await
                    }
                }
            }
            Recovery::Token => self.decide_repeated(current).await,
            Recovery::Blind if planted!(RepeatBlindCreate) => {
                self.create(Start::Record, vec![Reason::Recovered]).await
            }
            Recovery::Blind => {
                Err(outcome_unknown(&self.draft.nodes[self.at].address, self.handler.traits()))
            }
        }
    }

    /// How long the object of an interrupted create may stay out of sight, by what the program says now or said then. When
    /// the create began does not count: the clock may have been set forward since, and the request still be under way.
    pub(super) fn interrupted_window(&self, attempted: &InputValues) -> Duration {
        let of = |inputs: &InputValues| self.handler.consistency_window(&inputs.effective);
        of(attempted).max(of(self.desired))
    }

    /// A create that is repeated as it was; if the program has since changed in a replace field, it is replaced at once.
    pub(super) async fn decide_repeated(&self, current: &Generation) -> Result<Decision, Failure> {
        let decision = self.create(Start::RepeatCreate, vec![Reason::Recovered]).await?;
        match current.inputs() {
            Some(attempted) => self.unless_replaced(decision, attempted).await,
            None => Ok(decision),
        }
    }

    /// A decision about what came of an interrupted create. If the program has since changed in a replace field, that is
    /// replaced, however far it came. The values of the attempt are not told: nobody knows whether they were reached.
    pub(super) async fn unless_replaced(
        &self,
        mut decision: Decision,
        attempted: &InputValues,
    ) -> Result<Decision, Failure> {
        if decision.action == Action::Replace {
            return Ok(decision);
        }
        let fields = self.handler.schema().replace_fields();
        let mut changes = self.handler.input_changes(attempted, self.desired);
        // A stub was begun before all its inputs were known: of those, none has changed.
        changes.retain(|change| change.before.as_ref().is_none_or(Value::is_wholly_known));
        if self.is_desired(attempted) {
            let inputs = &self.handler.schema().inputs.attributes;
            let is_identity = |name: &str| inputs.get(name).is_some_and(|attribute| attribute.identity);
            changes.retain(|change| !change.path.first_key().is_some_and(is_identity));
        }
        let forcing = changes.iter().filter(|change| fields.iter().any(|field| field.overlaps(&change.path)));
        let paths: Vec<Path> = forcing.map(|change| change.path.clone()).collect();
        if !paths.is_empty() {
            decision.outputs = self.ask(None).await?.outputs;
            decision.action = Action::Replace;
            decision.replace_paths = paths;
        }
        Ok(decision)
    }

    /// A create that came half-way (CRASH-2).
    pub(super) async fn decide_half_made(
        &self,
        object: &State,
        current: &Generation,
    ) -> Result<Decision, Failure> {
        let mut decision = self.decide_unfinished(object, current).await?;
        if self.handler.traits().failed_create == FailedCreate::Replace {
            decision = self.as_replacement(decision, Reason::Tainted).await?;
        }
        Ok(decision)
    }

    /// An object with which something was under way. Of one that was never brought to any inputs, those of the attempt tell
    /// whether it can become what is wanted now (CRASH-2).
    pub(super) async fn decide_unfinished(
        &self,
        object: &State,
        current: &Generation,
    ) -> Result<Decision, Failure> {
        let decision = self.decide_known(object, current, &[Reason::Recovered]).await?;
        match current.attempt().filter(|_| object.inputs.is_none() && decision.action == Action::Update) {
            Some(attempt) => self.unless_replaced(decision, &attempt.inputs).await,
            None => Ok(decision),
        }
    }

    /// A delete that was interrupted, and the program wants the resource again (CRASH-6).
    pub(super) async fn decide_undeleted(&self) -> Result<Decision, Failure> {
        self.create(Start::FinishDelete, vec![Reason::Recovered]).await
    }
}

/// The inputs of the create that was interrupted, by which its object is found. A stub was begun before all its inputs
/// were known; then the ones to come tell as much.
fn attempted_inputs<'a>(current: &'a Generation, desired: &'a InputValues) -> &'a InputValues {
    current.inputs().filter(|inputs| inputs.effective.is_wholly_known()).unwrap_or(desired)
}
