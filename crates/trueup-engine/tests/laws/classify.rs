//! Classification against a second opinion: a naive oracle, written from the specification alone, says for each
//! resource what a plan must make of it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use trueup_engine::Action;

use crate::laws::cases;
use crate::laws::course::{Course, Edited};
use crate::laws::sketch::{Colour, Item, Sketch, address, scenario};

proptest! {
    #![proptest_config(cases())]

    /// PLAN-1, PLAN-2, PLAN-3, PLAN-4, PLAN-5, DRIFT-2, UNKNOWN-1, UNKNOWN-2, UNKNOWN-3, UNKNOWN-7, UNKNOWN-8,
    /// REPLACE-2, REPLACE-9
    #[test]
    fn plans_classify_as_the_specification_does(scenario in scenario(6)) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            let plan = course.plan(&edited.sketch);
            let actions = plan.as_ref().map(|plan| {
                plan.actions.iter().map(|it| (it.address.to_string(), it.action)).collect::<BTreeMap<_, _>>()
            });
            prop_assert_eq!(actions, expected(&course.deployed, &edited), "{:#?}", edited);
            course.deploy(&edited.sketch);
        }
    }
}

/// The action of each address; `None` if the plan must be refused.
fn expected(old: &Sketch, edited: &Edited) -> Option<BTreeMap<String, Action>> {
    let new = &edited.sketch;
    let mut actions: BTreeMap<usize, Action> = BTreeMap::new();
    for number in in_order(new) {
        let action = match old.items.get(&number) {
            // PLAN-1, DRIFT-2
            None => Action::Create,
            Some(_) if edited.meddled.vanished.contains(&number) => Action::Create,
            Some(before) => {
                compared(before, &new.items[&number], edited.meddled.tampered.contains(&number), &actions)
            }
        };
        actions.insert(number, action);
    }
    let sound = spread_delete_first(old, new, &mut actions);
    let protected = |number: &usize| match new.items.get(number) {
        Some(item) => item.options.protect && is_replacement(actions[number]),
        None => old.items[number].options.protect && !old.items[number].options.retain,
    };
    if !sound || new.items.keys().chain(removed(old, new)).any(protected) {
        return None;
    }
    // PLAN-5, DELETE-7
    for number in removed(old, new) {
        let action = if old.items[number].options.retain { Action::Forget } else { Action::Delete };
        actions.insert(*number, action);
    }
    Some(actions.into_iter().map(|(number, action)| (address(number), action)).collect())
}

fn removed<'a>(old: &'a Sketch, new: &'a Sketch) -> impl Iterator<Item = &'a usize> {
    old.items.keys().filter(|number| !new.items.contains_key(number))
}

fn is_replacement(action: Action) -> bool {
    matches!(action, Action::Replace | Action::MayReplace)
}

/// What differs for certain, what may, and what does not.
#[derive(Clone, Copy, PartialEq)]
enum Difference {
    None,
    Perhaps,
    Certain,
}

/// What becomes of a resource that is declared, recorded and there: the strongest of all that asks for something.
fn compared(before: &Item, after: &Item, tampered: bool, upstream: &BTreeMap<usize, Action>) -> Action {
    // The url of another: known while that stays as it is (UNKNOWN-3), else not before apply (UNKNOWN-1, UNKNOWN-2).
    let url = |before: Option<usize>, after: Option<usize>| match after {
        Some(other) if upstream[&other] != Action::NoOp => Difference::Perhaps,
        _ if before == after => Difference::None,
        _ => Difference::Certain,
    };
    let colour = match (&before.colour, &after.colour) {
        (Colour::Plain(before), Colour::Plain(after)) if before == after => Difference::None,
        (_, Colour::Plain(_)) => Difference::Certain,
        (Colour::UrlOf(before), Colour::UrlOf(after)) => url(Some(*before), Some(*after)),
        (Colour::Plain(_), Colour::UrlOf(after)) => url(None, Some(*after)),
    };
    let from = url(before.from, after.from);
    if colour == Difference::Certain {
        Action::Replace
    } else if colour == Difference::Perhaps {
        Action::MayReplace
    } else if before.size != after.size || from == Difference::Certain || tampered {
        Action::Update
    } else if from == Difference::Perhaps {
        Action::MayUpdate
    } else {
        Action::NoOp
    }
}

/// Delete-first is contagious (REPLACE-2): what uses it and must or may be replaced is replaced delete-first,
/// and must not be said to be create-first. Whether that is sound.
fn spread_delete_first(old: &Sketch, new: &Sketch, actions: &mut BTreeMap<usize, Action>) -> bool {
    let own = |number: usize| new.items[&number].options.delete_first;
    // What is retained is never deleted, so neither is it deleted first (REPLACE-8).
    let deleted = |number: &usize| is_replacement(actions[number]) && !new.items[number].options.retain;
    let replaced: Vec<usize> = new.items.keys().copied().filter(deleted).collect();
    let mut first: Vec<usize> =
        replaced.iter().copied().filter(|number| own(*number) == Some(true)).collect();
    let mut caught: Vec<usize> = Vec::new();
    loop {
        // It counts what each used when it was recorded: who only will depend on it has nothing that stands in the way.
        let uses = |number: usize| {
            old.items.contains_key(&number)
                && old.dependencies(number).iter().any(|other| first.contains(other))
        };
        let next: Vec<usize> =
            replaced.iter().copied().filter(|number| !caught.contains(number) && uses(*number)).collect();
        if next.is_empty() {
            break;
        }
        first.extend(&next);
        caught.extend(next);
    }
    for number in &caught {
        actions.insert(*number, Action::Replace);
    }
    caught.iter().all(|number| own(*number) != Some(false))
}

/// The resources, each after all it depends on, found the slow way.
fn in_order(sketch: &Sketch) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < sketch.items.len() {
        let ready = |number: &&usize| {
            !order.contains(number) && sketch.dependencies(**number).iter().all(|other| order.contains(other))
        };
        let next = *sketch.items.keys().find(ready).expect("a sketch has no circles");
        order.push(next);
    }
    order
}
