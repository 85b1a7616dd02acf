//! Which outputs to expect.

use smol_str::SmolStr;
use trueup_core::Value;
use trueup_core::schema::Attribute;

use super::Findings;
use crate::handler::Verdict;

impl Findings<'_> {
    /// The planned outputs: recorded ones for a no-op (UNKNOWN-3), else as far as anything is known before apply.
    pub(super) fn outputs(&self, verdict: Verdict) -> Value {
        // What drifted is no promise of what an update leaves: that is the record.
        let recorded = self.request.prior.map(|state| &state.outputs);
        let refreshed = self.request.observed.map(|state| &state.outputs).or(recorded);
        match (verdict, refreshed) {
            (Verdict::NoOp, Some(refreshed)) => refreshed.clone(),
            _ => Value::object(self.schema.outputs.attributes.iter().map(|(name, attribute)| {
                let value = self.output(name, attribute, verdict, recorded);
                (name.clone(), value.into_secret_if(attribute.secret))
            })),
        }
    }

    /// The first source that tells (UNKNOWN-1 for a new object, UNKNOWN-2 for an update).
    fn output(
        &self,
        name: &SmolStr,
        attribute: &Attribute,
        verdict: Verdict,
        recorded: Option<&Value>,
    ) -> Value {
        let unknown = || Value::unknown(attribute.shape.implied_type());
        let kept = || recorded.and_then(|outputs| outputs.get(name)).cloned().unwrap_or(Value::NULL);
        let planned = self.hook.outputs.iter().find(|(output, _)| output == name);
        let in_place = verdict <= Verdict::Update;
        let mirrored = attribute.mirrors.as_ref().and_then(|input| self.request.desired.effective.get(input));
        match (planned, mirrored) {
            (Some((_, planned)), _) => planned.clone(),
            _ if in_place && self.hook.unknown.contains(name) => unknown(),
            (_, Some(input)) => input.clone(),
            _ if in_place && (attribute.stable || self.update_keeps_outputs) => kept(),
            _ => unknown(),
        }
    }
}
