//! Drives one resource type by hand: what the engine does for one resource, without order, retries or store.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Address, Diagnostic, Diagnostics, Failure, FailureClass, Value};
use trueup_provider::{
    ApplyFailure, ApplyRequest, CallContext, CheckRequest, Configured, DeleteRequest, IdempotencyToken,
    ImportRequest, Imported, InputValues, LookupRequest, MigrateRequest, Observed, PlanAnswer, PlanRequest,
    PrecreateRequest, PrivateBytes, Provider, ReadRequest, Registry, ResourceHandler, Sighting, Slot, State,
    StubInputs,
};

/// How often an operation is called again before its answer stands.
const POLLS_MAX: usize = 600;

/// How long to wait before an operation is called again, if it does not say.
const POLL_DELAY: Duration = Duration::from_secs(1);

/// One resource of one type, driven call by call.
#[derive(Clone)]
pub struct Driver {
    handler: Arc<dyn ResourceHandler>,
    config: Configured,
    /// What each call is told; change it to be another generation or to hear progress.
    pub context: CallContext,
    /// Whether what the engine would retry is tried again, too: what is throttled, or not everywhere known yet. Without it,
    /// only what is pending is.
    pub patient: bool,
}

impl Driver {
    /// A resource of a type that the provider has, under this configuration.
    pub async fn new(
        provider: impl Provider + 'static,
        type_name: &str,
        config: &Value,
    ) -> Result<Driver, Diagnostics> {
        let name = provider.name().to_owned();
        let cannot_configure =
            |failure: Failure| Diagnostic::error(format!("cannot configure `{name}`: {failure}"));
        let registry = Registry::new().with(provider);
        let provider = registry.provider(&name).ok_or_else(|| Diagnostic::error("it has no name"))?;
        let schema = provider.config_schema().await.map_err(cannot_configure)?;
        let checked = schema.check(config, &name);
        if checked.diagnostics.has_errors() {
            return Err(checked.diagnostics);
        }
        let config = schema.with_defaults(&checked.value);
        let configured = provider.configure(&config).await.map_err(cannot_configure)?;
        let config = configured.with_value(config);
        let handler = registry.resource(type_name).await?;
        let address =
            Address::resource(type_name, "it").map_err(|error| Diagnostic::error(error.to_string()))?;
        let context = CallContext::new("conformance", "test", address);
        Ok(Driver { handler, config, context, patient: false })
    }

    /// The secrets in the provider's configuration.
    pub(crate) fn config_secrets(&self) -> Vec<&str> {
        self.config.value().secret_texts()
    }

    /// The type.
    pub fn handler(&self) -> &dyn ResourceHandler {
        &*self.handler
    }

    /// The same resource at its next generation, with the next name and a fresh token.
    #[must_use]
    pub fn next_generation(&self) -> Driver {
        let mut next = self.with_fresh_token();
        next.context.generation = next.context.generation.next();
        next.context.slot = next.context.slot.map(|slot| Slot(slot.0 + 1));
        next
    }

    /// The same resource with another token, as for another intent to create.
    #[must_use]
    pub fn with_fresh_token(&self) -> Driver {
        let mut other = self.clone();
        other.context.token = Some(IdempotencyToken::fresh());
        other
    }

    /// Checks what a program would write, and fills in defaults.
    pub fn inputs(&self, written: &Value) -> Result<InputValues, Diagnostics> {
        let inputs = &self.handler.schema().inputs;
        let checked = inputs.check(written, &self.context.address);
        if checked.diagnostics.has_errors() {
            return Err(checked.diagnostics);
        }
        Ok(InputValues { effective: inputs.with_defaults(&checked.value), written: checked.value })
    }

    /// Plans towards these inputs.
    pub async fn plan(
        &self,
        desired: &InputValues,
        prior: Option<&State>,
        observed: Option<&State>,
    ) -> Result<PlanAnswer, Failure> {
        let private = PrivateBytes(prior.map_or(Vec::new(), |prior| prior.private.clone()));
        let request = PlanRequest {
            config: Some(&self.config),
            desired,
            prior,
            attempted: None,
            observed,
            bindings: &[],
            prior_bindings: &[],
            private: &private,
            replaces: false,
            context: &self.context,
        };
        self.handler.plan(request).await
    }

