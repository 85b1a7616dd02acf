//! A resource that is new, recorded or found: what its type would do.

use std::time::Duration;

use trueup_core::{Failure, Path};
use trueup_program::{DriftPolicy, Scope as _};
use trueup_provider::{
    Binding, CallContext, GenerationNumber, InputValues, PlanAnswer, PlanRequest, PrivateBytes,
    ResourceHandler, Slot, State, Verdict,
};
use trueup_state::{Generation, Status};

use super::search::SearchResult;
use crate::draft::Draft;
use crate::draft::node::{Decision, FoundObject, Sight, Start};
use crate::index::NodeIndex;
use crate::mutations::planted;
use crate::plan::{Action, Reason, ReplaceOrder, action_of, updated_instead};
use crate::planner::Sources;
use crate::providers::respelled;

/// The object that a decision starts from.
#[derive(Clone, Copy)]
pub(super) struct Prior<'a> {
    object: &'a State,
    /// The inputs of the attempt that it comes from, if that has not finished.
    attempted: Option<&'a InputValues>,
    observed: Option<&'a State>,
    bindings: &'a [Binding],
}

/// One resource to decide on.
pub(super) struct Case<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) draft: &'a Draft<'a>,
    pub(super) at: NodeIndex,
    pub(super) handler: &'a dyn ResourceHandler,
    pub(super) desired: &'a InputValues,
}

