//! Judging a program by itself: types, references, inputs, and what types say of their inputs. No provider is configured,
//! nothing is looked at, and what only a provider can tell is unknown.

use trueup_core::{Diagnostics, Value};
use trueup_program::ProviderDeclaration;
use trueup_provider::{Registry, ValidateRequest};
use trueup_state::Snapshot;

use super::{Sources, collect, connect, decide, relocate};
use crate::draft::node::{Node, NodeKind};
use crate::draft::{Attributes, Draft};
use crate::failures::located;
use crate::outputs::stack_outputs;

/// All that is wrong with a program and can be told without state and without looking.
pub(crate) async fn validate(sources: &Sources<'_>) -> Result<(), Diagnostics> {
    let mut snapshot = Snapshot::default();
    let relocation = relocate::relocate(sources, &mut snapshot).await?;
    let mut draft = collect::collect(sources, snapshot, relocation).await?;
    connect::connect(sources, &mut draft)?;
    let mut diagnostics = Diagnostics::new();
    for at in draft.order.clone() {
        diagnostics.extend(decide::prepare(&mut draft, at));
        let node = &draft.nodes[at];
        diagnostics.extend(judged(node).await);
        let outputs = match &node.kind {
            NodeKind::Resource { handler, .. } => handler.schema().outputs.implied_type(),
            NodeKind::Data { handler, .. } => handler.outputs().implied_type(),
            NodeKind::Ephemeral { handler, .. } => handler.schema().implied_type(),
        };
        let inputs = node.desired.as_ref().map_or(Value::NULL, |desired| desired.effective.clone());
        draft.attributes[at] = Some(Attributes::new(inputs, Value::unknown(outputs)));
    }
    if let Err(wrong) = stack_outputs(sources.program, sources.kind, &draft) {
        diagnostics.extend(wrong);
    }
    for provider in &sources.program.providers {
        diagnostics.extend(judged_provider(sources.registry, &draft, provider).await);
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// What a type says of the inputs of a node.
async fn judged(node: &Node<'_>) -> Diagnostics {
    let mut told = Diagnostics::new();
    let Some(inputs) = &node.desired else { return told };
    let request = ValidateRequest { config: None, inputs };
    let judged = match &node.kind {
        NodeKind::Resource { handler, .. } => handler.validate(request).await,
        NodeKind::Data { handler, .. } => handler.validate(request).await,
        NodeKind::Ephemeral { handler, .. } => handler.validate(request).await,
    };
    let subject = node.address.to_string();
    told.extend(judged.into_iter().map(|it| located(it, &inputs.written).about(subject.clone())));
    told
}

/// What a provider says of a configuration.
async fn judged_provider(
    registry: &Registry,
    draft: &Draft<'_>,
    declared: &ProviderDeclaration,
) -> Diagnostics {
    let evaluated = declared.config.evaluate(&draft.known());
    let mut told = evaluated.diagnostics;
    let Some(provider) = registry.configured(&declared.name).filter(|_| !told.has_errors()) else {
        return told;
    };
    let subject = format!("provider {}", declared.name);
    // What the schema says was told when the program was built.
    let Ok(schema) = provider.config_schema().await else { return told };
    let config = schema.with_defaults(&schema.check(&evaluated.value, &subject).value);
    let judged = provider.validate_config(&config).await;
    told.extend(judged.into_iter().map(|it| located(it, &config).about(subject.clone())));
    told
}
