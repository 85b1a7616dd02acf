//! Plans that are saved, and carried out later exactly as they are, or not at all (PLANFILE-1).
//!
//! A saved plan holds what was decided, and all it was decided from that cannot be had again: what the run was told and
//! what was learned by looking ([`observations`]). When it is carried out, the plan is made once more, from the program
//! and the records as they are then and the same observations. It must come out the same ([`compare`]); what it stands
//! on must be as it was ([`reach`]). So nothing that stands in a file is ever done only because it stands there: all of
//! it follows from the program. `wire` is the form in which it is written, `file` the bytes around that.

mod carry_out;
mod compare;
mod file;
mod observations;
mod premise;
mod reach;
mod wire;

use std::collections::BTreeSet;
use std::time::SystemTime;

use smol_str::SmolStr;
use trueup_core::{Address, AddressRange};

use crate::options::PlanOptions;
use crate::plan::Plan;
use crate::run_kind::RunKind;
pub(crate) use carry_out::Following;
pub(crate) use compare::differences;
pub use file::{
    PLAN_FILE_BYTES_MAX, PlanFileError, PlanHeader, PlanSeal, Protection, holds_secrets, read_plan,
    read_plan_header, write_plan,
};
pub(crate) use observations::{DataAnswer, ImportForm, KeptAnswer, Observations, QuestionKind, SightingForm};
pub use premise::changed_premises;
pub(crate) use reach::Reach;
use trueup_program::{Premise, PremiseKind};

/// What to do about a plan that no longer fits.
pub(crate) const PLAN_AGAIN: &str = "plan again";

/// A plan, with all that is needed to carry it out later.
#[derive(Clone, Debug)]
pub struct SavedPlan {
    /// The run as which it is carried out: once something of it is in the history, never again.
    pub run: SmolStr,
    /// When it was made.
    pub made_at: SystemTime,
    /// What it is for.
    pub kind: RunKind,
    /// What planning was told.
    pub options: SavedOptions,
    /// What the program followed from.
    pub premises: Vec<Premise>,
    /// What is done.
    pub plan: Plan,
    pub(crate) reach: Reach,
    pub(crate) observations: Vec<KeptAnswer>,
}

/// What a saved plan was told. How many operations run at a time, and how often they are tried, is for the run to say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SavedOptions {
    /// As [`PlanOptions::drift`].
    pub drift: bool,
    /// As [`PlanOptions::force`].
    pub force: bool,
    /// As [`PlanOptions::adopt`].
    pub adopt: bool,
    /// As [`PlanOptions::targets`].
    pub targets: Vec<AddressRange>,
    /// As [`PlanOptions::excludes`].
    pub excludes: Vec<AddressRange>,
    /// As [`PlanOptions::replace`].
    pub replace: Vec<AddressRange>,
}

impl SavedOptions {
    pub(crate) fn of(options: &PlanOptions) -> Self {
        let PlanOptions { drift, force, adopt, targets, excludes, replace, .. } = options.clone();
        SavedOptions { drift, force, adopt, targets, excludes, replace }
    }

    /// The options of a run that follows the plan.
    pub fn over(&self, options: &PlanOptions) -> PlanOptions {
        let SavedOptions { drift, force, adopt, targets, excludes, replace } = self.clone();
        PlanOptions { drift, force, adopt, targets, excludes, replace, ..options.clone() }
    }
}

/// What a plan that follows a saved one is about.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) addresses: BTreeSet<Address>,
    /// Whether the saved plan left something out because it was told to.
    pub(crate) partial: bool,
}

impl SavedPlan {
    pub(crate) fn about(&self) -> About {
        About { addresses: self.reach.addresses.clone(), partial: !self.plan.left_out.is_empty() }
    }
}
