//! The inputs behind a drift. Outputs such as a digest tell that an object differs from its record, but not in what.
//!
//! They are shown and decide nothing, so a type that cannot tell them, or fails to, changes no plan.

use trueup_core::{Change, Value};
use trueup_provider::{LookupRequest, Sighting, State};

use super::resource::Case;
use crate::saved::{QuestionKind, SightingForm};

/// Longer values say more than people read.
const VALUE_BYTES_MAX: usize = 64 * 1024;

impl Case<'_> {
    /// The recorded inputs that the object no longer has, besides the outputs that drifted.
    pub(super) async fn drifted_inputs(&self, recorded: &State, outputs: &[Change]) -> Vec<Change> {
        let Some(inputs) = &recorded.inputs else { return Vec::new() };
        let Some(found) = self.sole_sighting(recorded).await.and_then(|it| it.state.inputs) else {
            return Vec::new();
        };
        let mut changes = self.handler.input_changes(inputs, &found);
        // An input that is unset on one side may only be another way to say the same.
        changes.retain(|it| {
            let is_short =
                |side: &Option<Value>| side.as_ref().is_some_and(|value| length(value) <= VALUE_BYTES_MAX);
            let is_shown = outputs.iter().any(|output| output.path == it.path);
            let is_ignored = self.ignored().iter().any(|path| path.covers(&it.path));
            it.certain && !is_shown && !is_ignored && is_short(&it.before) && is_short(&it.after)
        });
        changes
    }

    /// The only object that is found by the recorded inputs.
    async fn sole_sighting(&self, recorded: &State) -> Option<Sighting> {
        let (sources, node) = (self.sources, &self.draft.nodes[self.at]);
        let (config, inputs) = (node.config.as_ref()?, recorded.inputs.as_ref()?);
        let (record, _) = node.record.as_ref()?;
        let context = sources.context_as(&node.address, &self.draft.origin(self.at), Some(record));
        let lookup = async |context: &_| {
            let request = LookupRequest { config, desired: inputs, interrupted: false, context };
            self.handler.lookup(request).await
        };
        let looking = async {
            let found = sources.calls.attempt(sources.call(node), lookup(&context)).await?;
            Ok(found.unwrap_or_default().into_iter().map(SightingForm::from).collect::<Vec<_>>())
        };
        let kind = QuestionKind::Lookup;
        let found = sources.observed(kind, &node.address, &[&inputs.effective], looking).await.ok()?;
        let mut found = found.into_iter().map(Sighting::from);
        found.next().filter(|_| found.next().is_none())
    }
}

/// The length of a text; other values are short.
fn length(value: &Value) -> usize {
    value.as_str().map_or(0, str::len)
}
