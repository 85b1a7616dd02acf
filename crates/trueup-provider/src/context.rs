//! What a provider's method knows of the call it serves.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Diagnostic, Diagnostics, KnownSecrets, Value};

use crate::clock::{Clock, RuntimeClock};
use crate::guard::Given;
use crate::identity::{IdempotencyToken, NameRules, Owner, Ownership, physical_name};
use crate::provider::Configured;

/// The call, and the provider's configuration. Dereferences to [`CallContext`].
pub struct Context<C = NoConfig> {
    config: Arc<C>,
    call: CallContext,
}

/// The configuration of a provider that needs none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoConfig;

/// The call itself: for which resource, under which name, until when.
#[derive(Clone)]
pub struct CallContext {
    /// Whose the object is.
    pub owner: Owner,
    /// The address the resource has now.
    pub address: Address,
    /// Which physical incarnation of the resource this is.
    pub generation: u64,
    /// Which of its possible names it bears: the lowest that no undeleted generation uses.
    pub slot: u64,
    /// The same for each attempt at one create, another for the next.
    pub token: IdempotencyToken,
    /// What an earlier attempt left behind when it failed as *pending*.
    pub pending: Option<Value>,
    /// Raised when the call should come to an end.
    pub cancellation: CancellationToken,
    /// What tells the time and waits.
    pub clock: Arc<dyn Clock>,
    /// Hears what the call is doing.
    pub progress: Arc<dyn Fn(&str) + Send + Sync>,
    /// Hears what is worth knowing of a call that went well.
    pub warnings: Arc<dyn Fn(Diagnostic) + Send + Sync>,
    /// What names this type may have.
    pub name_rules: NameRules,
    /// The secrets of the run.
    pub secrets: KnownSecrets,
}

impl<C> Context<C> {
    /// A context with this configuration.
    pub fn new(config: Arc<C>, call: CallContext) -> Self {
        Context { config, call }
    }

    /// The context of a call with what the provider was made ready with; `None` if that is of another type.
    pub(crate) fn of(configured: &Configured, call: CallContext) -> Option<Self>
    where
        C: Send + Sync + 'static,
    {
        Some(Context { config: configured.shared()?, call })
    }

    /// The provider's configuration.
    pub fn config(&self) -> &C {
        &self.config
    }
}

impl<C> Deref for Context<C> {
    type Target = CallContext;

    fn deref(&self) -> &CallContext {
        &self.call
    }
}

impl CallContext {
    /// A call for a resource of this address, at its first generation, with a fresh token and the runtime's clock.
    pub fn new(stack: impl Into<SmolStr>, stage: impl Into<SmolStr>, address: Address) -> Self {
        CallContext {
            owner: Owner { stack: stack.into(), stage: stage.into(), origin: address.clone() },
            address,
            generation: 0,
            slot: 0,
            token: IdempotencyToken::fresh(),
            pending: None,
            cancellation: CancellationToken::new(),
            clock: Arc::new(RuntimeClock::new()),
            progress: Arc::new(|_| {}),
            warnings: Arc::new(|_| {}),
            name_rules: NameRules::default(),
            secrets: KnownSecrets::default(),
        }
    }

    /// The object's deterministic name, within the rules of its type (RECONCILE-4).
    pub fn physical_name(&self) -> String {
        let Owner { stack, stage, origin } = &self.owner;
        physical_name(stack, stage, origin, self.slot, &self.name_rules)
    }

    /// The tags by which the object can be recognised.
    pub fn tags(&self) -> BTreeMap<String, String> {
        self.owner.tags(self.generation)
    }

    /// Whose an object with these tags is.
    pub fn recognise(&self, tags: &BTreeMap<String, String>) -> Ownership {
        self.owner.recognise(tags)
    }

    /// A text without the secrets of the run. What a call says is scrubbed in any case; a type that shortens a text of
    /// others has to scrub it first, because half a secret is not recognised.
    pub fn scrubbed(&self, text: &str) -> String {
        self.secrets.scrubbed(text).into_owned()
    }

    /// Tells whoever watches what the call is doing.
    pub fn report_progress(&self, doing: &str) {
        (self.progress)(doing);
    }

    /// The same, for a call whose progress and warnings may quote secrets.
    #[must_use]
    pub(crate) fn scrubbed_by(&self, given: &Given) -> CallContext {
        let mut context = self.clone();
        context.secrets = given.known().clone();
        let (warnings, secrets) = (self.warnings.clone(), given.known().clone());
        context.warnings = Arc::new(move |mut warning| {
            secrets.scrub_diagnostic(&mut warning);
            warnings(warning);
        });
        let (progress, secrets) = (self.progress.clone(), given.known().clone());
        context.progress = Arc::new(move |doing| progress(&secrets.scrubbed(doing)));
        context
    }

    /// Hands on what a call that went well warns of.
    pub fn report_warnings(&self, warnings: Diagnostics) {
        warnings.into_iter().for_each(|warning| (self.warnings)(warning));
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call for {} generation {} slot {}", self.address, self.generation, self.slot)
    }
}
