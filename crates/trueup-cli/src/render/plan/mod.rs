//! A plan as people read it: what happens to each resource, why, and field by field.
//!
//! Resources stand in natural order, grouped by module, those with nothing to do at the end and folded when they are
//! many. `defaults` leaves out what goes without saying, `fields` writes what changes inside one, `reason` says why, `json` is the
//! same for machines, `markdown` for pull requests.

mod change;
#[cfg(test)]
mod change_tests;
mod defaults;
mod fields;
mod json;
mod markdown;
mod reason;
#[cfg(test)]
mod tests;

use trueup_core::Address;
use trueup_engine::{Action, Plan, PlannedAction};

use super::natural::sort_by_address;
use crate::ui::{Line, Look, Mark, Meaning, hanging, width, wrapped};

pub(crate) use defaults::Defaults;
pub(crate) use json::{action_json, plan_json};
pub(crate) use markdown::plan_markdown;

/// So many resources without change are listed; more are counted.
const UNCHANGED_LISTED_MAX: usize = 4;

/// Where addresses end, if they are not longer.
const ADDRESS_COLUMNS_MAX: usize = 30;

/// How a plan is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanView {
    /// How it looks.
    pub look: Look,
    /// How much is shown.
    pub shown: Shown,
}

impl PlanView {
    /// Shows so much of a plan.
    pub(crate) fn new(look: Look, shown: Shown) -> Self {
        PlanView { look: Look { whole: look.whole || shown.whole, ..look }, shown }
    }
}

/// How much of a plan is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shown {
    /// The fields of each resource, not only what happens to it.
    pub fields: bool,
    /// Unchanged resources by name, unchanged fields and defaults.
    pub unchanged: bool,
    /// Long values and lists in full.
    pub whole: bool,
}

impl Shown {
    /// What happens to each resource.
    pub(crate) const BRIEF: Shown = Shown { fields: false, unchanged: false, whole: false };
    /// What changes.
    pub(crate) const CHANGES: Shown = Shown { fields: true, ..Shown::BRIEF };
}

/// The plan as text: a block for each resource, then the summary.
pub(crate) fn render_plan(plan: &Plan, view: PlanView) -> String {
    let mut lines = Vec::new();
    let actions = render_actions(plan, view);
    if !actions.is_empty() {
        lines.extend([actions, String::new()]);
    }
    let outputs = fields::output_fields(&plan.output_changes(), 4, view);
    if !outputs.is_empty() && view.shown.fields {
        lines.push("  Outputs".to_owned());
        lines.extend(outputs);
        lines.push(String::new());
    }
    if !plan.left_out.is_empty() {
        let mut left_out: Vec<&Address> = plan.left_out.iter().collect();
        sort_by_address(&mut left_out, |it| it);
        lines.push(hanging(&format!("Left out of this run: {}", listed(&left_out, view)), None, view.look));
    }
    lines.push(hanging(&plan.summary(), Some(Meaning::Strong), view.look));
    lines.join("\n")
}

/// What happens to each resource.
pub(crate) fn render_actions(plan: &Plan, view: PlanView) -> String {
    let mut lines: Vec<String> = Vec::new();
    for moved in &plan.moves {
        let arrow = view.look.mark(Mark::Becomes);
        lines.push(format!("  {arrow} {} is now {}", moved.from, moved.to));
    }
    let (mut unchanged, mut changed): (Vec<_>, Vec<_>) = plan.actions.iter().partition(|it| is_unchanged(it));
    sort_by_address(&mut changed, |it| &it.address);
    if are_listed(&unchanged, view) {
        sort_by_address(&mut unchanged, |it| &it.address);
    }
    let column = address_column(&changed);
    let mut module = String::new();
    for action in changed {
        open_module(&action.address, &mut module, &mut lines);
        lines.extend(resource(plan, action, column, view));
    }
    if !module.is_empty() && !unchanged.is_empty() {
        // They are not of the module that was opened last.
        lines.push(String::new());
    }
    lines.extend(folded(&unchanged, view));
    lines.join("\n")
}

/// One resource of the plan.
pub(crate) fn render_action(plan: &Plan, action: &PlannedAction, view: PlanView) -> String {
    resource(plan, action, width(&short(&action.address)), view).join("\n")
}

fn is_unchanged(action: &PlannedAction) -> bool {
    action.action == Action::NoOp && action.deposed.is_empty() && action.drift.is_empty()
}

