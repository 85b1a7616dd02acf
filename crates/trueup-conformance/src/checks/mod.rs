//! The checks. The name of each states what should hold.

mod drift;
mod faults;
mod life;
mod lookup;
mod secrets;
mod stub;

use trueup_core::{Diagnostics, Failure, Value, diff};
use trueup_provider::{ApplyFailure, BoxFuture, InputValues, Observed, State, Verdict};

use crate::kit::Kit;
use crate::outcome::Outcome;

/// A check with its name.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Kit) -> BoxFuture<'_, Outcome>,
}

macro_rules! checks {
    ($($module:ident::$name:ident,)*) => {
        &[$(Check { name: stringify!($name), run: |kit| Box::pin(async move { settle($module::$name(kit).await) }) },)*]
    };
}

/// All checks, in the order they run.
pub(crate) const ALL: &[Check] = checks![
    life::what_create_answers_is_what_read_finds,
    life::planned_outputs_come_true,
    life::a_plan_after_create_is_empty,
    life::applying_twice_changes_nothing,
    life::an_update_reaches_the_new_inputs,
    life::a_replacement_makes_another_object,
    life::deleting_twice_succeeds,
    life::a_newer_record_is_refused,
    drift::a_vanished_object_is_seen_as_gone,
    drift::a_changed_object_is_seen_and_repaired,
    lookup::nothing_is_found_before_it_exists,
    lookup::ones_own_object_is_found_as_owned,
    lookup::a_foreign_object_is_found_as_unowned,
    lookup::a_foreign_object_that_is_taken_over_can_be_deleted,
    lookup::a_foreign_object_that_is_taken_over_is_ones_own,
    lookup::an_object_is_imported_by_its_id,
    faults::a_create_cut_off_anywhere_is_recovered,
    faults::a_create_whose_answer_was_lost_is_recovered,
    faults::an_update_cut_off_anywhere_is_repeated,
    faults::a_delete_cut_off_anywhere_is_repeated,
    secrets::secrets_are_marked_and_never_told,
];

/// Those of types that make stubs of these inputs; they run last.
pub(crate) const OF_STUBS: &[Check] =
    checks![stub::a_stub_becomes_the_object, stub::a_stub_cut_off_anywhere_is_recovered,];

/// Why a check ends early.
pub(crate) enum Stop {
    Failed(String),
    Skipped(String),
}

pub(crate) type Checked = Result<(), Stop>;

fn settle(checked: Checked) -> Outcome {
    match checked {
        Ok(()) => Outcome::Passed,
        Err(Stop::Failed(why)) => Outcome::Failed(why),
        Err(Stop::Skipped(why)) => Outcome::Skipped(why),
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure.to_string())
    }
}

impl From<ApplyFailure> for Stop {
    fn from(failed: ApplyFailure) -> Self {
        Stop::Failed(failed.failure.to_string())
    }
}

impl From<Diagnostics> for Stop {
    fn from(diagnostics: Diagnostics) -> Self {
        Stop::Failed(diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
    }
}

/// Ends the check unless something holds.
pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Stop::Failed(otherwise())) }
}

/// What a check needs from the author, or a skip that says so.
pub(crate) fn needs<'a, T>(given: Option<&'a T>, what: &str) -> Result<&'a T, Stop> {
    given.ok_or_else(|| Stop::Skipped(format!("the kit was not told {what}")))
}

impl Kit {
    /// The first inputs.
    pub(crate) fn desired(&self) -> Result<InputValues, Stop> {
        Ok(self.driver.inputs(&self.base)?)
    }

    /// A new object with the first inputs, as it is recorded: created and read back.
    pub(crate) async fn created(&self) -> Result<(InputValues, State), Stop> {
        let desired = self.desired()?;
        let answer = self.driver.with_fresh_token().apply(&desired, None, None).await?;
        let state = self.observe(&desired, &answer).await?;
        Ok((desired, state))
    }

    /// The object as it is now.
    pub(crate) async fn observe(&self, inputs: &InputValues, state: &State) -> Result<State, Stop> {
        match self.driver.read(inputs, state).await? {
            Observed::Present(observed) => Ok(*observed),
            Observed::Unreadable => Ok(state.clone()),
            Observed::Absent => Err(Stop::Failed("an object that should be there reads as gone".to_owned())),
        }
    }

    /// Removes what a check made.
    pub(crate) async fn remove(&self, inputs: &InputValues, state: &State) -> Checked {
        Ok(self.driver.delete(inputs, state).await?)
    }

    /// Ends the check unless nothing is left to do.
    pub(crate) async fn ensure_no_op(&self, desired: &InputValues, state: &State) -> Checked {
        let observed = self.observe(desired, state).await?;
        let plan = self.driver.plan(desired, Some(state), Some(&observed)).await?;
        ensure(plan.verdict == Verdict::NoOp, || {
            let shown: Vec<String> =
                plan.changes.iter().chain(&plan.drift).map(|it| it.path.to_string()).collect();
            format!("the plan says {:?}, because of: {}", plan.verdict, shown.join(", "))
        })
    }

    /// Ends the check unless the outputs are the planned ones, as far as those were known.
    pub(crate) fn ensure_as_planned(planned: &Value, outputs: &Value) -> Checked {
        let broken: Vec<String> = diff(outputs, planned)
            .into_iter()
            .filter(|change| change.after.as_ref().is_some_and(Value::is_wholly_known))
            .map(|change| change.path.to_string())
            .collect();
        ensure(broken.is_empty(), || format!("planned outputs came out otherwise: {}", broken.join(", ")))
    }
}
