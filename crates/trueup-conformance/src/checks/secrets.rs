//! Secrets: marked wherever they go, told nowhere (SECRET-1, SECRET-5).

use std::fmt::Debug;

use trueup_core::{Entries, JsonForm, Type, Value};
use trueup_provider::{ApplyFailure, InputValues, State};

use super::{Checked, ensure, needs};
use crate::kit::Kit;

/// Every answer of a whole life is looked through, failures included.
pub(crate) async fn secrets_are_marked_and_never_told(kit: &Kit) -> Checked {
    let canary = needs(kit.canary.as_ref(), "a text that stands in secret fields only")?;
    let configured = kit.driver.config_secrets();
    let desired = kit.desired()?;
    ensure(holds(&desired.effective, canary), || "the first inputs do not hold the secret".to_owned())?;
    let updated = kit.updated.as_ref().map_or(Ok(desired.clone()), |updated| kit.driver.inputs(updated))?;
    let mut told = Told::default();
    told.answer("the inputs", &desired);
    told.value("the inputs", &desired.effective);
    told.answer("the plan of a create", &kit.driver.plan(&desired, None, None).await);
    told.answer("a plan with unknown inputs", &plan_with_unknowns(kit, canary).await);
    told.answer("a lookup of nothing", &kit.driver.lookup(&desired).await);
    let driver = kit.driver.with_fresh_token();
    let created = driver.apply(&desired, None, None).await;
    told.applied("what was created", &created);
    let lived = match created {
        Ok(state) => live(kit, &desired, &updated, state, &mut told).await,
        Err(ApplyFailure { failure, partial }) => {
            if let Some(partial) = partial {
                told.answer("a delete", &driver.delete(&desired, &partial).await);
            }
            Err(failure.into())
        }
    };
    if let Ok(progress) = kit.progress.lock() {
        told.answer("progress", &*progress);
    }
    [canary.as_str()].into_iter().chain(configured).try_for_each(|secret| told.ensure_without(secret))?;
    lived
}

/// Updates the object, and again after it was removed by hand, which makes most types fail. Leaves nothing behind.
async fn live(
    kit: &Kit,
    desired: &InputValues,
    updated: &InputValues,
    created: State,
    told: &mut Told,
) -> Checked {
    let driver = &kit.driver;
    told.answer("a read", &driver.read(desired, &created).await);
    told.answer("a lookup", &driver.lookup(desired).await);
    told.answer("the plan of an update", &driver.plan(updated, Some(&created), Some(&created)).await);
    let changed = driver.apply(updated, Some(&created), Some(&created)).await;
    told.applied("what was updated", &changed);
    let state = settled(changed).unwrap_or(created);
    if let Some(remove) = &kit.remove {
        remove(state.clone()).await;
        told.answer("a read of what is gone", &driver.read(updated, &state).await);
        let again = driver.apply(desired, Some(&state), Some(&state)).await;
        told.applied("an update of what is gone", &again);
        // Some types make the object anew instead of failing.
        if let Some(remade) = settled(again) {
            let deleted = driver.delete(desired, &remade).await;
            told.answer("a delete", &deleted);
            deleted?;
        }
    }
    let deleted = driver.delete(updated, &state).await;
    told.answer("a delete", &deleted);
    Ok(deleted?)
}

/// Plans a create of which only what holds the secret is known.
async fn plan_with_unknowns(kit: &Kit, canary: &str) -> String {
    let entries = kit.base.as_entries().into_iter().flat_map(Entries::iter);
    let concealed = entries.map(|(name, value)| {
        let value = if holds(value, canary) { value.clone() } else { Value::unknown(Type::Any) };
        (name.clone(), value)
    });
    match kit.driver.inputs(&Value::object(concealed)) {
        Ok(desired) => format!("{desired:?} {:?}", kit.driver.plan(&desired, None, None).await),
        Err(diagnostics) => format!("{diagnostics:?}"),
    }
}

/// The object that there is after an apply, as far as anyone knows.
fn settled(applied: Result<State, ApplyFailure>) -> Option<State> {
    applied.map_or_else(|failed| failed.partial.map(|partial| *partial), Some)
}

/// All that was said, and by what.
#[derive(Default)]
struct Told(Vec<(&'static str, String)>);

impl Told {
    fn answer(&mut self, by: &'static str, answer: &impl Debug) {
        self.0.push((by, format!("{answer:?}")));
    }

    fn value(&mut self, by: &'static str, value: &Value) {
        self.0.push((by, value.to_json(JsonForm::PUBLIC)));
    }

    fn applied(&mut self, by: &'static str, applied: &Result<State, ApplyFailure>) {
        self.answer(by, applied);
        match applied {
            Ok(state) => self.value(by, &state.outputs),
            Err(failed) => self.0.push((by, failed.failure.to_string())),
        }
    }

    fn ensure_without(&self, canary: &str) -> Checked {
        let teller = self.0.iter().find(|(_, text)| text.contains(canary));
        ensure(teller.is_none(), || {
            format!("the secret is told in the clear by {}", teller.map_or("", |(by, _)| *by))
        })
    }
}

/// Whether a text stands anywhere in a value.
fn holds(value: &Value, text: &str) -> bool {
    value.as_str().is_some_and(|own| own.contains(text)) || value.children().any(|child| holds(child, text))
}
