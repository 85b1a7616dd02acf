//! The providers: those that are built in, and Terraform's.

use std::sync::Arc;

use trueup_cli::{OpenError, RegistryRequest, StoreRequest, sqlite_file, state_in_own_folder, store_failure};
use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{Registry, Result};
use trueup_provider_std::{
    CommandGuard, Randomness, StackOutputRequest, StackOutputs, Surroundings, stack_provider, std_provider,
    terraform_provider,
};
use trueup_state::{Scope, Store};

use crate::terraform::TerraformProviders;

/// The keys of secrets are for the command line: no program reads them, and no command that it runs.
const KEY_VARIABLES: [&str; 4] =
    ["TRUEUP_KEY", "TRUEUP_PASSPHRASE", "TRUEUP_NEW_KEY", "TRUEUP_NEW_PASSPHRASE"];

/// Where runs of a stack wait for the commands of killed ones.
const COMMAND_LOCKS: &str = ".trueup/commands";

/// The providers for a stack, with those that `extend` adds.
pub(crate) fn registry(request: &RegistryRequest, extend: &dyn Fn(Registry) -> Registry) -> Registry {
    let environment = request.environment.without(&KEY_VARIABLES);
    let notify = request.notify.clone();
    // A plan has no progress that could tell that it waits.
    let guard = CommandGuard::new(request.folder.join(COMMAND_LOCKS), move |waiting| notify(waiting));
    let surroundings = Surroundings::new(&request.folder)
        .with_environment(environment.all().iter().cloned())
        .with_command_guard(guard);
    let own = request.clone();
    let outputs = StackOutputs::from_function(move |wanted| outputs_of(own.clone(), wanted));
    let registry = Registry::new()
        .with(std_provider(surroundings))
        .with(terraform_provider(Randomness::default()))
        .with(stack_provider(outputs));
    #[cfg(feature = "aws")]
    let registry = registry.with(trueup_provider_aws::aws_provider(&request.folder));
    #[cfg(not(feature = "aws"))]
    let registry = registry.with_left_out(crate::terraform::MissingProvider::not_built("awsn", "aws"));
    #[cfg(not(feature = "pg"))]
    let registry = registry.with_left_out(crate::terraform::MissingProvider::not_built("pg", "pg"));
    #[cfg(feature = "pg")]
    let registry = registry.with(trueup_provider_pg::pg_provider({
        let environment = environment.clone();
        move |name| environment.variables().get(name).cloned()
    }));
    let registry = extend(registry);
    // All others are Terraform's.
    let others = TerraformProviders::new(request, &registry, environment);
    registry.with_source(Arc::new(others))
}

/// What another stack gives: from this stack's store, or from the one in another stack's folder.
async fn outputs_of(own: RegistryRequest, wanted: StackOutputRequest) -> Result<Option<Value>> {
    let RegistryRequest { folder, state, clock, open_store, environment, .. } = own;
    let (folder, state) = match wanted.folder {
        None => (folder, state),
        Some(other) => (folder.join(other), state_in_own_folder()),
    };
    let location = sqlite_file(&state, &folder);
    if location.as_ref().is_some_and(|file| !file.exists()) {
        // Asking must not make a store.
        return Ok(None);
    }
    let opened = open_store(StoreRequest { folder, state, clock, environment }).await;
    let store = opened.map_err(|error| match error {
        OpenError::Store(error) => store_failure(&error),
        OpenError::Settings(diagnostics) => {
            let told: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            Failure::new(FailureClass::Invalid, told.join("; "))
        }
    })?;
    outputs(&*store, &wanted.stack, &wanted.stage).await
}

async fn outputs(store: &dyn Store, stack: &str, stage: &str) -> Result<Option<Value>> {
    let snapshot = store.load(&Scope::new(stack, stage)).await;
    Ok(snapshot.map_err(|error| store_failure(&error))?.outputs)
}
