//! The action on real values, and whether the plan granted it (UNKNOWN-10).

use std::borrow::Cow;

use trueup_core::{Failure, FailureClass, Value};
use trueup_program::DriftPolicy;
use trueup_provider::{CallContext, PlanAnswer, PlanRequest, PrivateBytes, State, Verdict};
use trueup_state::Generation;

use super::apply::Applying;
use super::tasks::TaskError;
use crate::draft::node::{Decision, Start};
use crate::events::Operation;
use crate::mutations::planted;
use crate::plan::{Action, Grant, Reason, action_of, updated_instead};
use crate::providers::respelled;

impl Applying<'_> {
    /// Asks the type again, on real values, and checks that the answer is within what was granted (UNKNOWN-10).
    pub(super) async fn decide(
        &self,
        prior: Option<&State>,
    ) -> Result<(Action, PrivateBytes, Value), TaskError> {
        let context = self.context(None);
        let record = self.record();
        let current = record.as_ref().and_then(|record| record.current.as_ref());
        let prior_bindings = current.map_or(&[][..], |current| &current.bindings);
        let attempted = current.and_then(|current| current.attempt()).map(|attempt| &attempt.inputs);
        // Where drift is not to be repaired, it is no reason to act, as in the plan (DRIFT-7).
        let repairs = self.resource.options.drift == DriftPolicy::Fix;
        let observed = self.resource.observed.as_ref().filter(|_| repairs).zip(prior);
        let observed = observed.map(|(seen, prior)| self.compared(prior, seen));
        let private = PrivateBytes(prior.map(|prior| prior.private.clone()).unwrap_or_default());
        let request = PlanRequest {
            config: Some(&self.config),
            desired: &self.desired,
            prior,
            attempted: attempted.filter(|_| prior.is_some()),
            observed: observed.as_deref(),
            bindings: &self.resource.bindings,
            prior_bindings,
            private: &private,
            replaces: prior.is_none() && current.is_some_and(|current| !current.is_interrupted()),
            context: &context,
        };
        #[cfg_attr(not(feature = "mutations"), expect(unused_mut, reason = "for a planted bug"))]
        let mut answer = self.ask(request).await?;
        planted!(UpdateNothing => if prior.is_some_and(|it| it.inputs.is_none()) { answer.verdict = Verdict::Update });
        let replaces = answer.verdict >= Verdict::MayReplace;
        let mut answer = match prior {
            Some(prior) if replaces && Box::pin(self.keeps_object(current)).await => {
                Box::pin(self.in_place(answer, prior, request)).await?
            }
            _ => answer,
        };
        context.report_warnings(std::mem::take(&mut answer.diagnostics));
        let Decision { action: planned, ref reasons, .. } = self.resource.decision;
        let mut action = action_of(answer.verdict);
        let unfinished = current.is_some_and(|current| current.attempt().is_some());
        let adopted =
            matches!(self.resource.decision.start, Start::Adopt(_) | Start::LookFirst) && prior.is_some();
        // What turned out to be in the same place, such as behind a link that this run made, is not replaced for its spelling.
        let is_respelled = replaces && action <= Action::Update && self.is_replaced_for_inputs();
        if planned == Action::Replace && prior.is_some() && !self.resource.is_stubbed && !is_respelled {
            // A replacement that was decided is not undone by values that turned out the same.
            action = Action::Replace;
        } else if action == Action::NoOp
            && (planned == Action::Update || reasons.contains(&Reason::Forced) || unfinished || adopted)
        {
            action = Action::Update;
        }
        self.require_grant(action)?;
        Ok((action, answer.private, answer.outputs))
    }

    /// The object as it was seen, with the recorded values where the program ignores changes (PLAN-21).
    fn compared<'a>(&self, prior: &State, seen: &'a State) -> Cow<'a, State> {
        let ignored = &self.resource.options.ignore_changes;
        match ignored.is_empty() {
            true => Cow::Borrowed(seen),
            false => Cow::Owned(self.resource.handler.ignore_drift(prior, seen, ignored)),
        }
    }

    async fn ask(&self, request: PlanRequest<'_>) -> Result<PlanAnswer, Failure> {
        let plan = async |context: &CallContext| {
            self.resource.handler.plan(PlanRequest { context, ..request }).await
        };
        self.run.calls.retried(self.calling(Operation::Read), request.context, plan).await
    }

    /// Whether the inputs denote the object of a generation, however they spell it (REPLACE-11).
    pub(super) async fn keeps_object(&self, generation: Option<&Generation>) -> bool {
        let Some(generation) = generation else { return false };
        let places = self.run.places(&self.resource.handler, self.writer.provider());
        places.is_object_of(&self.config, &self.desired.effective, generation).await
    }

    /// Whether a replacement was planned for nothing but changed inputs.
    pub(super) fn is_replaced_for_inputs(&self) -> bool {
        let reasons = &self.resource.decision.reasons;
        !reasons.is_empty() && reasons.iter().all(|reason| matches!(reason, Reason::Inputs | Reason::Drift))
    }

    /// The type's answer if the object is not replaced only for another spelling.
    pub(super) async fn in_place(
        &self,
        answer: PlanAnswer,
        prior: &State,
        request: PlanRequest<'_>,
    ) -> Result<PlanAnswer, Failure> {
        let handler = &self.resource.handler;
        let respelled = |state: &State| respelled(handler.schema(), state, &self.desired);
        let (prior, observed) = (respelled(prior), request.observed.map(respelled));
        let request = PlanRequest { prior: Some(&prior), observed: observed.as_ref(), ..request };
        Ok(updated_instead(answer, self.ask(request).await?))
    }

    /// Refuses an action that the plan did not grant (UNKNOWN-10).
    pub(super) fn require_grant(&self, action: Action) -> Result<(), Failure> {
        let planned = self.resource.decision.action;
        let granted = match planned.grant() {
            Grant::NoOp => action == Action::NoOp,
            Grant::Update => matches!(action, Action::NoOp | Action::Update),
            Grant::Create => matches!(action, Action::NoOp | Action::Update | Action::Create),
            Grant::Replace => true,
            Grant::Delete => false,
        };
        if granted || planted!(IgnoreGrant) {
            return Ok(());
        }
        let (needed, planned) = (action.name(), planned.name());
        let message = format!("it needs another action than was planned: {needed} instead of {planned}");
        Err(Failure::new(FailureClass::Conflict, message).hint("plan again"))
    }

    /// Has judged what is sent before it is decided what follows: the repeat of a create, the end of a delete.
    pub(super) fn admit_start(&self) -> Result<(), Failure> {
        let Applying { run, address, resource, desired, .. } = self;
        match resource.decision.start {
            Start::RepeatCreate => {
                let current = self.current();
                let attempt = current.as_ref().and_then(Generation::attempt);
                attempt.map_or(Ok(()), |it| run.admit(address, Action::Create, &it.inputs.effective))
            }
            Start::FinishDelete => run.admit(address, resource.decision.action, &desired.effective),
            Start::Record | Start::Recreate | Start::Adopt(_) | Start::LookFirst => Ok(()),
        }
    }
}
