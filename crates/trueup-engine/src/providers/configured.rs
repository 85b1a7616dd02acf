//! Making a provider ready for use by what the program says of it, as soon as that is known.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Mode, Value};
use trueup_program::{Evaluated, Program};
use trueup_provider::{Configured, Registry, provider_named};

use crate::draft::Draft;

/// Whether the configuration of a provider refers to what is opened for a run.
pub(crate) fn is_opened(program: &Program, name: &str) -> bool {
    let declared = program.providers.iter().filter(|provider| provider.name == name);
    let references = declared.flat_map(|provider| provider.config.references());
    references.into_iter().any(|reference| reference.address.mode() == Mode::Ephemeral)
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
pub(crate) async fn expected(
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
