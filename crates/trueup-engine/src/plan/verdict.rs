//! From a type's answer to the action of a plan.

use trueup_provider::{PlanAnswer, Verdict};

use super::Action;

/// What a type's verdict means for the plan.
pub(crate) fn action_of(verdict: Verdict) -> Action {
    match verdict {
        Verdict::NoOp => Action::NoOp,
        Verdict::MayUpdate => Action::MayUpdate,
        Verdict::Update => Action::Update,
        Verdict::MayReplace => Action::MayReplace,
        Verdict::Replace => Action::Replace,
        Verdict::Create => Action::Create,
    }
}

/// The plan for an object whose identity is only spelled differently, by the type's answer about it and by that about the
/// same object in its new spelling (REPLACE-11).
pub(crate) fn updated_instead(answer: PlanAnswer, respelled: PlanAnswer) -> PlanAnswer {
    match respelled.verdict {
        Verdict::MayReplace | Verdict::Replace | Verdict::Create => answer,
        verdict => PlanAnswer { verdict: verdict.max(Verdict::Update), changes: answer.changes, ..respelled },
    }
}
