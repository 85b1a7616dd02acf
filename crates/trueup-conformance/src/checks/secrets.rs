//! Secrets: marked wherever they go, told nowhere (SECRET-1).

use trueup_core::{JsonForm, Value};

use super::{Checked, ensure, needs};
use crate::kit::Kit;

pub(crate) async fn secrets_are_marked_and_never_told(kit: &Kit) -> Checked {
    let canary = needs(kit.canary.as_ref(), "a text that stands in secret fields only")?;
    let desired = kit.desired()?;
    ensure(holds(&desired.effective, canary), || "the first inputs do not hold the secret".to_owned())?;
    let plan = kit.driver.plan(&desired, None, None).await?;
    let mut told = vec![("the plan", format!("{plan:?}"))];
    let (desired, state) = kit.created().await?;
    told.push(("the state", format!("{state:?} {}", state.outputs.to_json(JsonForm::PUBLIC))));
    told.push(("the inputs", format!("{desired:?} {}", desired.effective.to_json(JsonForm::PUBLIC))));
    kit.remove(&desired, &state).await?;
    if let Ok(progress) = kit.progress.lock() {
        told.push(("progress", progress.join(" ")));
    }
    for (where_told, text) in told {
        ensure(!text.contains(canary.as_str()), || {
            format!("the secret is told in the clear by {where_told}")
        })?;
    }
    Ok(())
}

/// Whether a text stands anywhere in a value.
fn holds(value: &Value, text: &str) -> bool {
    value.as_str().is_some_and(|own| own.contains(text)) || value.children().any(|child| holds(child, text))
}