impl Case<'_> {
    pub(super) async fn decide(&self) -> Result<Decision, Failure> {
        let node = &self.draft.nodes[self.at];
        let current = node.record.as_ref().and_then(|(record, _)| record.current.as_ref());
        let mut decision = self.decide_in_place(current).await?;
        if matches!(decision.action, Action::Replace | Action::MayReplace) {
            decision.keeps_place = match (&decision.start, current) {
                (Start::Adopt(found), _) => found.state.inputs.as_ref().is_some_and(|it| self.is_desired(it)),
                (_, Some(current)) => self.is_object_of(current).await,
                (_, None) => false,
            };
        }
        match current {
            Some(current) if self.may_move(current, &decision).await? => {
                self.as_possible_move(decision).await
            }
            _ => Ok(decision),
        }
    }

    /// The decision if its provider leads to the same place as before.
    pub(super) async fn decide_in_place(&self, current: Option<&Generation>) -> Result<Decision, Failure> {
        match current {
            None => self.decide_new().await,
            Some(current) => match (&current.status, &current.object) {
                (Status::Deleting, _) => self.decide_undeleted().await,
                (Status::Creating(_), None) => self.decide_unknown_create(current).await,
                (_, None) => self.decide_new().await,
                (Status::Ready, Some(object)) => self.decide_known(object, current, &[]).await,
                (Status::Creating(_), Some(object)) => self.decide_half_made(object, current).await,
                (Status::Updating(_), Some(object)) => self.decide_unfinished(object, current).await,
            },
        }
    }

    /// Nothing is recorded: it is created, unless it exists already (ADOPT-1).
    pub(super) async fn decide_new(&self) -> Result<Decision, Failure> {
        if let Some(state) = self.imported().await? {
            let record = self.draft.nodes[self.at].record.as_ref().map(|(record, _)| record);
            let number = record.map_or(GenerationNumber::FIRST, |record| record.next_number());
            let slot = record.map_or(Slot::FIRST, |record| record.free_slot());
            let found = self.found_by_id(state, number, slot);
            let decision = self.decide_found(found, Reason::Adopted).await?;
            return Ok(Decision { adopts_only: true, ..decision });
        }
        match self.look(self.desired, Duration::ZERO).await? {
            SearchResult::Nothing => self.create(Start::Record, vec![Reason::New]).await,
            SearchResult::Later => self.create(Start::LookFirst, vec![Reason::New]).await,
            SearchResult::Found(found) => self.decide_found(*found, Reason::Adopted).await,
        }
    }

    /// An object that was found and becomes ours (ADOPT-5).
    pub(super) async fn decide_found(&self, found: FoundObject, why: Reason) -> Result<Decision, Failure> {
        let (object, attempted) = (&found.state, Some(&found.sought));
        let prior = Prior { object, attempted, observed: None, bindings: &[] };
        let answer = self.ask(Some(prior)).await?;
        let is_desired = || found.state.inputs.as_ref().is_some_and(|it| self.is_desired(it));
        let answer = match answer.verdict >= Verdict::MayReplace && is_desired() {
            true => Box::pin(self.in_place(answer, prior)).await?,
            false => answer,
        };
        let mut decision = Self::concluded(answer, vec![why]);
        // Taking it into state is an action of its own, even if nothing else is to be done.
        decision.adopts_only = decision.action == Action::NoOp;
        decision.action = decision.action.max(Action::Update);
        decision.start = Start::Adopt(Box::new(found));
        Ok(decision)
    }

    /// What someone named by its id, for this generation and slot.
    pub(super) fn found_by_id(&self, state: State, number: GenerationNumber, slot: Slot) -> FoundObject {
        let (origin, sought) = (self.draft.origin(self.at), self.desired.clone());
        FoundObject { state, number, slot, origin, older: Vec::new(), sought, foreign: false }
    }

    /// An object that is recorded.
    pub(super) async fn decide_known(
        &self,
        object: &State,
        current: &Generation,
        unfinished: &[Reason],
    ) -> Result<Decision, Failure> {
        let node = &self.draft.nodes[self.at];
        if node.sight == Sight::Gone {
            return self.create(Start::Recreate, vec![Reason::Gone]).await;
        }
        if matches!(node.sight, Sight::Elsewhere { .. }) && !self.is_object_of(current).await {
            let decision = self.create(Start::Record, unfinished.to_vec()).await?;
            return self.as_replacement(decision, Reason::ProviderChanged).await;
        }
        let drift_counts = node.declared().is_none_or(|declared| declared.options.drift == DriftPolicy::Fix);
        let compared = node.compared();
        let seen = compared.as_deref().filter(|_| drift_counts);
        let attempted = current.attempt().map(|attempt| &attempt.inputs);
        let prior = Prior { object, attempted, observed: seen, bindings: &current.bindings };
        let answer = self.ask(Some(prior)).await?;
        let answer = match answer.verdict >= Verdict::MayReplace && self.is_object_of(current).await {
            true => Box::pin(self.in_place(answer, prior)).await?,
            false => answer,
        };
        let drifted_inputs = match answer.drift.is_empty() {
            true => Vec::new(),
            false => Box::pin(self.drifted_inputs(object, &answer.drift)).await,
        };
        let mut reasons = unfinished.to_vec();
        if answer.verdict != Verdict::NoOp || !answer.drift.is_empty() {
            reasons.extend((!answer.changes.is_empty()).then_some(Reason::Inputs));
            reasons.extend((!answer.drift.is_empty()).then_some(Reason::Drift));
            reasons.extend((current.bindings != node.bindings).then_some(Reason::Bindings));
        }
        let mut decision = Decision { drifted_inputs, ..Self::concluded(answer, reasons) };
        if matches!(decision.action, Action::Replace | Action::MayReplace) && !self.ignored().is_empty() {
            // Nothing is ignored of a new object.
            decision.outputs = self.ask(None).await?.outputs;
        }
        if !unfinished.is_empty() {
            decision.action = decision.action.max(Action::Update);
        }
        if decision.action == Action::NoOp && !decision.outputs.is_wholly_known() {
            // What stays as it is has the outputs that it has, whatever its type expects (UNKNOWN-3).
            decision.outputs = compared.as_deref().unwrap_or(object).outputs.clone();
        }
        decision = self.forced_or_triggered(decision).await?;
        let changes = matches!(decision.action, Action::Update | Action::MayUpdate);
        if changes && node.sight == Sight::Unreadable && self.may_be_elsewhere(current).await {
            // An update where nobody can look might make a second one.
            decision = self.as_replacement(decision, Reason::ProviderChanged).await?;
        }
        Ok(decision)
    }

    /// The same decision, unless the run was told to update or replace the resource, or something triggers that.
    async fn forced_or_triggered(&self, mut decision: Decision) -> Result<Decision, Failure> {
        if decision.action == Action::NoOp && self.sources.options.force {
            decision.action = Action::Update;
            decision.reasons.push(Reason::Forced);
        }
        let address = &self.draft.nodes[self.at].address;
        if self.sources.options.replace.iter().any(|range| range.covers(address)) {
            decision = self.as_replacement(decision, Reason::Forced).await?;
        }
        if decision.action != Action::Replace && self.is_triggered() {
            decision = self.as_replacement(decision, Reason::Triggered).await?;
        }
        Ok(decision)
    }

    /// Whether something changes that makes the resource be replaced. What is not known yet counts as changing.
    pub(super) fn is_triggered(&self) -> bool {
        let draft = self.draft;
        let triggers = draft.nodes[self.at].declared().map_or(&[][..], |it| &it.replace_triggered_by);
        triggers.iter().any(|trigger| {
            let Some(upstream) = draft.index.get(&trigger.address).map(|at| &draft.nodes[*at]) else {
                return false;
            };
            if trigger.path.is_root() {
                return !matches!(upstream.decision.action, Action::NoOp | Action::Read);
            }
            let Some(object) = upstream.object() else { return false };
            let inputs = object.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
            let before = object.outputs.at(&trigger.path).or_else(|| inputs.at(&trigger.path));
            let after = draft.known().resolve(trigger);
            !before.unwrap_or_default().same(&after.unwrap_or_default())
        })
    }

    /// The plan for a new object.
    pub(super) async fn create(&self, start: Start, reasons: Vec<Reason>) -> Result<Decision, Failure> {
        let answer = self.ask(None).await?;
        let mut decision = Self::concluded(answer, reasons);
        decision.start = start;
        Ok(decision)
    }

    pub(super) async fn as_replacement(&self, decision: Decision, why: Reason) -> Result<Decision, Failure> {
        let fresh = self.ask(None).await?;
        let mut reasons = decision.reasons;
        reasons.push(why);
        Ok(Decision { action: Action::Replace, outputs: fresh.outputs, reasons, ..decision })
    }

    pub(super) fn concluded(answer: PlanAnswer, mut reasons: Vec<Reason>) -> Decision {
        let action = action_of(answer.verdict);
        let mut replace_paths = Vec::new();
        for path in answer.replace_paths {
            // Some providers name an input twice.
            if !replace_paths.contains(&path) {
                replace_paths.push(path);
            }
        }
        if matches!(action, Action::MayUpdate | Action::MayReplace) {
            reasons.push(Reason::OutputUnknown);
        }
        Decision {
            action,
            start: Start::Record,
            reasons,
            changes: answer.changes,
            drift: answer.drift,
            drifted_inputs: Vec::new(),
            replace_paths,
            order: answer.delete_first.then_some(ReplaceOrder::DeleteFirst),
            outputs: answer.outputs,
            keeps_place: false,
            adopts_only: false,
        }
    }

    /// The positions whose changes do not count (PLAN-21).
    pub(super) fn ignored(&self) -> &[Path] {
        let declared = self.draft.nodes[self.at].declared();
        declared.map_or(&[][..], |declared| &declared.options.ignore_changes)
    }

    pub(super) async fn ask(&self, prior: Option<Prior<'_>>) -> Result<PlanAnswer, Failure> {
        let node = &self.draft.nodes[self.at];
        let ignored = self.ignored();
        let (attempted, observed) = prior.map_or((None, None), |prior| (prior.attempted, prior.observed));
        let prior_bindings = prior.map_or(&[][..], |prior| prior.bindings);
        let prior = prior.map(|prior| prior.object);
        let kept = prior
            .filter(|_| !ignored.is_empty())
            .map(|prior| self.handler.keep_ignored(self.desired, prior, observed, ignored));
        let record = node.record.as_ref().map(|(record, _)| &**record);
        let current = record.and_then(|record| record.current.as_ref());
        let replaces = prior.is_none() && current.is_some_and(|current| !current.is_interrupted());
        let origin = self.draft.origin(self.at);
        let context = self.sources.context_as(&node.address, &origin, record);
        let private = PrivateBytes(prior.map(|prior| prior.private.clone()).unwrap_or_default());
        let plan = async |context: &CallContext| {
            let request = PlanRequest {
                config: node.config.as_ref(),
                desired: kept.as_ref().unwrap_or(self.desired),
                prior,
                attempted,
                observed,
                bindings: &node.bindings,
                prior_bindings,
                private: &private,
                replaces,
                context,
            };
            self.handler.plan(request).await
        };
        let mut answer = self.sources.calls.retried(self.sources.call(node), &context, plan).await?;
        if planted!(UpdateNothing) && prior.is_some_and(|prior| prior.inputs.is_none()) {
            answer.verdict = Verdict::Update;
        }
        context.report_warnings(std::mem::take(&mut answer.diagnostics));
        Ok(answer)
    }

    /// The answer about an object that the inputs only spell differently: an update, unless it is replaced for another
    /// reason (REPLACE-11).
    pub(super) async fn in_place(&self, answer: PlanAnswer, prior: Prior<'_>) -> Result<PlanAnswer, Failure> {
        let respelled = |state: &State| respelled(self.handler.schema(), state, self.desired);
        let (object, observed) = (respelled(prior.object), prior.observed.map(respelled));
        let prior = Prior { object: &object, observed: observed.as_ref(), ..prior };
        Ok(updated_instead(answer, self.ask(Some(prior)).await?))
    }
}
