//! Whether a plan came out like the saved one (PLANFILE-3), and where not, field by field.

use std::collections::BTreeMap;

use trueup_core::{Address, Diagnostic, Diagnostics, Mode, Value, diff};

use super::wire::WrittenAction;
use super::{PLAN_AGAIN, SavedPlan};
use crate::plan::{Action, Plan, PlannedAction};

/// How many differing fields of one resource are told.
const FIELDS_MAX: usize = 10;

/// What differs between a saved plan and what it comes to now, as far as it is about that.
pub(crate) fn differences(saved: &SavedPlan, now: &Plan) -> Diagnostics {
    let standing = saved.reach.standing();
    let mut found = Diagnostics::new();
    let by_address = |plan: &Plan| -> BTreeMap<Address, PlannedAction> {
        plan.actions.iter().map(|action| (action.address.clone(), action.clone())).collect()
    };
    let (mut before, after) = (by_address(&saved.plan), by_address(now));
    before.retain(|address, _| saved.reach.addresses.contains(address));
    for (address, planned) in &before {
        match after.get(address) {
            // Who merely depends on what goes may have changed, if there is still nothing to do about it.
            Some(action) if action.action == planned.action && !standing.contains(address) => {}
            Some(action) => found.extend(of_action(planned, action)),
            None => found.push(differs(address, "there is nothing to do about it any more")),
        }
    }
    for (address, action) in after.iter().filter(|(address, _)| !before.contains_key(*address)) {
        found.push(differs(address, &format!("{} was not planned", action.action.name())));
    }
    // What is done must be what the file stands up for.
    let acts = |it: &&PlannedAction| it.action != Action::NoOp && it.address.mode() == Mode::Resource;
    let done = saved.plan.actions.iter().chain(&now.actions).filter(acts);
    for action in done.filter(|it| !standing.contains(&it.address)) {
        found.push(differs(&action.address, "the plan does not say what it stands on"));
    }
    if saved.plan.moves != now.moves {
        found.push(Diagnostic::error("other resources move than were planned to").hint(PLAN_AGAIN));
    }
    // Other outputs may follow from what this plan is not about.
    for change in saved.plan.output_changes() {
        let Some(name) = change.path.first_key() else { continue };
        let (before, after) = (change.after.unwrap_or_default(), now.outputs.get(name).cloned());
        let after = after.unwrap_or_default();
        if !is_same(&before, &after) {
            let summary = format!("the output {name} would be {after}, and {before} was planned");
            found.push(Diagnostic::error(summary).hint(PLAN_AGAIN));
        }
    }
    found
}

/// Unknown where the other is, and the same elsewhere.
fn is_same(before: &Value, after: &Value) -> bool {
    let form = trueup_core::JsonForm::RECORD;
    before.to_json(form) == after.to_json(form)
}

fn of_action(planned: &PlannedAction, now: &PlannedAction) -> Option<Diagnostic> {
    if is_written_alike(planned, now) {
        return None;
    }
    let address = &planned.address;
    if planned.action != now.action {
        let what = format!("{} was planned, and it would be {}", planned.action.name(), now.action.name());
        return Some(differs(address, &what));
    }
    let sides = [("", &planned.inputs, &now.inputs), ("outputs.", &planned.outputs, &now.outputs)];
    let changes = sides.iter().flat_map(|(of, before, after)| {
        diff(before, after).into_iter().filter(|change| change.certain).map(move |change| (*of, change))
    });
    let side = |value: &Option<Value>| value.as_ref().map_or("absent".to_owned(), ToString::to_string);
    let mut fields: Vec<String> = changes
        .map(|(of, it)| format!("{of}{}: {} -> {}", it.path, side(&it.before), side(&it.after)))
        .collect();
    if fields.len() > FIELDS_MAX {
        let more = fields.len() - FIELDS_MAX;
        fields.truncate(FIELDS_MAX);
        fields.push(format!("and {more} more"));
    }
    Some(match fields.is_empty() {
        true => differs(address, "it would be done otherwise than planned"),
        false => differs(address, "it would not come out as planned").detail(fields.join("\n")),
    })
}

/// Origins do not count: they are places in texts, and those may be read from elsewhere.
fn is_written_alike(planned: &PlannedAction, now: &PlannedAction) -> bool {
    let written = |action: &PlannedAction| serde_json::to_string(&WrittenAction(action.clone())).ok();
    written(planned) == written(now)
}

fn differs(address: &Address, what: &str) -> Diagnostic {
    Diagnostic::error(format!("{address}: {what}")).about(address.to_string()).hint(PLAN_AGAIN)
}
