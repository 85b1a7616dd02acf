//! Providers made ready for use, each as soon as its configuration is known.
//!
//! Most configurations refer to nothing and are known at once. One that refers to resources is known when those are
//! decided, if they stay as they are; otherwise only at apply. Until then nothing of that provider is read.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass};
use trueup_program::Program;
use trueup_provider::{Configured, Registry};
use trueup_state::ConfigurationNumber;

use super::Sources;
use crate::draft::node::{Node, Sight};
use crate::draft::{Draft, keep};
use crate::failures::describe_failure;
use crate::index::NodeIndex;
use crate::providers::{configured, expected, is_opened, written};

/// Makes the providers ready whose configuration is known by now.
pub(super) async fn configure(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    if sources.kind.is_destroy() {
        // Nothing changes before it goes, so what is recorded is what providers were configured with.
        draft.nodes.indices().for_each(|at| keep(draft, at));
    }
    let following = draft.nodes.iter().filter(|node| follows_program(sources.program, node));
    let mut names: Vec<_> = following.map(|node| node.provider.clone()).collect();
    names.sort();
    names.dedup();
    let mut diagnostics = Diagnostics::new();
    for name in names {
        let written = written(&sources.calls, sources.program, draft, &name).await;
        match configured(&sources.calls, &name, written).await {
            Ok(configured) => {
                draft.configs.insert(name, configured);
            }
            Err(wrong) => diagnostics.extend(Diagnostics::from(wrong)),
        }
    }
    for at in draft.nodes.indices() {
        let node = &draft.nodes[at];
        let known = draft.configs.get(&node.provider).filter(|_| follows_program(sources.program, node));
        let mut config = known.cloned().flatten();
        // Before everything goes nothing more becomes known but what is opened: what is missing then is missing for good.
        let unknown =
            sources.kind.is_destroy() && known.is_some() && registered(sources.calls.registry, node);
        let unknown = unknown && !is_opened(sources.program, &node.provider);
        if config.is_none() && (known.is_none() || unknown) {
            match as_made(sources, draft, node).await {
                Ok(made_with) => config = made_with,
                Err(wrong) => diagnostics.push(wrong),
            }
        }
        draft.nodes[at].config = config;
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Whether what the program says of its provider counts for a node: it is declared, or its provider is; or nothing else is
/// known.
fn follows_program(program: &Program, node: &Node<'_>) -> bool {
    node.is_declared()
        || program.providers.iter().any(|provider| provider.name == node.provider)
        || made_with(node).is_none()
}

fn registered(registry: &Registry, node: &Node<'_>) -> bool {
    registry.configured(&node.provider).is_some()
}

/// The number of the configuration that the object of a node was made with.
fn made_with(node: &Node<'_>) -> Option<ConfigurationNumber> {
    let (record, _) = node.record.as_ref()?;
    record.current.iter().chain(record.deposed.iter().rev()).find_map(|generation| generation.configuration)
}

/// The provider of a node as it was when its object was made, where the program no longer says enough of it (DELETE-8,
/// DELETE-11).
async fn as_made(
    sources: &Sources<'_>,
    draft: &Draft<'_>,
    node: &Node<'_>,
) -> Result<Option<Configured>, Diagnostic> {
    let Node { address, provider, record, .. } = node;
    if record.is_none() {
        return Ok(None);
    }
    let ready = match made_with(node) {
        Some(number) => draft.recorded.ready(&sources.calls, provider, number).await,
        None => {
            let message =
                format!("the configuration of provider `{provider}` is not known, and not recorded");
            Err(Failure::new(FailureClass::Invalid, message))
        }
    };
    ready.map(Some).map_err(|failure| {
        let told = describe_failure(address, "delete", &failure);
        match sources.program.providers.iter().any(|declared| declared.name == *provider) {
            true => told.hint("give the variables that its `provider` block uses"),
            false => told.hint(format!(
                "put its `provider` block back until it is deleted, or forget it: `trueup state rm '{address}'`"
            )),
        }
    })
}

/// Makes the providers of some nodes ready whose configuration was not known before and may be by now. The nodes that
/// this concerns.
pub(super) async fn configure_late(
    sources: &Sources<'_>,
    draft: &mut Draft<'_>,
    nodes: &[NodeIndex],
) -> Result<Vec<NodeIndex>, Diagnostics> {
    let mut late: Vec<NodeIndex> = nodes.to_vec();
    late.retain(|at| draft.nodes[*at].config.is_none());
    for &at in &late {
        let name = draft.nodes[at].provider.clone();
        if draft.configs.get(&name).is_some_and(Option::is_none) {
            let written = written(&sources.calls, sources.program, draft, &name).await;
            let configured = configured(&sources.calls, &name, written).await?;
            draft.configs.insert(name.clone(), configured);
        }
        draft.nodes[at].config = draft.configs.get(&name).cloned().flatten();
    }
    late.retain(|at| draft.nodes[*at].config.is_some());
    Ok(late)
}

/// Forgets configurations that follow from a member of a cycle which was decided otherwise since, with what was seen by
/// them.
pub(super) async fn forget_outdated(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let names: Vec<SmolStr> = draft.configs.keys().cloned().collect();
    for name in names {
        let Some(Some(config)) = draft.configs.get(&name) else { continue };
        let written = written(&sources.calls, sources.program, draft, &name).await;
        let now = expected(&sources.calls, &name, written).await?;
        if now.as_ref() == Some(config.value()) {
            continue;
        }
        for node in draft.nodes.iter_mut().filter(|node| node.provider == name && node.is_declared()) {
            (node.config, node.sight) = (None, Sight::Unseen);
        }
        draft.configs.insert(name, None);
    }
    Ok(())
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    let told = draft.configs.iter().map(|(name, configured)| {
        let known = if configured.is_some() { "ready" } else { "not known yet" };
        format!("{name}: {known}\n")
    });
    told.collect()
}
