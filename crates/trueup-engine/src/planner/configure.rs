//! Providers made ready for use, each as soon as its configuration is known.
//!
//! Most configurations refer to nothing and are known at once. One that refers to resources is known when those are
//! decided, if they stay as they are; otherwise only at apply. Until then nothing of that provider is read.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Mode, Value};
use trueup_program::{Evaluated, Program};
use trueup_provider::{Configured, Registry, provider_named};
use trueup_state::ConfigurationNumber;

use super::node::{Node, Sight};
use super::{Draft, Sources, failed};

/// Makes the providers ready whose configuration is known by now.
pub(super) async fn configure(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let following = draft.nodes.iter().filter(|node| follows_program(sources.program, node));
    let mut names: Vec<_> = following.map(|node| node.provider.clone()).collect();
    names.sort();
    names.dedup();
    let mut diagnostics = Diagnostics::new();
    for name in names {
        match configured(sources.registry, &name, written(sources.program, draft, &name)).await {
            Ok(configured) => {
                draft.configs.insert(name, configured);
            }
            Err(wrong) => diagnostics.extend(wrong),
        }
    }
    for at in 0..draft.nodes.len() {
        let node = &draft.nodes[at];
        let known = draft.configs.get(&node.provider).filter(|_| follows_program(sources.program, node));
        let mut config = known.cloned().flatten();
        // Before everything goes nothing more becomes known but what is opened: what is missing then is missing for good.
        let unknown = sources.destroy && known.is_some() && registered(sources.registry, node);
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

/// Whether the configuration of a provider refers to what is opened for a run.
pub(crate) fn is_opened(program: &Program, name: &str) -> bool {
    let declared = program.providers.iter().filter(|provider| provider.name == name);
    let references = declared.flat_map(|provider| provider.config.references());
    references.into_iter().any(|reference| reference.address.mode() == Mode::Ephemeral)
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
        Some(number) => draft.recorded.ready(sources.registry, provider, number).await,
        None => {
            let message =
                format!("the configuration of provider `{provider}` is not known, and not recorded");
            Err(Failure::new(FailureClass::Invalid, message))
        }
    };
    ready.map(Some).map_err(|failure| {
        let told = failed(address, "delete", &failure);
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
    nodes: &[usize],
) -> Result<Vec<usize>, Diagnostics> {
    let mut late: Vec<usize> = nodes.to_vec();
    late.retain(|at| draft.nodes[*at].config.is_none());
    for &at in &late {
        let name = draft.nodes[at].provider.clone();
        if draft.configs.get(&name).is_some_and(Option::is_none) {
            let written = written(sources.program, draft, &name);
            let configured = configured(sources.registry, &name, written).await?;
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
        let now = expected(sources.registry, &name, written(sources.program, draft, &name)).await?;
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

/// What the program says of a provider's configuration, as far as it is known.
pub(crate) fn written(program: &Program, draft: &Draft, name: &str) -> Evaluated {
    let scope = draft.known();
    match program.providers.iter().find(|provider| provider.name == name) {
        Some(declared) => declared.config.evaluate(&scope),
        // An alias is something that the program says: without it, the object would be looked for in the wrong place.
        None if provider_named(name) != name => {
            Evaluated { value: Value::NULL, diagnostics: gone(name).into() }
        }
        None => Evaluated { value: Value::object::<&str>([]), diagnostics: Diagnostics::new() },
    }
}

fn gone(name: &str) -> Diagnostic {
    let summary = format!("the configuration of provider `{name}` is not in the program any more");
    Diagnostic::error(summary).hint("put it back until what it manages is deleted or has another provider")
}

/// The provider, ready for use; `None` while its configuration is not wholly known or nobody knows the provider.
pub(crate) async fn configured(
    registry: &Registry,
    name: &SmolStr,
    written: Evaluated,
) -> Result<Option<Configured>, Diagnostics> {
    let Some(provider) = registry.configured(name) else { return Ok(None) };
    let config = expected(registry, name, written).await?.filter(Value::is_wholly_known);
    let Some(config) = config else { return Ok(None) };
    let configured = provider.configure(&config).await;
    let configured = configured.map(|configured| configured.with_value(config.clone()));
    let failed = |failure: Failure| failed_by(name, "configure", &failure);
    configured.map(Some).map_err(failed)
}

/// What a provider will be configured with, as far as it is known; `None` if nobody knows the provider.
pub(super) async fn expected(
    registry: &Registry,
    name: &SmolStr,
    written: Evaluated,
) -> Result<Option<Value>, Diagnostics> {
    let Some(provider) = registry.configured(name) else { return Ok(None) };
    if written.diagnostics.has_errors() {
        return Err(written.diagnostics);
    }
    let schema = provider.config_schema().await.map_err(|failure| failed_by(name, "load", &failure))?;
    let checked = schema.check(&written.value, format!("provider {name}"));
    if checked.diagnostics.has_errors() {
        return Err(checked.diagnostics);
    }
    Ok(Some(schema.with_defaults(&checked.value)))
}

fn failed_by(name: &str, attempted: &str, failure: &Failure) -> Diagnostics {
    let told = Diagnostic::error(format!("{attempted} provider {name}: {failure}"));
    failure.hints.iter().fold(told, |told, hint| told.hint(hint.clone())).into()
}

/// Why something cannot be called: its provider could not be made ready.
pub(crate) fn unconfigured(name: &str, wrong: Option<Diagnostics>) -> Failure {
    match wrong {
        Some(diagnostics) => {
            let told: Vec<String> = diagnostics.iter().map(|it| it.summary.clone()).collect();
            let mut failure = Failure::new(FailureClass::Invalid, told.join("; "));
            failure.diagnostics = diagnostics;
            failure
        }
        None => {
            let message = format!("the configuration of provider `{name}` is not known");
            Failure::new(FailureClass::Invalid, message).hint("deploy what it depends on first")
        }
    }
}

/// What the pass did, for a trace.
pub(super) fn dump(draft: &Draft) -> String {
    let told = draft.configs.iter().map(|(name, configured)| {
        let known = if configured.is_some() { "ready" } else { "not known yet" };
        format!("{name}: {known}\n")
    });
    told.collect()
}
