//! Finding objects by their identity alone (ADOPT-1, ADOPT-2).

use trueup_provider::{InputValues, Ownership, Recovery, Sighting, State, Verdict};

use super::{Checked, Stop, ensure, needs};
use crate::kit::Kit;

/// What a lookup finds, or a skip if the type cannot look.
async fn sightings(kit: &Kit, desired: &InputValues) -> Result<Vec<Sighting>, Stop> {
    let claims = kit.driver.handler().recovery(&desired.effective) == Recovery::Lookup;
    match kit.driver.lookup(desired).await? {
        Some(found) => Ok(found),
        None if claims => {
            Err(Stop::Failed("the type says it recovers by lookup, and cannot look up".to_owned()))
        }
        None => Err(Stop::Skipped("the type cannot look up".to_owned())),
    }
}

pub(crate) async fn nothing_is_found_before_it_exists(kit: &Kit) -> Checked {
    let found = sightings(kit, &kit.desired()?).await?;
    ensure(found.is_empty(), || format!("{} objects were found", found.len()))
}

pub(crate) async fn ones_own_object_is_found_as_owned(kit: &Kit) -> Checked {
    let (desired, state) = kit.created().await?;
    let found = sightings(kit, &desired).await;
    let recreated = match found.as_deref() {
        Ok([Sighting { state: seen, .. }]) => kit.driver.handler().drift(&state, seen),
        _ => Vec::new(),
    };
    kit.remove(&desired, &state).await?;
    match found?.as_slice() {
        [Sighting { ownership: Ownership::Owned { .. }, .. }] => {
            ensure(recreated.is_empty(), || format!("it was found with other values: {recreated:?}"))
        }
        [Sighting { ownership: Ownership::Unowned, .. }] => {
            Err(Stop::Failed("it was found as someone else's".to_owned()))
        }
        found => Err(Stop::Failed(format!("{} objects were found", found.len()))),
    }
}

pub(crate) async fn a_foreign_object_is_found_as_unowned(kit: &Kit) -> Checked {
    let (desired, found) = foreign(kit).await?;
    for sighting in &found {
        take_over_and_remove(kit, &desired, sighting).await?;
    }
    match found.as_slice() {
        [Sighting { ownership: Ownership::Unowned, .. }] => Ok(()),
        [Sighting { ownership: Ownership::Owned { .. }, .. }] => {
            Err(Stop::Failed("it was taken for one's own".to_owned()))
        }
        found => Err(Stop::Failed(format!("{} objects were found", found.len()))),
    }
}

/// ADOPT-2: whoever takes over says so where the next lookup finds it, or lost state would find it foreign again.
pub(crate) async fn a_foreign_object_that_is_taken_over_is_ones_own(kit: &Kit) -> Checked {
    needs(kit.marked.then_some(&()), "that objects bear a mark")?;
    let (desired, found) = foreign(kit).await?;
    let Some(Sighting { state: foreign, .. }) = found.into_iter().next() else {
        return Err(Stop::Failed("it was not found".to_owned()));
    };
    let adopted = match kit.driver.apply(&desired, Some(&foreign), Some(&foreign)).await {
        Ok(adopted) => adopted,
        Err(failed) => {
            kit.remove(&desired, &foreign).await?;
            return Err(failed.into());
        }
    };
    let no_op = kit.ensure_no_op(&desired, &adopted).await;
    let found = sightings(kit, &desired).await;
    kit.remove(&desired, &adopted).await?;
    no_op?;
    match found?.as_slice() {
        [Sighting { ownership: Ownership::Owned { .. }, .. }] => Ok(()),
        [_] => Err(Stop::Failed("it is still found as someone else's".to_owned())),
        found => Err(Stop::Failed(format!("{} objects were found", found.len()))),
    }
}

/// ADOPT-2: what is taken over is ours from then on, so that it can be deleted (DELETE-9).
pub(crate) async fn a_foreign_object_that_is_taken_over_can_be_deleted(kit: &Kit) -> Checked {
    let (desired, found) = foreign(kit).await?;
    for sighting in &found {
        take_over_and_remove(kit, &desired, sighting).await?;
    }
    let left = sightings(kit, &desired).await?;
    ensure(left.is_empty(), || format!("{} objects were left", left.len()))
}

/// What a lookup finds after someone else made an object of the same identity.
async fn foreign(kit: &Kit) -> Result<(InputValues, Vec<Sighting>), Stop> {
    let taken = needs(kit.foreign.as_ref(), "how to make an object that belongs to someone else")?;
    let desired = kit.desired()?;
    // A type that cannot look is skipped before anything foreign is made that only a lookup could remove.
    sightings(kit, &desired).await?;
    taken((kit.driver.context.clone(), desired.clone())).await;
    let found = sightings(kit, &desired).await?;
    Ok((desired, found))
}

/// Does what the engine does with someone else's object that it is allowed to adopt, then deletes it.
async fn take_over_and_remove(kit: &Kit, desired: &InputValues, sighting: &Sighting) -> Checked {
    let prior = Some(&sighting.state);
    let plan = kit.driver.plan(desired, prior, prior).await?;
    let state = match plan.verdict {
        Verdict::Update | Verdict::MayUpdate => kit.driver.apply(desired, prior, prior).await?,
        _ => sighting.state.clone(),
    };
    kit.remove(desired, &state).await
}

/// ADOPT-7: what a person names is the object as it is, and what is not there is said to be so.
pub(crate) async fn an_object_is_imported_by_its_id(kit: &Kit) -> Checked {
    let id_of = needs(kit.id.as_ref(), "by which id an object is imported")?;
    let (desired, state) = kit.created().await?;
    let id = id_of(&state);
    let imported = kit.driver.import(&desired, &id).await;
    let drift =
        imported.as_ref().ok().and_then(|found| found.first()).map(|found| drift(kit, &state, &found.state));
    kit.remove(&desired, &state).await?;
    imported?;
    match drift.as_deref() {
        Some([]) => {}
        Some(drift) => {
            return Err(Stop::Failed(format!("it was imported with other values: {}", drift.join(", "))));
        }
        None => return Err(Stop::Failed("nothing was imported".to_owned())),
    }
    ensure(kit.driver.import(&desired, &id).await.is_err(), || "what is gone was imported".to_owned())
}

/// Where an object differs from another.
fn drift(kit: &Kit, state: &State, other: &State) -> Vec<String> {
    kit.driver.handler().drift(state, other).iter().map(|change| change.path.to_string()).collect()
}
