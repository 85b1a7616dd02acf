//! Configurations of providers that become known while a plan is carried out.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::Failure;
use trueup_program::Evaluated;
use trueup_provider::{Configured, ResourceHandler};
use trueup_state::Generation;

use super::Run;
use crate::draft::Draft;
use crate::index::NodeIndex;
use crate::providers::{Places, configured, unknown_configuration, written_now};

/// A provider's configuration, ready or on the way.
#[derive(Clone)]
pub(crate) enum Configuration {
    /// It was known when the run was planned.
    Ready(Configured),
    /// It is known now.
    Late { provider: SmolStr, written: Evaluated },
}

impl Configuration {
    /// The configuration of a node's provider, as far as it is known now.
    pub(crate) fn of(run: &Run<'_>, draft: &Draft, at: NodeIndex) -> Self {
        let node = &draft.nodes[at];
        match &node.config {
            Some(configured) => Configuration::Ready(configured.clone()),
            None => Configuration::Late {
                provider: node.provider.clone(),
                written: written_now(run.program, draft, &node.provider),
            },
        }
    }

    /// The provider, ready for use.
    pub(crate) async fn ready(self, run: &Run<'_>) -> Result<Configured, Failure> {
        match self.settled(run).await? {
            Ok(configured) => Ok(configured),
            Err(provider) => Err(unknown_configuration(&provider)),
        }
    }

    /// The provider, ready to delete a generation: while the program's configuration is not known, by the one that the
    /// generation was made with (DELETE-11).
    pub(crate) async fn ready_for(
        self,
        run: &Run<'_>,
        generation: &Generation,
    ) -> Result<Configured, Failure> {
        match (self.settled(run).await?, generation.configuration) {
            (Ok(configured), _) => Ok(configured),
            (Err(provider), Some(number)) => run.recorded.ready(&run.calls, &provider, number).await,
            (Err(provider), None) => Err(unknown_configuration(&provider)),
        }
    }

    /// The provider, ready for use, or its name while its configuration is not known.
    async fn settled(self, run: &Run<'_>) -> Result<Result<Configured, SmolStr>, Failure> {
        let (provider, written) = match self {
            Configuration::Ready(configured) => return Ok(Ok(configured)),
            Configuration::Late { provider, written } => (provider, written),
        };
        // Whoever comes first makes it ready for all, unless it was told something that only stood in (BIND-5).
        let mut known = run.late_configs.lock().await;
        if let Some((_, outcome)) = known.get(&provider).filter(|(told, _)| *told == written.value) {
            return outcome.clone().map(Ok);
        }
        let told = written.value.clone();
        let outcome = match configured(&run.calls, &provider, written).await {
            Ok(None) => return Ok(Err(provider)),
            Ok(Some(configured)) => Ok(configured),
            Err(wrong) => Err(Failure::from(wrong)),
        };
        // Who comes later is told the same: a provider that does not answer is waited for once.
        known.insert(provider, (told, outcome.clone()));
        outcome.map(Ok)
    }
}

impl Run<'_> {
    /// The places of objects of a type, under this configuration of its provider.
    pub(crate) fn places(&self, handler: &Arc<dyn ResourceHandler>, provider: SmolStr) -> Places<'_> {
        let (calls, recorded, handler) = (&self.calls, self.recorded.clone(), handler.clone());
        Places { calls, recorded, handler, provider }
    }
}