    /// Checks resolved inputs, plans and applies: creates the object if there is no prior state, else updates it. What is
    /// pending is called again, as the engine does (RETRY-4).
    pub async fn apply(
        &self,
        desired: &InputValues,
        prior: Option<&State>,
        observed: Option<&State>,
    ) -> Result<State, ApplyFailure> {
        let mut driver = self.clone();
        for _ in 0..POLLS_MAX {
            match driver.apply_once(desired, prior, observed).await {
                Err(failed) if driver.waited_for(&failed.failure).await => {}
                applied => return applied,
            }
        }
        driver.apply_once(desired, prior, observed).await
    }

    /// Waits as long as an operation asks for that is to be called again, and keeps what it wants to be told; whether it is
    /// one.
    async fn waited_for(&mut self, failure: &Failure) -> bool {
        let delay = match &failure.class {
            FailureClass::Pending { delay, context } => {
                self.context.pending = Some(context.clone());
                delay
            }
            FailureClass::Throttled { delay } if self.patient => delay,
            FailureClass::Retryable if self.patient => &None,
            _ => return false,
        };
        self.context.clock.sleep(delay.unwrap_or(POLL_DELAY)).await;
        true
    }

    async fn apply_once(
        &self,
        desired: &InputValues,
        prior: Option<&State>,
        observed: Option<&State>,
    ) -> Result<State, ApplyFailure> {
        let (config, context) = (&self.config, &self.context);
        self.handler.check(CheckRequest { config, desired, context }).await?;
        let plan = self.plan(desired, prior, observed).await?;
        let request = ApplyRequest {
            config,
            desired,
            planned: &plan.outputs,
            private: &plan.private,
            prior,
            observed,
            bindings: &[],
            context,
        };
        self.handler.apply(request).await
    }

    /// Looks at the object.
    pub async fn read(&self, inputs: &InputValues, state: &State) -> Result<Observed, Failure> {
        let (config, context) = (&self.config, &self.context);
        self.handler.read(ReadRequest { config, inputs: &inputs.effective, state, context }).await
    }

    /// Looks for the object by its identity.
    pub async fn lookup(&self, desired: &InputValues) -> Result<Option<Vec<Sighting>>, Failure> {
        let (config, context) = (&self.config, &self.context);
        self.handler.lookup(LookupRequest { config, desired, interrupted: false, context }).await
    }

    /// Removes the object; while that is pending, again.
    pub async fn delete(&self, inputs: &InputValues, state: &State) -> Result<(), ApplyFailure> {
        let mut driver = self.clone();
        for _ in 0..POLLS_MAX {
            match driver.delete_once(inputs, state).await {
                Err(failed) if driver.waited_for(&failed.failure).await => {}
                deleted => return deleted,
            }
        }
        driver.delete_once(inputs, state).await
    }

    async fn delete_once(&self, inputs: &InputValues, state: &State) -> Result<(), ApplyFailure> {
        let (config, context) = (&self.config, &self.context);
        let request = DeleteRequest { config, inputs: &inputs.effective, state, context };
        match self.handler.delete(request).await {
            // As the engine counts it, past the consistency window (DELETE-2).
            Err(failed) if failed.failure.class == FailureClass::NotFound => Ok(()),
            deleted => deleted,
        }
    }

    /// Brings recorded state to the current schema version.
    pub async fn migrate(&self, state: State) -> Result<State, Failure> {
        let (config, context) = (Some(&self.config), &self.context);
        self.handler.migrate(MigrateRequest { config, state, from_type: None, context }).await
    }

    /// Makes a stub of the object, if one can be made of these inputs.
    pub async fn precreate(&self, desired: &InputValues) -> Result<Option<State>, ApplyFailure> {
        let stub = match self.handler.stub_inputs(desired) {
            StubInputs::Impossible => return Ok(None),
            stub => stub.into_result()?,
        };
        let mut driver = self.clone();
        for _ in 0..POLLS_MAX {
            match driver.precreate_once(&stub).await {
                Err(failed) if driver.waited_for(&failed.failure).await => {}
                made => return made.map(Some),
            }
        }
        driver.precreate_once(&stub).await.map(Some)
    }

    async fn precreate_once(&self, desired: &InputValues) -> Result<State, ApplyFailure> {
        let (config, context) = (&self.config, &self.context);
        self.handler.precreate(PrecreateRequest { config, desired, context }).await
    }

    /// Finds objects by an id, for a resource with these inputs.
    pub async fn import(&self, desired: &InputValues, id: &str) -> Result<Vec<Imported>, Failure> {
        let (config, context) = (&self.config, &self.context);
        self.handler.import(ImportRequest { config, id, identity: None, desired, context }).await
    }
}
