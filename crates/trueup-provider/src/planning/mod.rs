//! How native types are planned: what changed, what drifted, what that means, and which outputs to expect.
//!
//! Pure functions of schema and values, shared by both contracts; a Terraform provider plans for itself.

mod drift;
mod forgotten;
mod inputs;
mod outputs;
mod verdict;

pub(crate) use drift::{drift, refreshed};
pub(crate) use forgotten::with_stand_ins;
pub(crate) use inputs::input_changes;

use trueup_core::schema::ResourceSchema;
use trueup_core::{Change, Diagnostics, Value};

use crate::contract::PlanHook;
use crate::handler::{PlanAnswer, PlanRequest, PrivateBytes, Traits, Verdict};

/// Whether the type takes two inputs that differ in a field for the same: field, prior inputs, current inputs.
pub(crate) type Equivalence<'a> = &'a dyn Fn(&str, &Value, &Value) -> bool;

/// All that a plan follows from.
pub(crate) struct Findings<'a> {
    pub(crate) schema: &'a ResourceSchema,
    pub(crate) traits: &'a Traits,
    pub(crate) request: PlanRequest<'a>,
    pub(crate) changes: Vec<Change>,
    pub(crate) drift: Vec<Change>,
    pub(crate) hook: PlanHook,
    /// Whether an update keeps the outputs that the hook does not mark (UNKNOWN-2).
    pub(crate) update_keeps_outputs: bool,
}

impl Findings<'_> {
    /// Draws the conclusion.
    pub(crate) fn conclude(self) -> PlanAnswer {
        let mut replace_paths = self.replace_paths();
        let verdict = self.verdict(&replace_paths);
        let outputs = self.outputs(verdict);
        if verdict < Verdict::MayReplace {
            // The hook decided otherwise: nothing forces what does not happen.
            replace_paths.clear();
        }
        PlanAnswer {
            verdict,
            outputs,
            replace_paths,
            delete_first: self.traits.delete_first || self.hook.delete_first,
            changes: self.changes,
            drift: self.drift,
            private: PrivateBytes::default(),
            diagnostics: Diagnostics::new(),
        }
    }
}
