//! Making a provider ready for use by what the program says of it, as soon as that is known.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Failure, FailureClass, Mode, Value};
use trueup_program::{Evaluated, Program};
use trueup_provider::{Configured, provider_named};

use crate::call::Caller;
use crate::draft::Draft;
use crate::failures::{describe_attempt, invalid};

/// Whether the configuration of a provider refers to what is opened for a run.
pub(crate) fn is_opened(program: &Program, name: &str) -> bool {
    let declared = program.providers.iter().filter(|provider| provider.name == name);
    let references = declared.flat_map(|provider| provider.config.references());
    references.into_iter().any(|reference| reference.address.mode() == Mode::Ephemeral)
}

/// What the program says of a provider's configuration, as far as it is known.
pub(crate) async fn written(
    calls: &Caller<'_>,
    program: &Program,
    draft: &Draft<'_>,
    name: &str,
) -> Evaluated {
    calls.answered(&draft.answers, || written_now(program, draft, name)).await
}

/// The same with the answers of functions that are known by now.
pub(crate) fn written_now(program: &Program, draft: &Draft, name: &str) -> Evaluated {
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
    calls: &Caller<'_>,
    name: &SmolStr,
    written: Evaluated,
) -> Result<Option<Configured>, ConfigureError> {
    let Some(provider) = calls.registry.configured(name) else { return Ok(None) };
    let config = expected(calls, name, written).await?.filter(Value::is_wholly_known);
    let Some(config) = config else { return Ok(None) };
    match calls.of_provider(name, async || provider.configure(&config).await).await {
        Ok(configured) => Ok(Some(configured.with_value(config))),
        Err(failure) => {
            Err(ConfigureError::Failed { attempted: format!("configure provider {name}"), failure })
        }
    }
}

/// What a provider will be configured with, as far as it is known; `None` if nobody knows the provider.
pub(crate) async fn expected(
    calls: &Caller<'_>,
    name: &SmolStr,
    written: Evaluated,
) -> Result<Option<Value>, ConfigureError> {
    let Some(provider) = calls.registry.configured(name) else { return Ok(None) };
    if written.diagnostics.has_errors() {
        return Err(ConfigureError::Mistaken(written.diagnostics));
    }
    let schema = calls.of_provider(name, async || provider.config_schema().await).await;
    let attempted = || format!("load provider {name}");
    let schema = schema.map_err(|failure| ConfigureError::Failed { attempted: attempted(), failure })?;
    let checked = schema.check(&written.value, format!("provider {name}"));
    if checked.diagnostics.has_errors() {
        return Err(ConfigureError::Mistaken(checked.diagnostics));
    }
    Ok(Some(schema.with_defaults(&checked.value)))
}

/// Why a provider could not be made ready.
pub(crate) enum ConfigureError {
    /// What the program says of it is not sound.
    Mistaken(Diagnostics),
    /// The provider refused, or did not answer.
    Failed { attempted: String, failure: Failure },
}

impl From<ConfigureError> for Diagnostics {
    fn from(error: ConfigureError) -> Self {
        match error {
            ConfigureError::Mistaken(diagnostics) => diagnostics,
            ConfigureError::Failed { attempted, failure } => describe_attempt(&attempted, failure).into(),
        }
    }
}

/// A failure of whatever needs the provider. Its class stays.
impl From<ConfigureError> for Failure {
    fn from(error: ConfigureError) -> Self {
        match error {
            ConfigureError::Mistaken(diagnostics) => invalid(diagnostics),
            ConfigureError::Failed { attempted, failure } => {
                Failure { message: format!("{attempted}: {}", failure.message), ..failure }
            }
        }
    }
}

/// The failure of what cannot be called yet.
pub(crate) fn unknown_configuration(name: &str) -> Failure {
    let message = format!("the configuration of provider `{name}` is not known");
    Failure::new(FailureClass::Invalid, message).hint("deploy what it depends on first")
}
