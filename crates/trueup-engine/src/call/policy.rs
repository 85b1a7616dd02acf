//! How calls are repeated and bounded: by the options of a resource, or of the run.

use std::time::Duration;

use trueup_program::{ResourceOptions, RetryPolicy, RetrySettings, Timeouts};
use trueup_provider::Traits;

use crate::events::Operation;
use crate::options::PlanOptions;

/// How calls for one resource, or to a provider, are repeated and bounded.
#[derive(Clone, Copy)]
pub(crate) struct CallPolicy {
    pub(super) retry: RetryPolicy,
    timeouts: Timeouts,
    /// How long what has no timeout of its own may take.
    usual: Duration,
}

impl CallPolicy {
    /// The policy of a resource with these options, or of what has none.
    ///
    /// Of retries, what is said nearest counts, part by part: for the resource, its type, the run, and by the type itself.
    pub(super) fn new(
        run: &PlanOptions,
        own: Option<&ResourceOptions>,
        of_type: Option<&RetrySettings>,
        traits: Option<&Traits>,
    ) -> Self {
        let own_retry = own.map(|own| own.retry).unwrap_or_default();
        let by_type = traits.map(|traits| traits.retry).unwrap_or_default();
        let retry = own_retry.or(of_type.copied().unwrap_or_default()).or(run.retry).or(by_type);
        CallPolicy {
            retry: retry.policy(),
            timeouts: own.and_then(|it| it.timeouts.as_deref()).copied().unwrap_or_default(),
            usual: run.timeout,
        }
    }

    /// How long an operation may take.
    pub(super) fn timeout(&self, operation: Operation) -> Duration {
        let own = match operation {
            Operation::Create => self.timeouts.create,
            Operation::Update => self.timeouts.update,
            Operation::Delete => self.timeouts.delete,
            Operation::Read => self.timeouts.read,
        };
        own.unwrap_or(self.usual)
    }
}
