//! What the findings mean for the resource.

use trueup_core::{Change, Path, Step, Value, diff};

use super::Findings;
use crate::binding::Binding;
use crate::contract::Decision;
use crate::handler::Verdict;

impl Findings<'_> {
    /// The strongest of what each finding asks for.
    pub(super) fn verdict(&self, replace_paths: &[Path]) -> Verdict {
        let Some(prior) = self.request.prior else { return Verdict::Create };
        let decided = match self.hook.decision {
            Some(Decision::NoOp) => Verdict::NoOp,
            Some(Decision::Update) => Verdict::Update,
            Some(Decision::Replace) => Verdict::Replace,
            // An adopted object was never brought to any inputs, so nothing can be compared.
            None if prior.inputs.is_none() => Verdict::Update,
            None => self.compared(replace_paths),
        };
        decided.max(self.binding_verdict()).max(self.marked_verdict())
    }

    /// What comparison asks for.
    fn compared(&self, replace_paths: &[Path]) -> Verdict {
        let of_change = |change: &Change| match (replace_paths.contains(&change.path), change.certain) {
            (true, true) => Verdict::Replace,
            (true, false) => Verdict::MayReplace,
            (false, true) => Verdict::Update,
            (false, false) => Verdict::MayUpdate,
        };
        let changed = self.changes.iter().map(of_change).max().unwrap_or(Verdict::NoOp);
        let drifted = if self.drift.is_empty() { Verdict::NoOp } else { Verdict::Update };
        changed.max(drifted)
    }

    /// A change of bindings is at least an update (PLAN-8).
    fn binding_verdict(&self) -> Verdict {
        let before = Binding::as_value(self.request.prior_bindings);
        let changes = diff(&before, &Binding::as_value(self.request.bindings));
        let of_change = |change: &Change| if change.certain { Verdict::Update } else { Verdict::MayUpdate };
        changes.iter().map(of_change).max().unwrap_or(Verdict::NoOp)
    }

    /// An output that apply will compute anew takes an update to do so, though inputs be equal (UNKNOWN-9).
    fn marked_verdict(&self) -> Verdict {
        match self.hook.unknown.is_empty() {
            true => Verdict::NoOp,
            false if self.request.desired.effective.is_wholly_known() => Verdict::Update,
            false => Verdict::MayUpdate,
        }
    }

    /// The changed positions that force a replacement, or may.
    pub(super) fn replace_paths(&self) -> Vec<Path> {
        let mut fields = self.schema.replace_fields();
        fields.extend(self.hook.replace_fields.iter().cloned());
        let forcing =
            self.changes.iter().filter(|change| fields.iter().any(|field| Self::forces(change, field)));
        let mut paths: Vec<Path> = forcing.map(|change| change.path.clone()).collect();
        paths.extend(self.hook.replace_paths.iter().cloned());
        paths
    }

    /// Whether a change touches a replace field: lies in it, or is of a structure around it in which the field itself
    /// differs.
    fn forces(change: &Change, field: &Path) -> bool {
        let depth = change.path.steps().len();
        if !field.overlaps(&change.path) {
            return false;
        }
        let inside: Path = field.steps().iter().skip(depth).cloned().collect();
        let at = |side: &Option<Value>| side.as_ref().and_then(|value| value.at(&inside)).unwrap_or_default();
        let somewhere_inside = inside.steps().contains(&Step::Any);
        inside.is_root() || somewhere_inside || !at(&change.before).same(&at(&change.after))
    }
}
