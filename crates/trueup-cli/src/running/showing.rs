//! Showing a plan.

use std::time::{Duration, SystemTime};

use trueup_core::escape_line;
use trueup_engine::{Action, Plan, PlannedAction};
use trueup_front_end::Purpose;
use trueup_policy::Judgement;
use trueup_program::Program;

use super::{Errand, Unchanged};
use crate::policies::{policies_json, undecided_lines, warnings};
use crate::render::{
    Defaults, PlanView, diagnostics_json, duration, plan_json, render_diagnostics, render_plan,
};
use crate::ui::{Meaning, width};
use crate::workplace::Workplace;

/// What a plan is shown with.
pub(super) struct Showing<'a> {
    pub(super) program: &'a Program,
    pub(super) defaults: Defaults,
    /// When planning began.
    pub(super) begun: SystemTime,
}

/// Tells the plan, and what policies say of it short of objecting.
pub(super) fn show(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    plan: &Plan,
    judged: &Judgement,
    showing: &Showing<'_>,
) {
    let session = workplace.session;
    if errand.unchanged == Unchanged::Noted && plan.is_empty() {
        session.ui.note("No changes");
        return;
    }
    if errand.json {
        let mut told = plan_json(plan, &showing.program.sources);
        let mut warned = workplace.warned();
        warned.extend(plan.warnings.clone());
        told["warnings"] = diagnostics_json(&warned, &showing.program.sources);
        if !errand.policies.is_empty() {
            told["policies"] = policies_json(judged);
        }
        session.ui.json(&told);
        return;
    }
    let took = session.clock.now().duration_since(showing.begun).unwrap_or_default();
    let checked = errand.options.plan.drift && errand.purpose != Purpose::Destroy;
    let header = header(workplace, plan, checked, took);
    let look = session.ui.out();
    let view = PlanView::new(look, errand.shown);
    let body = match view.shown.unchanged {
        true => render_plan(plan, view),
        false => render_plan(&showing.defaults.left_out_of(plan), view),
    };
    session.ui.data(&format!("{header}\n\n{body}"));
    let mut found = plan.warnings.clone();
    found.extend(warnings(judged));
    if !found.is_empty() {
        session.ui.note(&render_diagnostics(&found, &showing.program.sources, session.ui.err()));
    }
    undecided_lines(judged).iter().for_each(|line| session.ui.note(line));
}

/// Whether the object of a planned action was read: there is one, its type can read it, and it is to stay.
fn is_looked_at(action: &PlannedAction) -> bool {
    let goes = matches!(action.action, Action::Delete | Action::Forget);
    !action.prior_outputs.is_null() && !action.unreadable && !goes
}

/// The first line: what this is about.
pub(crate) fn header(workplace: &Workplace<'_>, plan: &Plan, checked: bool, took: Duration) -> String {
    let look = workplace.session.ui.out();
    let stack = workplace.stack.value.as_str();
    let rest = [format!("stage {}", workplace.stage.value), escape_line(&workplace.location()).into_owned()];
    let facts = |stack: String, more: &[String]| look.facts(&[&[stack][..], &rest, more].concat());
    let painted = look.paint(Meaning::Strong, stack);
    let looked_at = plan.actions.iter().filter(|it| is_looked_at(it)).count();
    if !checked || looked_at == 0 {
        return facts(painted, &[]);
    }
    let fact = format!("checked {looked_at} for drift in {}", duration(took));
    match width(&facts(stack.to_owned(), std::slice::from_ref(&fact))) <= look.columns {
        true => facts(painted, &[fact]),
        false => format!("{}\n{fact}", facts(painted, &[])),
    }
}
