//! What a call was given, and its words without the secrets in that.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use trueup_core::{Diagnostics, Failure, SecretTexts, Value};

use crate::binding::Binding;
use crate::context::CallContext;
use crate::handler::{
    ApplyFailure, ApplyRequest, CheckRequest, DataRequest, DeleteRequest, ImportRequest, Imported,
    LookupRequest, MigrateRequest, Observed, Opened, PlanAnswer, PlanRequest, PrecreateRequest, ReadRequest,
    Sighting, ValidateRequest,
};
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// The values that a call was given. Secrets are searched for only when there is a text to take them out of: most calls
/// say nothing.
#[derive(Clone)]
pub(crate) struct Given(Arc<Contents>);

struct Contents {
    values: Vec<Value>,
    secrets: OnceLock<SecretTexts>,
}

impl Given {
    /// All of them.
    pub(super) fn values(&self) -> &[Value] {
        &self.0.values
    }

    /// The texts that must not be told.
    pub(crate) fn secrets(&self) -> &SecretTexts {
        self.0.secrets.get_or_init(|| SecretTexts::of(&self.0.values))
    }

    /// An answer without secrets in its texts.
    pub(super) fn concealed_in<T: Conceal>(&self, mut answer: T) -> T {
        answer.conceal(self);
        answer
    }

    /// The same with another value.
    pub(super) fn and(&self, value: Value) -> Self {
        let mut values = self.0.values.clone();
        values.push(value);
        Given::from(values)
    }
}

impl From<Vec<Value>> for Given {
    fn from(values: Vec<Value>) -> Self {
        Given(Arc::new(Contents { values, secrets: OnceLock::new() }))
    }
}

/// Values that are gathered from the fields of a request.
#[derive(Default)]
struct Gathered(Vec<Value>);

impl Gathered {
    fn value(mut self, value: &Value) -> Self {
        self.0.push(value.clone());
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
        impl From<&$request<'_>> for Given {
            fn from(request: &$request<'_>) -> Self {
                let $request { $($fields)* } = request;
                let Gathered(values) = $gathered;
                values.into()
            }
        }
    )*};
}

given! {
    ValidateRequest { config, inputs } => Gathered::default().config(*config).inputs(inputs);
    CheckRequest { config, desired, context } => {
        Gathered::default().config(*config).inputs(desired).context(context)
    };
    PlanRequest { config, desired, prior, observed, bindings, prior_bindings, private: _, context } => {
        let known = Gathered::default().config(*config).inputs(desired).state(*prior).state(*observed);
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
    ImportRequest { config, id: _, identity, context } => {
        let known = Gathered::default().config(*config).context(context);
        identity.iter().fold(known, |known, identity| known.value(identity))
    };
    PrecreateRequest { config, desired, context } => {
        Gathered::default().config(*config).inputs(desired).context(context)
    };
    DataRequest { config, inputs, context } => {
        Gathered::default().config(*config).inputs(inputs).context(context)
    };
}

/// An answer that may hold texts of a provider. Values are none: what is secret in them is marked.
pub(super) trait Conceal {
    fn conceal(&mut self, given: &Given);
}

impl Conceal for Diagnostics {
    fn conceal(&mut self, given: &Given) {
        if !self.is_empty() {
            *self = given.secrets().concealed(std::mem::take(self));
        }
    }
}

impl Conceal for Failure {
    fn conceal(&mut self, given: &Given) {
        self.conceal(given.secrets());
    }
}

impl Conceal for ApplyFailure {
    fn conceal(&mut self, given: &Given) {
        let ApplyFailure { failure, partial: _ } = self;
        Conceal::conceal(failure, given);
    }
}

impl Conceal for PlanAnswer {
    fn conceal(&mut self, given: &Given) {
        self.diagnostics.conceal(given);
    }
}

impl<T: Conceal, E: Conceal> Conceal for Result<T, E> {
    fn conceal(&mut self, given: &Given) {
        match self {
            Ok(answer) => answer.conceal(given),
            Err(failure) => failure.conceal(given),
        }
    }
}

macro_rules! without_texts {
    ($($answer:ty),*) => {$(
        impl Conceal for $answer {
            fn conceal(&mut self, _: &Given) {}
        }
    )*};
}

without_texts!(
    (),
    Value,
    State,
    Configured,
    Observed,
    Opened,
    Option<Vec<Sighting>>,
    Vec<Imported>,
    Option<SystemTime>
);
