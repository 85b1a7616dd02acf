//! What a provider's method knows of the call it serves.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Diagnostic, Diagnostics, KnownSecrets, Value};

use crate::clock::{Clock, RuntimeClock};
use crate::error::{Error, Result};
use crate::guard::Given;
use crate::identity::{GenerationNumber, IdempotencyToken, NameRules, Owner, Ownership, Slot, physical_name};
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
    pub generation: GenerationNumber,
    /// Which of its possible names it bears: the lowest that no undeleted generation uses. `None` in a lookup by a name that no
    /// object bears: what it finds was not found by its name.
    pub slot: Option<Slot>,
    /// The token of the create or update that is attempted or looked for: the same for each attempt at one, another for the
    /// next. No other call has one.
    pub token: Option<IdempotencyToken>,
    /// What an earlier attempt left behind when it failed as *pending*.
    pub pending: Option<Value>,
    /// Raised when the call should come to an end.
    pub cancellation: CancellationToken,
    /// What tells the time and waits.
    pub clock: Arc<dyn Clock>,
    /// Hears what the call is doing.
    pub progress: ProgressSink,
    /// Hears what is worth knowing of a call that went well.
    pub warnings: WarningSink,
    /// What names this type may have.
    pub name_rules: NameRules,
    /// The secrets of the run.
    pub secrets: KnownSecrets,
    /// What the resource's module tells providers of itself, by their names.
    pub metas: Option<ModuleMetas>,
}

/// What a module tells providers of itself, by their names.
pub type ModuleMetas = Arc<BTreeMap<SmolStr, Value>>;

/// Receives what a call is doing. Only [`CallContext::report_progress`] sends to it, and scrubs what it sends.
#[derive(Clone)]
pub struct ProgressSink(Arc<dyn Fn(&str) + Send + Sync>);

impl ProgressSink {
    /// A sink that calls a function.
    pub fn new(receive: impl Fn(&str) + Send + Sync + 'static) -> Self {
        ProgressSink(Arc::new(receive))
    }
}

/// Receives warnings of a call. Only [`CallContext::report_warnings`] sends to it, and scrubs what it sends.
#[derive(Clone)]
pub struct WarningSink(Arc<dyn Fn(Diagnostic) + Send + Sync>);

impl WarningSink {
    /// A sink that calls a function.
    pub fn new(receive: impl Fn(Diagnostic) + Send + Sync + 'static) -> Self {
        WarningSink(Arc::new(receive))
    }
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
            generation: GenerationNumber::FIRST,
            slot: Some(Slot::FIRST),
            token: Some(IdempotencyToken::fresh()),
            pending: None,
            cancellation: CancellationToken::new(),
            clock: Arc::new(RuntimeClock::new()),
            progress: ProgressSink::new(|_| {}),
            warnings: WarningSink::new(|_| {}),
            name_rules: NameRules::default(),
            secrets: KnownSecrets::default(),
            metas: None,
        }
    }

    /// The object's deterministic name, within the rules of its type (RECONCILE-4).
    pub fn physical_name(&self) -> String {
        self.physical_name_within(&self.name_rules)
    }

    /// The same within other rules.
    pub(crate) fn physical_name_within(&self, rules: &NameRules) -> String {
        let Owner { stack, stage, origin } = &self.owner;
        physical_name(stack, stage, origin, self.slot, rules)
    }

    /// The token of this create, for APIs that make no second object for the same one. Only a create or update has it.
    pub fn create_token(&self) -> Result<IdempotencyToken> {
        self.token.ok_or_else(|| Error::fatal("only a create has an idempotency token"))
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

    /// Tells whoever watches what the call is doing, without the secrets of the run.
    pub fn report_progress(&self, doing: &str) {
        (self.progress.0)(&self.secrets.scrubbed(doing));
    }

    /// Hands on what a call that went well warns of, without the secrets of the run.
    pub fn report_warnings(&self, warnings: Diagnostics) {
        for mut warning in warnings {
            self.secrets.scrub_diagnostic(&mut warning);
            (self.warnings.0)(warning);
        }
    }

    /// The same call, with the secrets that what it was given may hold among those of the run.
    pub(crate) fn scrubbed_by(&self, given: &Given) -> Cow<'_, CallContext> {
        let secrets = given.known();
        match self.secrets.is_shared_with(secrets) {
            true => Cow::Borrowed(self),
            false => Cow::Owned(CallContext { secrets: secrets.clone(), ..self.clone() }),
        }
    }
}

impl fmt::Debug for CallContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CallContext { address, generation, .. } = self;
        match self.slot {
            Some(slot) => write!(f, "call for {address} generation {generation} slot {slot}"),
            None => write!(f, "call for {address} generation {generation} under nobody's name"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn reports_hold_no_secret_of_the_run() {
        let mut context = CallContext::new("shop", "dev", Address::resource("std_file", "readme").unwrap());
        let told = Arc::new(Mutex::new(Vec::new()));
        let (progress, warnings) = (told.clone(), told.clone());
        context.progress = ProgressSink::new(move |doing| progress.lock().unwrap().push(doing.to_owned()));
        context.warnings = WarningSink::new(move |it| warnings.lock().unwrap().push(it.summary));
        // Learned after the context was made.
        context.secrets.learn(&[Value::string("hunter2-hunter2").into_secret()]);
        context.report_progress("sends hunter2-hunter2");
        context.report_warnings(Diagnostic::warning("echoed hunter2-hunter2").into());
        assert_eq!(*told.lock().unwrap(), ["sends (secret)", "echoed (secret)"]);
    }
}
