//! Why something happens to a resource, in a few words.

use trueup_core::{Address, Change, Path};
use trueup_engine::{Action, Plan, PlannedAction, Reason, ReplaceOrder};

use crate::ui::{Look, Mark};

/// So many names are told; more are counted.
const NAMES_MAX: usize = 3;

const PROVIDER_UNKNOWN: &str = "its provider's configuration is not known yet, and may be for another place";

/// Why, in a few words; empty where the sign says it all.
pub(super) fn why(plan: &Plan, action: &PlannedAction, look: Look) -> String {
    let mut told: Vec<String> = Vec::new();
    let has = |reason: Reason| action.reasons.contains(&reason);
    if has(Reason::Gone) {
        told.push("drift: removed outside trueup".to_owned());
    }
    if has(Reason::ProviderChanged) {
        told.push("its provider is configured for another place".to_owned());
    }
    if has(Reason::Adopted) {
        told.push("exists already, is adopted".to_owned());
    }
    if has(Reason::Recovered) {
        told.push("an earlier run did not finish it".to_owned());
    }
    if has(Reason::Tainted) {
        told.push("its create failed half-way".to_owned());
    }
    match action.action {
        Action::Replace | Action::MayReplace => told.extend(replaced(plan, action)),
        Action::MayUpdate if has(Reason::ProviderUnknown) => told.push(PROVIDER_UNKNOWN.to_owned()),
        Action::MayUpdate => told.push(format!("may update: {}", awaited(plan, action))),
        Action::Read => told.push("read during the run".to_owned()),
        Action::Forget => told.push("left in place, no longer tracked".to_owned()),
        Action::Delete if has(Reason::Undeclared) => told.push("no longer declared".to_owned()),
        Action::NoOp if !action.drift.is_empty() => {
            told.push(format!("drift, left as it is {}", drift_legend(look)));
        }
        Action::Update => told.extend(updated(action, look)),
        Action::NoOp | Action::Create | Action::Delete => {}
    }
    if has(Reason::Forced) {
        told.push("forced".to_owned());
    }
    if has(Reason::Migrated) {
        told.push("recorded under an older schema".to_owned());
    }
    if has(Reason::Moved)
        && let Some(moved) = plan.moves.iter().find(|moved| moved.to == action.address)
    {
        told.push(format!("was {}", moved.from));
    }
    if !action.deposed.is_empty() {
        let numbers: Vec<String> = action.deposed.iter().map(ToString::to_string).collect();
        told.push(format!("deletes what is left of generation {}", numbers.join(", ")));
    }
    told.join("; ")
}

/// Explains the arrow between values that drifted.
fn drift_legend(look: Look) -> String {
    format!("(recorded {} found)", look.mark(Mark::Became))
}

fn updated(action: &PlannedAction, look: Look) -> Vec<String> {
    let mut told = Vec::new();
    if action.reasons.contains(&Reason::Inputs) {
        let certain = changed_fields(&action.changes);
        told.push(match certain.len() {
            0 => "inputs changed".to_owned(),
            1..=NAMES_MAX => format!("{} changed", certain.join(", ")),
            many => format!("{many} inputs changed"),
        });
    }
    if action.reasons.contains(&Reason::Bindings) {
        told.push("its bindings changed".to_owned());
    }
    if action.reasons.contains(&Reason::Drift) {
        told.push(format!("drift: changed outside trueup {}", drift_legend(look)));
    }
    told
}

fn replaced(plan: &Plan, action: &PlannedAction) -> Vec<String> {
    let order = match action.replace_order {
        Some(ReplaceOrder::CreateFirst) => "create first",
        Some(ReplaceOrder::DeleteFirst) => "delete first",
        None => "",
    };
    let may = action.action == Action::MayReplace;
    let mut causes = Vec::new();
    if !action.replace_paths.is_empty() {
        let paths: Vec<String> = action.replace_paths.iter().map(Path::to_string).collect();
        let verb = match (may, paths.len()) {
            (true, _) => "may force",
            (false, 1) => "forces",
            (false, _) => "force",
        };
        causes.push(format!("{} {verb} replacement", paths.join(", ")));
    }
    if action.reasons.contains(&Reason::UpstreamReplaced) {
        let replaced = |address: &&Address| {
            planned(plan, address)
                .is_some_and(|own| matches!(own.action, Action::Replace | Action::MayReplace))
        };
        let upstream: Vec<String> =
            action.dependencies.iter().filter(replaced).map(ToString::to_string).collect();
        causes.push(format!("{} is replaced", upstream.join(", ")));
    }
    if action.reasons.contains(&Reason::Triggered) {
        causes.push("`replace_triggered_by` changes".to_owned());
    }
    if action.reasons.contains(&Reason::ProviderUnknown) {
        causes.push(PROVIDER_UNKNOWN.to_owned());
    }
    if action.reasons.contains(&Reason::SameIdentity) {
        causes.push("both would have the same identity".to_owned());
    }
    if causes.is_empty() && may {
        causes.push(awaited(plan, action));
    }
    let causes = causes.join("; ");
    match (order.is_empty(), causes.is_empty()) {
        (true, _) => vec![causes],
        (false, true) => vec![order.to_owned()],
        (false, false) => vec![format!("{order}: {causes}")],
    }
}

/// What it waits for that is not settled yet.
fn awaited(plan: &Plan, action: &PlannedAction) -> String {
    let unsettled = |address: &&Address| planned(plan, address).is_some_and(|own| own.action != Action::NoOp);
    let mut told: Vec<String> =
        action.dependencies.iter().filter(unsettled).map(ToString::to_string).collect();
    if told.len() > NAMES_MAX {
        let more = told.len() - NAMES_MAX;
        told.truncate(NAMES_MAX);
        told.push(format!("{more} more"));
    }
    match told.is_empty() {
        true => "some of its inputs are not known yet".to_owned(),
        false => format!("depends on {}", told.join(", ")),
    }
}

/// What is planned for a resource. Plans are in the order of addresses.
fn planned<'p>(plan: &'p Plan, address: &Address) -> Option<&'p PlannedAction> {
    let found = plan.actions.binary_search_by(|action| action.address.cmp(address));
    found.ok().map(|at| &plan.actions[at])
}

/// The names of the inputs in which something changed, each once.
fn changed_fields(changes: &[Change]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for change in changes {
        if let Some(name) = change.path.first_key()
            && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names
}
