//! Calls that are cut off: at every point where they wait, or after each step that the author counts, and between the effect and its record (CRASH-7).
//!
//! That nothing was leaked or doubled only a census can tell: without one these checks are skipped rather than passed.

use trueup_provider::{InputValues, Ownership, Recovery, State};

use super::{Checked, Stop, ensure, needs};
use crate::driver::Driver;
use crate::interrupt::interrupted;
use crate::kit::{Census, Kit};

/// More steps than any call takes; beyond it something loops.
pub(super) const STEPS_MAX: usize = 10_000;

/// Does what the engine does about a create whose outcome it does not know (CRASH-1).
async fn recover(kit: &Kit, driver: &Driver, desired: &InputValues) -> Result<State, Stop> {
    let prior = match driver.handler().recovery(&desired.effective) {
        Recovery::Token => None,
        Recovery::Lookup => match driver.lookup(desired).await? {
            None => {
                return Err(Stop::Failed(
                    "the type says it recovers by lookup, and cannot look up".to_owned(),
                ));
            }
            Some(found) => match found.into_iter().next() {
                Some(found) if found.ownership == Ownership::Unowned => {
                    kit.remove(desired, &found.state).await?;
                    return Err(Stop::Failed(
                        "its own half-made object was found as someone else's".to_owned(),
                    ));
                }
                found => found.map(|found| found.state),
            },
        },
        Recovery::Blind => return Err(blind()),
    };
    Ok(driver.apply(desired, prior.as_ref(), None).await?)
}

/// Why a check of recovery is skipped for a type that has none: before anything is cut off, since nothing could find
/// what that leaves.
pub(super) fn blind() -> Stop {
    Stop::Skipped("the type is blind: a person settles what became of a create that was cut off".to_owned())
}

/// How to count objects, or a skip that says what is missing.
pub(super) fn census(kit: &Kit) -> Result<&Census, Stop> {
    needs(kit.census.as_ref(), "how to count objects, without which a leak goes unseen")
}

/// Ends the check unless there is exactly one object more than before, then removes it.
pub(super) async fn ensure_one_more(
    kit: &Kit,
    desired: &InputValues,
    state: &State,
    before: usize,
    cut_off: &str,
) -> Checked {
    let count = census(kit)?;
    let found = count().await;
    let no_op = kit.ensure_no_op(desired, state).await;
    kit.remove(desired, state).await?;
    let left = count().await;
    ensure(found == before + 1, || {
        format!("cut off {cut_off}: {before} objects before, {found} after recovery")
    })?;
    ensure(left == before, || format!("cut off {cut_off}: {before} objects before, {left} after clean-up"))?;
    no_op
}

pub(crate) async fn a_create_cut_off_anywhere_is_recovered(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    if kit.driver.handler().recovery(&desired.effective) == Recovery::Blind {
        return Err(blind());
    }
    let count = census(kit)?;
    for steps in (0..STEPS_MAX).step_by(kit.stride) {
        let before = count().await;
        let driver = kit.driver.with_fresh_token();
        if let Some(finished) =
            interrupted(driver.apply(&desired, None, None), steps, kit.steps.as_ref()).await
        {
            return kit.remove(&desired, &finished?).await;
        }
        kit.settled().await;
        let state = recover(kit, &driver, &desired).await?;
        ensure_one_more(kit, &desired, &state, before, &format!("after {steps} steps")).await?;
    }
    Err(Stop::Failed(format!("it did not end within {STEPS_MAX} steps")))
}

pub(crate) async fn a_create_whose_answer_was_lost_is_recovered(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    if kit.driver.handler().recovery(&desired.effective) == Recovery::Blind {
        return Err(blind());
    }
    let before = census(kit)?().await;
    let driver = kit.driver.with_fresh_token();
    driver.apply(&desired, None, None).await?;
    let state = recover(kit, &driver, &desired).await?;
    ensure_one_more(kit, &desired, &state, before, "after the create").await
}

/// CRASH-3
pub(crate) async fn an_update_cut_off_anywhere_is_repeated(kit: &Kit) -> Checked {
    let updated = needs(kit.updated.as_ref(), "inputs for an update")?;
    let updated = kit.driver.inputs(updated)?;
    for steps in (0..STEPS_MAX).step_by(kit.stride) {
        let (_, state) = kit.created().await?;
        let cut_off =
            interrupted(kit.driver.apply(&updated, Some(&state), Some(&state)), steps, kit.steps.as_ref())
                .await;
        let finished = cut_off.is_some();
        kit.settled().await;
        // The original state stays the baseline: the record still says what was before.
        let repeated = kit.driver.apply(&updated, Some(&state), Some(&state)).await?;
        let no_op = kit.ensure_no_op(&updated, &repeated).await;
        kit.remove(&updated, &repeated).await?;
        no_op?;
        if finished {
            return Ok(());
        }
    }
    Err(Stop::Failed(format!("it did not end within {STEPS_MAX} steps")))
}

/// DELETE-5
pub(crate) async fn a_delete_cut_off_anywhere_is_repeated(kit: &Kit) -> Checked {
    let count = census(kit)?;
    for steps in (0..STEPS_MAX).step_by(kit.stride) {
        let before = count().await;
        let (desired, state) = kit.created().await?;
        let finished =
            interrupted(kit.driver.delete(&desired, &state), steps, kit.steps.as_ref()).await.is_some();
        kit.settled().await;
        kit.remove(&desired, &state).await?;
        let after = count().await;
        ensure(before == after, || {
            format!("cut off after {steps} steps: {before} objects before, {after} after")
        })?;
        if finished {
            return Ok(());
        }
    }
    Err(Stop::Failed(format!("it did not end within {STEPS_MAX} steps")))
}
