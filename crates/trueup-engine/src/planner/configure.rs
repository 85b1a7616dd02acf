//! Providers made ready for use, each as soon as its configuration is known.
//!
//! Most configurations refer to nothing and are known at once. One that refers to resources is known when those are
//! decided, if they stay as they are; otherwise only at apply. Until then nothing of that provider is read.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Value};
use trueup_program::{Evaluated, Program};
use trueup_provider::{Configured, Registry, provider_named};

use super::{Draft, Sources};

/// Makes the providers ready whose configuration is known by now.
pub(super) async fn configure(sources: &Sources<'_>, draft: &mut Draft<'_>) -> Result<(), Diagnostics> {
    let mut names: Vec<_> = draft.nodes.iter().map(|node| node.provider.clone()).collect();
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
    for node in &mut draft.nodes {
        node.config = draft.configs.get(&node.provider).cloned().flatten();
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
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
    if written.diagnostics.has_errors() {
        return Err(written.diagnostics);
    }
    let failed = |attempted: &str, failure: &Failure| {
        let told = Diagnostic::error(format!("{attempted} provider {name}: {failure}"));
        Diagnostics::from(failure.hints.iter().fold(told, |told, hint| told.hint(hint.clone())))
    };
    let schema = provider.config_schema().await.map_err(|failure| failed("load", &failure))?;
    let checked = schema.check(&written.value, format!("provider {name}"));
    if checked.diagnostics.has_errors() {
        return Err(checked.diagnostics);
    }
    let config = schema.with_defaults(&checked.value);
    if !config.is_wholly_known() {
        return Ok(None);
    }
    let configured = provider.configure(&config).await;
    configured.map(Some).map_err(|failure| failed("configure", &failure.without_secrets_of([&config])))
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
