//! Objects that change or vanish behind the provider's back.

use trueup_provider::{Observed, Verdict};

use super::{Checked, Stop, ensure, needs};
use crate::kit::Kit;

/// CRUD-2, DRIFT-2
pub(crate) async fn a_vanished_object_is_seen_as_gone(kit: &Kit) -> Checked {
    let remove = needs(kit.remove.as_ref(), "how to remove an object by hand")?;
    let (desired, state) = kit.created().await?;
    remove(state.clone()).await;
    let seen = kit.driver.read(&desired, &state).await?;
    kit.remove(&desired, &state).await?;
    match seen {
        Observed::Absent => Ok(()),
        Observed::Unreadable => Err(Stop::Skipped("the type cannot read".to_owned())),
        Observed::Present(_) => Err(Stop::Failed("it still reads as present".to_owned())),
    }
}

/// DRIFT-2, DRIFT-3; and the repair leaves what its plan promised.
pub(crate) async fn a_changed_object_is_seen_and_repaired(kit: &Kit) -> Checked {
    let tamper = needs(kit.tamper.as_ref(), "how to change an object by hand")?;
    let (desired, state) = kit.created().await?;
    tamper(state.clone()).await;
    let observed = kit.observe(&desired, &state).await?;
    let plan = kit.driver.plan(&desired, Some(&state), Some(&observed)).await?;
    if plan.verdict == Verdict::NoOp {
        kit.remove(&desired, &state).await?;
        return Err(Stop::Failed("the change went unnoticed".to_owned()));
    }
    let repaired = kit.driver.apply(&desired, Some(&state), Some(&observed)).await?;
    let seen = kit.observe(&desired, &repaired).await?;
    let drift = kit.driver.handler().drift(&state, &seen);
    kit.remove(&desired, &repaired).await?;
    Kit::ensure_as_planned(&plan.outputs, &repaired.outputs)?;
    ensure(drift.is_empty(), || {
        let paths: Vec<String> = drift.iter().map(|change| change.path.to_string()).collect();
        format!("the repair left {} as it was", paths.join(", "))
    })
}
