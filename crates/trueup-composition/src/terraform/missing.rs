//! A provider that cannot be had: whatever is asked of it, it says why.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Failure, FailureClass, Value};
use trueup_provider::{
    BoxFuture, Configured, DataHandler, EphemeralHandler, Provider, ProviderFunction, ResourceHandler,
};
use trueup_terraform_find::Problem;

pub(crate) struct MissingProvider {
    name: SmolStr,
    why: Failure,
}

impl MissingProvider {
    pub(super) fn new(name: &str, problem: &Problem) -> Self {
        let told = Diagnostic::from(problem);
        let mut message = told.summary;
        if let Some(detail) = told.detail {
            message = format!("{message}\n{detail}");
        }
        let why = told.hints.into_iter().fold(Failure::new(FailureClass::Invalid, message), Failure::hint);
        MissingProvider { name: name.into(), why }
    }

    /// One of our own that only a build with this feature has.
    #[cfg(any(test, not(all(feature = "aws", feature = "pg"))))]
    pub(crate) fn not_built(name: &str, feature: &str) -> Self {
        let message = format!("the provider `{name}` comes with trueup, but this build leaves it out");
        let hint = format!("build trueup with `--features {feature}`, or with `--features full`");
        MissingProvider { name: name.into(), why: Failure::new(FailureClass::Invalid, message).hint(hint) }
    }

    fn refuse<T: Send + 'static>(&self) -> BoxFuture<'_, Result<T, Failure>> {
        Box::pin(async { Err(self.why.clone()) })
    }
}

impl Provider for MissingProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn config_schema(&self) -> BoxFuture<'_, Result<Arc<Block>, Failure>> {
        self.refuse()
    }

    fn configure<'a>(&'a self, _: &'a Value) -> BoxFuture<'a, Result<Configured, Failure>> {
        self.refuse()
    }

    fn resource<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ResourceHandler>>, Failure>> {
        self.refuse()
    }

    fn data_source<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<Arc<dyn DataHandler>>, Failure>> {
        self.refuse()
    }

    fn resource_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.refuse()
    }

    fn data_source_types(&self) -> BoxFuture<'_, Result<Vec<SmolStr>, Failure>> {
        self.refuse()
    }

    fn ephemeral<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn EphemeralHandler>>, Failure>> {
        self.refuse()
    }

    fn function<'a>(
        &'a self,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Option<Arc<dyn ProviderFunction>>, Failure>> {
        self.refuse()
    }
}

#[cfg(test)]
mod tests {
    use trueup_provider::Registry;

    use super::*;

    /// PLAN-11
    #[tokio::test]
    async fn a_provider_that_is_not_built_says_so() {
        let registry = Registry::new().with_left_out(MissingProvider::not_built("pg", "pg"));
        assert!(registry.leaves_out("pg") && !registry.has("pg") && registry.names().next().is_none());
        let told = registry.resource("pg_role").await.err().unwrap();
        assert!(told.summary.contains("the provider `pg` comes with trueup, but this build leaves it out"));
        assert_eq!(told.hints, ["build trueup with `--features pg`, or with `--features full`"]);
    }
}
