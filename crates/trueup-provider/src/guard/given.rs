//! What a call was given, and its answer without the secrets in that.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use trueup_core::{Change, Diagnostics, Failure, FailureClass, KnownSecrets, Path, SecretTexts, Step, Value};

use super::GivenValues;
use crate::binding::Binding;
use crate::context::CallContext;
use crate::handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DataRequest, DeleteRequest, ImportRequest, Imported,
    LookupRequest, MigrateRequest, Observed, Opened, PlanAnswer, PlanRequest, PrecreateRequest, ReadRequest,
    Sighting, ValidateRequest,
};
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// The values with secrets that a call was given, and the secrets of the run.
#[derive(Clone)]
pub(crate) struct Given(Arc<Contents>);

struct Contents {
    values: Vec<Value>,
    known: KnownSecrets,
    /// The secrets among the values and those they were made of. Most calls have none.
    secrets: OnceLock<SecretTexts>,
}

impl Given {
    pub(super) fn new(values: Vec<Value>, known: KnownSecrets) -> Self {
        // Before the call: a plugin prints to its log whenever it likes.
        known.learn(&values);
        Given(Arc::new(Contents { values, known, secrets: OnceLock::new() }))
    }

    /// The secrets of the run, for what the call says.
    pub(crate) fn known(&self) -> &KnownSecrets {
        &self.0.known
    }

    /// An answer whose texts are scrubbed and whose values are marked.
    pub(super) fn cleaned<T: Clean>(&self, mut answer: T) -> T {
        answer.clean(self);
        answer
    }

    /// The values that it was given, and another one.
    pub(super) fn and(&self, value: Value) -> Self {
        let mut values = self.0.values.clone();
        values.push(value);
        Given::new(values, self.0.known.clone())
    }

    /// The same and the secrets of an answer, which may repeat them elsewhere; `None` if it has none.
    fn with_secrets_of(&self, state: &State) -> Option<Self> {
        let Gathered(answered) = Gathered::default().state(state);
        (!answered.is_empty()).then(|| {
            let values = self.0.values.iter().cloned().chain(answered).collect();
            Given::new(values, self.0.known.clone())
        })
    }

    /// The part of a path before the first key that is secret; `None` if none is.
    fn open_part_of(&self, path: &Path) -> Option<Path> {
        let secrets = self.secrets();
        let is_secret = |step: &Step| matches!(step, Step::Key(key) if secrets.has_key(key));
        let length = path.steps().iter().position(is_secret)?;
        Some(path.steps()[..length].iter().cloned().fold(Path::ROOT, |path, step| path.join(step)))
    }

    fn secrets(&self) -> &SecretTexts {
        let Contents { values, known, secrets } = &*self.0;
        secrets.get_or_init(|| known.learn_and_trace(SecretTexts::of(values)))
    }
}

/// The values with secrets among the fields of a request. Most requests have none.
#[derive(Default)]
struct Gathered(Vec<Value>);

impl Gathered {
    fn value(mut self, value: &Value) -> Self {
        if value.contains_secret() {
            self.0.push(value.clone());
        }
        self
    }

    fn config<'a>(self, config: impl Into<Option<&'a Configured>>) -> Self {
        match config.into() {
            Some(config) => self.value(config.given()).value(config.value()),
            None => self,
        }
    }

    fn inputs(self, InputValues { written, effective }: &InputValues) -> Self {
        self.value(written).value(effective)
    }

    fn state<'a>(self, state: impl Into<Option<&'a State>>) -> Self {
        let Some(state) = state.into() else { return self };
        let State { inputs, outputs, private: _, schema_version: _, identity } = state;
        let gathered = self.value(outputs);
        let gathered = inputs.iter().fold(gathered, Gathered::inputs);
        identity.iter().fold(gathered, Gathered::value)
    }

    fn bindings(self, bindings: &[Binding]) -> Self {
        bindings.iter().fold(self, |gathered, Binding { key: _, payload }| gathered.value(payload))
    }

    fn context(self, context: &CallContext) -> Self {
        context.pending.iter().fold(self, Gathered::value)
    }
}

/// Each request names all its fields, so that whoever adds one has to say whether it may hold a secret.
macro_rules! given {
    ($($request:ident { $($fields:tt)* } => $gathered:expr;)*) => {$(
        impl From<&$request<'_>> for GivenValues {
            fn from(request: &$request<'_>) -> Self {
                let $request { $($fields)* } = request;
                let Gathered(values) = $gathered;
                GivenValues(values)
            }
        }
    )*};
}