/// Whether the unchanged ones are told by name, or only how many they are.
fn are_listed(unchanged: &[&PlannedAction], view: PlanView) -> bool {
    unchanged.len() <= UNCHANGED_LISTED_MAX || view.shown.unchanged
}

/// The width of the addresses that have something beside them.
fn address_column(changed: &[&PlannedAction]) -> usize {
    let widths = changed.iter().map(|action| width(&short(&action.address)));
    widths.filter(|width| *width <= ADDRESS_COLUMNS_MAX).max().unwrap_or(0)
}

/// The address without its module, which stands above.
fn short(address: &Address) -> String {
    address.in_module(trueup_core::ModulePath::ROOT).to_string()
}

fn open_module(address: &Address, module: &mut String, lines: &mut Vec<String>) {
    let own = address.module().to_string();
    if own != *module {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("  {own}"));
        *module = own;
    }
}

fn resource(plan: &Plan, action: &PlannedAction, column: usize, view: PlanView) -> Vec<String> {
    let look = view.look;
    let (sign, meaning) = sign(action, look);
    let sign_columns = sign_columns(look);
    let head =
        Line::new().text("  ").meaning(meaning, sign).to(2 + sign_columns).text(short(&action.address));
    let why = reason::why(plan, action, view.look);
    let mut lines = Vec::new();
    let why_column = (2 + sign_columns + column).max(head.width()) + 2;
    if why.is_empty() {
        lines.push(head.render(look));
    } else if why_column + width(&why) <= look.columns {
        lines.push(head.to(why_column).text(why).render(look));
    } else {
        lines.push(head.render(look));
        let indent = 4 + sign_columns;
        lines.extend(
            wrapped(&why, look.columns - indent)
                .into_iter()
                .map(|line| format!("{}{line}", " ".repeat(indent))),
        );
    }
    if view.shown.fields {
        lines.extend(fields::fields(action, 4 + sign_columns, view));
    }
    lines
}

/// The unchanged ones: each by name if they are few, else how many.
fn folded(unchanged: &[&PlannedAction], view: PlanView) -> Vec<String> {
    let look = view.look;
    let bullet = look.mark(Mark::NoOp);
    if !are_listed(unchanged, view) {
        return vec![look.paint(Meaning::Quiet, &format!("  {bullet} {} unchanged", unchanged.len()))];
    }
    let sign_columns = sign_columns(look);
    let line = |action: &&PlannedAction| {
        let head = Line::new().text("  ").meaning(Meaning::Quiet, bullet).to(2 + sign_columns);
        head.meaning(Meaning::Quiet, action.address.to_string()).render(look)
    };
    let mut lines = Vec::new();
    for action in unchanged {
        lines.push(line(action));
        if view.shown.unchanged {
            lines.extend(fields::fields(action, 4 + sign_columns, view));
        }
    }
    lines
}

/// How many columns the signs take, with the space after them.
fn sign_columns(look: Look) -> usize {
    if look.unicode { 3 } else { 5 }
}

fn sign(action: &PlannedAction, look: Look) -> (String, Meaning) {
    let replace = look.mark(Mark::Replace);
    match action.action {
        Action::NoOp => (look.mark(Mark::NoOp).to_owned(), Meaning::Quiet),
        Action::Read => ("?".to_owned(), Meaning::Quiet),
        Action::MayUpdate => ("~?".to_owned(), Meaning::Update),
        Action::Update => ("~".to_owned(), Meaning::Update),
        Action::MayReplace => (format!("{replace}?"), Meaning::Replace),
        Action::Replace => (replace.to_owned(), Meaning::Replace),
        Action::Create => ("+".to_owned(), Meaning::Create),
        Action::Delete => ("-".to_owned(), Meaning::Delete),
        Action::Forget => ("x".to_owned(), Meaning::Update),
    }
}

/// The first few, and how many more.
fn listed(addresses: &[&Address], view: PlanView) -> String {
    const LISTED_MAX: usize = 3;
    let shown = if view.look.whole { addresses.len() } else { LISTED_MAX };
    let mut told: Vec<String> = addresses.iter().take(shown).map(ToString::to_string).collect();
    if addresses.len() > shown {
        told.push(format!("and {} more", addresses.len() - shown));
    }
    told.join(", ")
}
