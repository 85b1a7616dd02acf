//! Stubs: made before the inputs are known, and finished as the same object (BIND-4, CRASH-2).

use trueup_provider::{InputValues, Ownership, Recovery, State};

use super::faults::{STEPS_MAX, blind, census, ensure_one_more};
use super::{Checked, Stop};
use crate::driver::Driver;
use crate::interrupt::interrupted;
use crate::kit::Kit;

/// A stub of these inputs.
async fn precreated(driver: &Driver, desired: &InputValues) -> Result<State, Stop> {
    let made = driver.precreate(desired).await?;
    made.ok_or_else(|| Stop::Failed("no stub can be made of these inputs".to_owned()))
}

/// Reconciling a stub leads to one object with the full inputs.
pub(crate) async fn a_stub_becomes_the_object(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    let before = census(kit)?().await;
    let driver = kit.driver.with_fresh_token();
    let stub = precreated(&driver, &desired).await?;
    let state = driver.apply(&desired, Some(&stub), None).await?;
    ensure_one_more(kit, &desired, &state, before, "after the stub").await
}

/// The same after a crash at any step, by the type's recovery: what comes of the stub is found, or repeated with its
/// token.
pub(crate) async fn a_stub_cut_off_anywhere_is_recovered(kit: &Kit) -> Checked {
    let desired = kit.desired()?;
    let stub = kit.driver.handler().stub_inputs(&desired).into_result()?;
    if kit.driver.handler().recovery(&stub.effective) == Recovery::Blind {
        return Err(blind());
    }
    let count = census(kit)?;
    for steps in (0..STEPS_MAX).step_by(kit.stride) {
        let before = count().await;
        let driver = kit.driver.with_fresh_token();
        let cut_off = interrupted(driver.precreate(&desired), steps, kit.steps.as_ref()).await;
        let finished = cut_off.is_some();
        kit.settled().await;
        let made = recover(kit, &driver, &desired, &stub).await?;
        let state = driver.apply(&desired, Some(&made), None).await?;
        ensure_one_more(kit, &desired, &state, before, &format!("after {steps} steps of the stub")).await?;
        if finished {
            return Ok(());
        }
    }
    Err(Stop::Failed(format!("it did not end within {STEPS_MAX} steps")))
}

/// Does what the engine does about a stub whose outcome it does not know.
async fn recover(
    kit: &Kit,
    driver: &Driver,
    desired: &InputValues,
    stub: &InputValues,
) -> Result<State, Stop> {
    if driver.handler().recovery(&stub.effective) == Recovery::Token {
        return precreated(driver, desired).await;
    }
    let found = driver.lookup(stub).await?;
    let cannot = || Stop::Failed("the type says it recovers by lookup, and cannot look up".to_owned());
    match found.ok_or_else(cannot)?.into_iter().next() {
        None => precreated(driver, desired).await,
        Some(found) if found.ownership == Ownership::Unowned => {
            kit.remove(desired, &found.state).await?;
            Err(Stop::Failed("its own stub was found as someone else's".to_owned()))
        }
        Some(found) => Ok(found.state),
    }
}