given! {
    ValidateRequest { config, inputs } => Gathered::default().config(*config).inputs(inputs);
    CheckRequest { config, desired, context } => {
        Gathered::default().config(*config).inputs(desired).context(context)
    };
    PlanRequest {
        config,
        desired,
        prior,
        attempted,
        observed,
        bindings,
        prior_bindings,
        private: _,
        replaces: _,
        context,
    } => {
        let known = Gathered::default().config(*config).inputs(desired).state(*prior).state(*observed);
        let known = attempted.iter().fold(known, |known, attempted| known.inputs(attempted));
        known.bindings(bindings).bindings(prior_bindings).context(context)
    };
    ReadRequest { config, inputs, state, context } => {
        Gathered::default().config(*config).value(inputs).state(*state).context(context)
    };
    LookupRequest { config, desired, interrupted: _, context } => {
        Gathered::default().config(*config).inputs(desired).context(context)
    };
    ApplyRequest { config, desired, planned, private: _, prior, observed, bindings, context } => {
        let known = Gathered::default().config(*config).inputs(desired).value(planned);
        known.state(*prior).state(*observed).bindings(bindings).context(context)
    };
    DeleteRequest { config, inputs, state, context } => {
        Gathered::default().config(*config).value(inputs).state(*state).context(context)
    };
    MigrateRequest { config, state, from_type: _, context } => {
        Gathered::default().config(*config).state(state).context(context)
    };
    ImportRequest { config, id: _, identity, desired, context } => {
        let known = Gathered::default().config(*config).inputs(desired).context(context);
        identity.iter().fold(known, |known, identity| known.value(identity))
    };
    PrecreateRequest { config, desired, context } => {
        Gathered::default().config(*config).inputs(desired).context(context)
    };
    DataRequest { config, inputs, context } => {
        Gathered::default().config(*config).inputs(inputs).context(context)
    };
}

impl From<&Value> for GivenValues {
    fn from(value: &Value) -> Self {
        GivenValues(Gathered::default().value(value).0)
    }
}

/// An answer of a provider. Each names all its fields, so that whoever adds one has to say whether it may hold a secret.
pub(super) trait Clean {
    /// Scrubs its texts and marks its values.
    fn clean(&mut self, given: &Given);
}

impl Clean for Diagnostics {
    fn clean(&mut self, given: &Given) {
        given.known().scrub_diagnostics(self);
    }
}

impl Clean for Failure {
    fn clean(&mut self, given: &Given) {
        given.known().scrub_failure(self);
        if let FailureClass::Pending { context, .. } = &mut self.class {
            context.clean(given);
        }
    }
}

impl Clean for ApplyFailure {
    fn clean(&mut self, given: &Given) {
        let ApplyFailure { failure, partial } = self;
        // First: its secrets become known, and the message may repeat them.
        if let Some(state) = partial {
            state.clean(given);
        }
        failure.clean(given);
    }
}

impl Clean for Value {
    fn clean(&mut self, given: &Given) {
        let secrets = given.secrets();
        if !secrets.is_empty() {
            *self = secrets.mark(self);
        }
    }
}

impl Clean for State {
    fn clean(&mut self, given: &Given) {
        let fresh = given.with_secrets_of(self);
        let given = fresh.as_ref().unwrap_or(given);
        let State { inputs, outputs, private: _, schema_version: _, identity } = self;
        if let Some(InputValues { written, effective }) = inputs {
            written.clean(given);
            effective.clean(given);
        }
        outputs.clean(given);
        identity.clean(given);
    }
}

impl Clean for Change {
    fn clean(&mut self, given: &Given) {
        let Change { path, before, after, certain: _ } = self;
        before.clean(given);
        after.clean(given);
        if let Some(open) = given.open_part_of(path) {
            // A key that is secret makes its whole map so.
            *path = open;
            *before = before.take().map(Value::into_secret);
            *after = after.take().map(Value::into_secret);
        }
    }
}

impl Clean for Path {
    fn clean(&mut self, given: &Given) {
        if let Some(open) = given.open_part_of(self) {
            *self = open;
        }
    }
}

impl Clean for PlanAnswer {
    fn clean(&mut self, given: &Given) {
        let PlanAnswer {
            verdict: _,
            outputs,
            changes,
            drift,
            replace_paths,
            delete_first: _,
            private: _,
            diagnostics,
        } = self;
        replace_paths.clean(given);
        outputs.clean(given);
        changes.clean(given);
        drift.clean(given);
        diagnostics.clean(given);
    }
}

impl Clean for Observed {
    fn clean(&mut self, given: &Given) {
        match self {
            Observed::Present(state) => state.clean(given),
            Observed::Absent | Observed::Unreadable => {}
        }
    }
}

impl Clean for Sighting {
    fn clean(&mut self, given: &Given) {
        let Sighting { state, ownership: _ } = self;
        state.clean(given);
    }
}

impl Clean for Imported {
    fn clean(&mut self, given: &Given) {
        let Imported { type_name: _, state } = self;
        state.clean(given);
    }
}

impl<T: Clean> Clean for Vec<T> {
    fn clean(&mut self, given: &Given) {
        self.iter_mut().for_each(|it| it.clean(given));
    }
}

impl<T: Clean> Clean for Option<T> {
    fn clean(&mut self, given: &Given) {
        self.iter_mut().for_each(|it| it.clean(given));
    }
}

impl<T: Clean, E: Clean> Clean for Result<T, E> {
    fn clean(&mut self, given: &Given) {
        match self {
            Ok(answer) => answer.clean(given),
            Err(failure) => failure.clean(given),
        }
    }
}

macro_rules! nothing_to_clean {
    ($($answer:ty: $reason:literal;)*) => {$(
        impl Clean for $answer {
            #[doc = $reason]
            fn clean(&mut self, _: &Given) {}
        }
    )*};
}

nothing_to_clean! {
    (): "Says nothing.";
    SystemTime: "Says nothing.";
    Configured: "The provider's own, and never shown.";
    Opened: "Ephemeral, so all of it is secret.";
}
