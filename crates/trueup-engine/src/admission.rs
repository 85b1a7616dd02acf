//! Admission control: the seam by which others refuse changes on real values.
//!
//! A plan may hold unknown values and actions that are decided at apply. Whoever judges plans judges them without those. An
//! admission control sees each change once more when its values are final, before its intent is recorded and anything is sent.

use trueup_core::{Address, Diagnostics, Value};

use crate::plan::{Action, Plan};

/// Judges changes while a plan is carried out.
pub trait AdmissionControl: Send + Sync {
    /// Takes in the plan, before anything of it is carried out.
    fn begin(&self, plan: &Plan);

    /// What there is to say against a change. An error among it stops the resource: nothing is sent, and its dependents do
    /// not start. Warnings are told at the end of the run.
    fn review(&self, change: &FinalChange<'_>) -> Diagnostics;
}

/// A change that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct FinalChange<'a> {
    /// The resource or data source.
    pub address: &'a Address,
    /// What is done to it.
    pub action: Action,
    /// The inputs to send, with defaults; null for a delete. Before something is deleted for its replacement, or made as a
    /// stub, inputs may still be unknown: then the change is judged again later.
    pub inputs: &'a Value,
}
