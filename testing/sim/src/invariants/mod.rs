//! The invariants of docs/spec/invariants.md, each a function of its own, judged by the log alone.
//!
//! | invariant | asserted in |
//! | --- | --- |
//! | INV-1 | `held::every_object_is_held`, `held::calls_follow_intents`, `held::nothing_is_dropped_silently` |
//! | INV-2 | `once::nothing_is_made_twice` |
//! | INV-3 | `planned::deletes_are_planned`, `planned::foreign_objects_are_left_alone`, `planned::shared_objects_are_left_alone`, `planned::adoptions_are_asked_for` |
//! | INV-4 | `converged::deploy_converges` |
//! | INV-5 | `converged::cloud_is_as_the_program_says`, `converged::ends_alike` |
//! | INV-6 | `planned::changes_are_granted` |
//! | INV-7 | `journalled::every_prefix_is_valid` |
//! | INV-8 | `journalled::acknowledged_writes_survive` |
//! | INV-9 | `fenced::writers_hold_the_lease`, `fenced::callers_hold_the_lease` |
//! | INV-10 | `ordered::nothing_in_use_is_deleted`, `ordered::nothing_missing_is_used` |
//! | INV-11 | `generations::deletes_are_confirmed`, `generations::deleted_objects_are_not_adopted`, `generations::one_record_each` |
//! | INV-12 | `left_out::records_stay_identical`, `left_out::objects_stay_untouched` |
//! | INV-13 | `secrets::canaries_appear_nowhere` |
//! | INV-14 | `pure::planning_changes_nothing`, `pure::plans_are_equal` |
//! | INV-15 | `gone::only_what_was_told_gone_is_gone` |
//! | INV-16 | `stopping::nothing_new_starts`, `stopping::cancelling_ends`, `stopping::leases_end` |

pub(crate) mod converged;
mod fenced;
mod generations;
mod gone;
mod held;
mod journalled;
mod left_out;
mod model;
mod once;
mod ordered;
mod planned;
pub(crate) mod pure;
mod secrets;
pub(crate) mod stopping;

use std::fmt;
use std::time::Duration;

pub(crate) use held::every_object_is_held;
pub(crate) use journalled::acknowledged_writes_survive;
pub(crate) use model::{Known, Watch, object_of};
pub(crate) use secrets::{CANARY, canaries_appear_nowhere, shown};

use crate::log::Happened;

/// An invariant that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its id.
    pub invariant: &'static str,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// A judgement on one invariant.
pub(crate) type Judged = Result<(), Violation>;

/// A violation, unless something holds.
fn require(holds: bool, invariant: &'static str, what: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(Violation { invariant, what: what() }) }
}

impl Watch {
    /// Judges what happened, then takes it for true.
    pub(crate) fn see(&mut self, at: Duration, happened: &Happened) -> Judged {
        let judged = self.judge(at, happened);
        self.learn(at, happened);
        judged
    }

    fn judge(&self, at: Duration, happened: &Happened) -> Judged {
        held::calls_follow_intents(self, happened)?;
        held::nothing_is_dropped_silently(self, happened)?;
        once::nothing_is_made_twice(self, happened)?;
        planned::deletes_are_planned(self, happened)?;
        planned::foreign_objects_are_left_alone(self, happened)?;
        planned::shared_objects_are_left_alone(self, happened)?;
        planned::adoptions_are_asked_for(self, happened)?;
        planned::changes_are_granted(self, happened)?;
        journalled::every_prefix_is_valid(self, happened)?;
        fenced::writers_hold_the_lease(self, happened)?;
        fenced::callers_hold_the_lease(self, at, happened)?;
        ordered::nothing_in_use_is_deleted(self, happened)?;
        ordered::nothing_missing_is_used(self, happened)?;
        generations::deletes_are_confirmed(self, happened)?;
        generations::deleted_objects_are_not_adopted(self, happened)?;
        generations::one_record_each(self, happened)?;
        left_out::records_stay_identical(self, happened)?;
        left_out::objects_stay_untouched(self, happened)?;
        secrets::nothing_told_is_secret(happened)?;
        pure::planning_changes_nothing(self, happened)?;
        gone::only_what_was_told_gone_is_gone(self, happened)?;
        stopping::nothing_new_starts(self, happened)?;
        stopping::leases_end(self, at, happened)
    }
}
