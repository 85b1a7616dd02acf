//! A plan for machines. The form has a version of its own, and holds no secrets.

use serde_json::{Value as Json, json};
use trueup_core::{Change, JsonForm, SourceMap, Value};
use trueup_engine::{Plan, PlannedAction, ReplaceOrder};

use crate::render::diagnostics_json;

/// The version of the form.
const PLAN_JSON_VERSION: u32 = 2;

/// The plan as JSON. Its warnings are about these sources.
pub(crate) fn plan_json(plan: &Plan, sources: &SourceMap) -> Json {
    let counts: serde_json::Map<String, Json> = plan
        .counts()
        .into_iter()
        .map(|(count, words)| (words.trim_start_matches("to ").replace(' ', "_"), json!(count)))
        .collect();
    let moves: Vec<Json> =
        plan.moves.iter().map(|moved| json!({ "from": moved.from, "to": moved.to })).collect();
    json!({
        "version": PLAN_JSON_VERSION,
        "kind": "plan",
        "stack": plan.scope.stack,
        "stage": plan.scope.stage,
        "changes": !plan.is_empty(),
        "summary": plan.summary(),
        "counts": counts,
        "actions": plan.actions.iter().map(action_json).collect::<Vec<_>>(),
        "moves": moves,
        "left_out": plan.left_out,
        "outputs": plan.outputs.to_json_tree(JsonForm::PUBLIC),
        "output_changes": changes_json(&plan.output_changes()),
        "warnings": diagnostics_json(&plan.warnings, sources),
    })
}

/// What happens to one resource, as JSON.
pub(crate) fn action_json(action: &PlannedAction) -> Json {
    let order = action.replace_order.map(|order| match order {
        ReplaceOrder::CreateFirst => "create-first",
        ReplaceOrder::DeleteFirst => "delete-first",
    });
    let reasons: Vec<String> = action.reasons.iter().map(ToString::to_string).collect();
    json!({
        "address": action.address,
        "type": action.address.type_name(),
        "action": action.action.name(),
        "decision": action.decision(),
        "reasons": reasons,
        "changes": changes_json(&action.changes),
        "drift": changes_json(&action.drift),
        "drifted_inputs": changes_json(&action.drifted_inputs),
        "bindings": changes_json(&action.bindings),
        "drift_checked": !action.unreadable,
        "replace_paths": action.replace_paths,
        "replace_order": order,
        "inputs": action.inputs.to_json_tree(JsonForm::PUBLIC),
        "outputs": action.outputs.to_json_tree(JsonForm::PUBLIC),
        "dependencies": action.dependencies,
        "deposed": action.deposed,
    })
}

fn changes_json(changes: &[Change]) -> Vec<Json> {
    let side = |value: &Option<Value>| value.as_ref().map(|value| value.to_json_tree(JsonForm::PUBLIC));
    let change = |it: &Change| json!({ "path": it.path, "before": side(&it.before), "after": side(&it.after), "certain": it.certain });
    changes.iter().map(change).collect()
}
