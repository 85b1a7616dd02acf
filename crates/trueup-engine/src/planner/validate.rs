//! Judging a program by itself: types, references, inputs, and what types say of their inputs. No provider is configured,
//! nothing is looked at, and what only a provider can tell is unknown.

use trueup_core::{Diagnostics, Value};
use trueup_program::ProviderDeclaration;
use trueup_provider::ValidateRequest;
use trueup_state::Snapshot;

use super::{Sources, collect, connect, decide, plan_contained, relocate};
use crate::call::Caller;
use crate::draft::node::{Node, NodeKind};
use crate::draft::{Attributes, Draft};
use crate::failures::{describe_attempt, describe_failure, located};
use crate::outputs::stack_outputs;

/// All that is wrong with a program and can be told without state and without looking.
pub(crate) async fn validate(sources: &Sources<'_>) -> Result<(), Diagnostics> {
    plan_contained(validate_all(sources)).await
}

async fn validate_all(sources: &Sources<'_>) -> Result<(), Diagnostics> {
    let mut snapshot = Snapshot::default();
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    connect::connect(sources, &mut draft).await?;
    let mut diagnostics = Diagnostics::new();
    for at in draft.order.clone() {
        diagnostics.extend(decide::prepare(sources, &mut draft, &[at]).await);
        let node = &draft.nodes[at];
        // One that does not answer is waited for once.
        if !sources.calls.has_timed_out() {
            diagnostics.extend(judged(sources, node).await);
        }
        let outputs = match &node.kind {
            NodeKind::Resource { handler, .. } => handler.schema().outputs.implied_type(),
            NodeKind::Data { handler, .. } => handler.outputs().implied_type(),
            NodeKind::Ephemeral { handler, .. } => handler.schema().implied_type(),
        };
        let inputs = node.desired.as_ref().map_or(Value::NULL, |desired| desired.effective.clone());
        draft.attributes[at] = Some(Attributes::new(inputs, Value::unknown(outputs)));
    }
    if let Err(wrong) = stack_outputs(&sources.calls, sources.program, sources.kind, &draft).await {
        diagnostics.extend(wrong);
    }
    for provider in &sources.program.providers {
        diagnostics.extend(judged_provider(&sources.calls, &draft, provider).await);
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// What a type says of the inputs of a node.
async fn judged(sources: &Sources<'_>, node: &Node<'_>) -> Diagnostics {
    let mut told = Diagnostics::new();
    let Some(inputs) = &node.desired else { return told };
    let request = ValidateRequest { config: None, inputs };
    let judging = match &node.kind {
        NodeKind::Resource { handler, .. } => handler.validate(request),
        NodeKind::Data { handler, .. } => handler.validate(request),
        NodeKind::Ephemeral { handler, .. } => handler.validate(request),
    };
    let judged = sources.calls.in_time(sources.call(node), judging).await;
    let judged =
        judged.unwrap_or_else(|failure| describe_failure(&node.address, "validate", &failure).into());
    let subject = node.address.to_string();
    told.extend(judged.into_iter().map(|it| located(it, &inputs.written).about(subject.clone())));
    told
}

/// What a provider says of a configuration.
async fn judged_provider(
    calls: &Caller<'_>,
    draft: &Draft<'_>,
    declared: &ProviderDeclaration,
) -> Diagnostics {
    let evaluate = || declared.config.evaluate(&draft.known());
    let evaluated = calls.answered(&draft.answers, evaluate).await;
    let mut told = evaluated.diagnostics;
    let Some(provider) = calls.registry.configured(&declared.name).filter(|_| !told.has_errors()) else {
        return told;
    };
    let subject = format!("provider {}", declared.name);
    // What the schema says was told when the program was built.
    let schema = calls.of_provider(&declared.name, async || provider.config_schema().await).await;
    let Ok(schema) = schema else { return told };
    let config = schema.with_defaults(&schema.check(&evaluated.value, &subject).value);
    let judging = async || Ok(provider.validate_config(&config).await);
    let judged = calls.of_provider(&declared.name, judging).await;
    let judged = judged.unwrap_or_else(|failure| {
        describe_attempt(&format!("validate provider {}", declared.name), failure).into()
    });
    told.extend(judged.into_iter().map(|it| located(it, &config).about(subject.clone())));
    told
}
