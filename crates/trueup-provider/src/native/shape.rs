//! What both contracts share when they become handlers: schema, receivers, contexts, states.

use std::marker::PhantomData;

use trueup_core::schema::ResourceSchema;
use trueup_core::{Failure, FailureClass, FieldError, Value};

use crate::binding::Binding;
use crate::context::{CallContext, Context};
use crate::contract::{Inputs, Outputs, PlanHook, PlanHookRequest, PriorView, RawState, check_mirrors};
use crate::error::{Error, Result};
use crate::handler::{
    ApplyFailure, ApplyRequest, DeleteRequest, PlanAnswer, PlanRequest, Sighting, Traits,
    foreign_configuration,
};
use crate::identity::Ownership;
use crate::planning::{self, Equivalence, Findings};
use crate::provider::Configured;
use crate::state::{InputValues, State};

/// Makes what a receiver is constructed with, each time one is needed (CRUD-1).
pub(crate) type Constructor<In> = Box<dyn Fn() -> <In as Inputs>::Injected + Send + Sync>;

/// What an implemented plan hook says by leaving an output out (UNKNOWN-2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum HookKind {
    /// An update keeps it.
    KeepsOutputs,
    /// Nothing.
    SaysNothingOfOutputs,
}

/// A resource type: its structs and how it behaves.
pub(crate) struct TypeShape<In: Inputs, Out, C> {
    pub(super) schema: ResourceSchema,
    pub(super) traits: Traits,
    construct: Constructor<In>,
    of: PhantomData<fn() -> (Out, C)>,
}

impl<In: Inputs, Out: Outputs, C: Send + Sync + 'static> TypeShape<In, Out, C> {
    pub(super) fn new(version: u64, traits: Traits, construct: Constructor<In>) -> Self {
        const { check_mirrors(In::NAMES, Out::MIRRORS) };
        let schema = ResourceSchema { version, inputs: In::block(), outputs: Out::block() };
        TypeShape { schema, traits, construct, of: PhantomData }
    }

    /// The receiver for desired inputs.
    pub(super) fn receiver(&self, inputs: &Value) -> Result<In, Failure> {
        In::decode(inputs, (self.construct)()).map_err(|error| {
            let failure = Failure::new(FailureClass::Invalid, error.to_string()).at(error.path().clone());
            match inputs.is_wholly_known() {
                true => failure,
                // At apply only what was given up is still unknown.
                false => failure.hint(
                    "it derives from a secret that was given up: replace the resource that gives it, with \
                     --replace ADDRESS",
                ),
            }
        })
    }

    /// The receiver for recorded inputs.
    pub(super) fn recorded(&self, inputs: &Value) -> Result<In, Failure> {
        let inputs = planning::with_stand_ins(&self.schema.inputs, inputs);
        In::decode(&inputs, (self.construct)()).map_err(|error| self.misfit("inputs", &error))
    }

    /// Recorded outputs.
    pub(super) fn outputs(&self, outputs: &Value) -> Result<Out, Failure> {
        let outputs = planning::with_stand_ins(&self.schema.outputs, outputs);
        Out::decode(&outputs).map_err(|error| self.misfit("outputs", &error))
    }

    fn misfit(&self, what: &str, error: &FieldError) -> Failure {
        let version = self.schema.version;
        Failure::new(
            FailureClass::Fatal,
            format!("the recorded {what} do not fit schema version {version}: {error}"),
        )
        .hint("the type changed without a new schema version; its author must raise it and add a migration")
    }

    pub(super) fn config<'a>(&self, config: &'a Configured) -> Result<&'a C, Failure> {
        config.get().ok_or_else(|| foreign_configuration(config))
    }

    pub(super) fn context(&self, config: &Configured, call: &CallContext) -> Result<Context<C>, Failure> {
        let call = CallContext { name_rules: self.traits.name_rules, ..call.clone() };
        Context::of(config, call).ok_or_else(|| foreign_configuration(config))
    }

    /// The state of an object with these outputs; of one that was known before, what its answer cannot tell is kept.
    pub(super) fn state(
        &self,
        inputs: Option<InputValues>,
        prior: Option<&State>,
        outputs: &Out,
    ) -> Result<State, Failure> {
        let answered = outputs.encode().map_err(|error| unencodable(&error))?;
        let outputs = match prior {
            Some(prior) => planning::refreshed(&self.schema.outputs, &prior.outputs, answered),
            None => answered,
        };
        self.raw_state(inputs, outputs)
    }

    fn raw_state(&self, inputs: Option<InputValues>, outputs: Value) -> Result<State, Failure> {
        if outputs.depth() > Value::DEPTH_MAX {
            let message = format!("the provider's answer nests deeper than {} levels", Value::DEPTH_MAX);
            return Err(Failure::new(FailureClass::Indeterminate, message));
        }
        // What the program must send and nobody may keep.
        let inputs = inputs.map(|InputValues { written, effective }| InputValues {
            written: self.schema.inputs.without(&written, |attribute| attribute.write_only),
            effective: self.schema.inputs.without(&effective, |attribute| attribute.write_only),
        });
        let outputs = self.with_mirrored_secrets(inputs.as_ref(), outputs);
        let identity = self.schema.identity(inputs.as_ref().map(|inputs| &inputs.effective), &outputs);
        let schema_version = self.schema.version;
        Ok(State { inputs, outputs, private: Vec::new(), schema_version, identity })
    }

    /// An output that mirrors a secret input is secret, whatever its own declaration says (UNKNOWN-11).
    fn with_mirrored_secrets(&self, inputs: Option<&InputValues>, outputs: Value) -> Value {
        let secret = |input: &str| {
            inputs.and_then(|inputs| inputs.effective.get(input)).is_some_and(Value::contains_secret)
        };
        let mirrors = self.schema.outputs.attributes.iter();
        let mirrors =
            mirrors.filter(|(_, attribute)| attribute.mirrors.as_ref().is_some_and(|input| secret(input)));
        mirrors.fold(outputs, |outputs, (name, _)| match outputs.get(name) {
            Some(value) => outputs.with_entry(name, value.clone().into_secret()),
            None => outputs.clone(),
        })
    }

    /// The state of an object that was read, keeping what a read cannot tell.
    pub(super) fn refreshed(&self, recorded: &State, outputs: &Out) -> Result<State, Failure> {
        self.state(recorded.inputs.clone(), Some(recorded), outputs)
    }

    pub(super) fn sighting(
        &self,
        inputs: Option<InputValues>,
        outputs: &Out,
        ownership: Ownership,
    ) -> Result<Sighting, Failure> {
        Ok(Sighting { state: self.state(inputs, None, outputs)?, ownership })
    }

    /// Inputs that were observed: as if a program had written all of them.
    pub(super) fn observed_inputs(&self, inputs: &In) -> Result<InputValues, Failure> {
        let written = inputs.encode().map_err(|error| unencodable(&error))?;
        let effective = self.schema.inputs.with_defaults(&written);
        Ok(InputValues { written, effective })
    }

    /// A failed apply, with what the type knows of a half-made object and the inputs it counts as having.
    pub(super) fn apply_failure(
        &self,
        request: &ApplyRequest<'_>,
        inputs: Option<InputValues>,
        error: Error,
    ) -> ApplyFailure {
        let (failure, partial) = error.into_parts();
        let partial = partial.and_then(|answered| {
            let prior = request.prior.map_or(Value::NULL, |prior| prior.outputs.clone());
            self.raw_state(inputs, planning::refreshed(&self.schema.outputs, &prior, answered)).ok()
        });
        ApplyFailure { failure, partial: partial.map(Box::new) }
    }

    /// A failed attempt at a stub, with what the type knows of a half-made one.
    pub(super) fn stub_failure(&self, error: Error) -> ApplyFailure {
        let (failure, partial) = error.into_parts();
        let partial = partial.and_then(|answered| self.raw_state(None, answered).ok());
        ApplyFailure { failure, partial: partial.map(Box::new) }
    }

    /// A failed delete, with what the type knows of what is left.
    pub(super) fn delete_failure(&self, request: &DeleteRequest<'_>, error: Error) -> ApplyFailure {
        let (failure, partial) = error.into_parts();
        let left = partial.and_then(|left| {
            let outputs = planning::refreshed(&self.schema.outputs, &request.state.outputs, left);
            self.raw_state(request.state.inputs.clone(), outputs).ok()
        });
        ApplyFailure { failure, partial: left.map(Box::new) }
    }

    /// Checks resolved inputs against the schema: what was unknown at plan is known now (CRUD-11).
    pub(super) fn check_schema(&self, call: &CallContext, desired: &InputValues) -> Result<(), Failure> {
        let checked = self.schema.inputs.check(&desired.written, &call.address);
        if !checked.diagnostics.has_errors() {
            return Ok(());
        }
        let wrong: Vec<String> = checked.diagnostics.iter().map(|it| it.summary.clone()).collect();
        let mut failure = Failure::new(FailureClass::Invalid, wrong.join("; "));
        failure.diagnostics = checked.diagnostics;
        Err(failure)
    }

    /// Plans by comparison and by what the type's hook says.
    pub(super) fn plan<'a>(
        &self,
        request: PlanRequest<'a>,
        equivalent: Equivalence<'_>,
        kind: HookKind,
        hook: impl FnOnce(&PlanHookRequest<'a, In, Out, C>, &mut PlanHook) -> Result<()>,
    ) -> Result<PlanAnswer, Failure> {
        let mut said = PlanHook::default();
        hook(&self.hook_request(&request)?, &mut said).map_err(failure)?;
        let schema = &self.schema;
        said.check_names(schema)?;
        let prior_inputs = request.prior.and_then(|prior| prior.inputs.as_ref());
        let compared = request.prior.zip(request.observed);
        let findings = Findings {
            schema,
            traits: &self.traits,
            changes: prior_inputs.map_or(Vec::new(), |prior| {
                planning::input_changes(schema, prior, request.desired, equivalent)
            }),
            drift: compared
                .map_or(Vec::new(), |(prior, seen)| planning::drift(schema, prior, seen, equivalent)),
            update_keeps_outputs: kind == HookKind::KeepsOutputs && !said.outputs_may_change,
            hook: said,
            request,
        };
        Ok(findings.conclude())
    }

    fn hook_request<'a>(
        &self,
        request: &PlanRequest<'a>,
    ) -> Result<PlanHookRequest<'a, In, Out, C>, Failure> {
        let prior = request.prior.map(|prior| {
            let inputs = prior.inputs.as_ref().map(|inputs| self.recorded(&inputs.effective)).transpose()?;
            let outputs = self.outputs(&prior.outputs)?;
            let observed = request.observed.map(|state| self.outputs(&state.outputs)).transpose()?;
            let attempted = request.attempted.filter(|_| inputs.is_none());
            // A stub was begun before all its inputs were known.
            let attempted = attempted.and_then(|attempted| self.recorded(&attempted.effective).ok());
            Ok::<_, Failure>(PriorView { inputs, attempted, outputs, observed })
        });
        let current = In::view(&request.desired.effective);
        Ok(PlanHookRequest {
            config: request.config.map(|config| self.config(config)).transpose()?,
            prior: prior.transpose()?,
            current: current.map_err(|error| Failure::new(FailureClass::Invalid, error.to_string()))?,
            replaces: request.replaces,
            context: request.context,
            name_rules: self.traits.name_rules,
            bindings_changed: !Binding::as_value(request.bindings)
                .same(&Binding::as_value(request.prior_bindings)),
        })
    }

    /// Brings state to the current schema version (CRUD-10).
    pub(super) fn migrate(
        &self,
        state: State,
        migrate: impl Fn(u64, RawState) -> Result<RawState>,
    ) -> Result<State, Failure> {
        let (recorded, current) = (state.schema_version, self.schema.version);
        if recorded == current {
            return Ok(state);
        }
        if recorded > current {
            let message =
                format!("the record has schema version {recorded}, this program knows only {current}");
            return Err(Failure::new(FailureClass::Fatal, message)
                .hint("it was written by a newer version of the provider: use that one or a later one"));
        }
        let attempted = format!("migrate from schema version {recorded} to {current}");
        self.converted(state, &attempted, migrate)
    }

    /// Makes state of another type into state of this one (PLAN-20).
    pub(super) fn take_over(
        &self,
        state: State,
        other: &str,
        moved: impl Fn(u64, RawState) -> Result<RawState>,
    ) -> Result<State, Failure> {
        self.converted(state, &format!("take over an object of the type {other}"), moved)
    }

    fn converted(
        &self,
        state: State,
        attempted: &str,
        convert: impl Fn(u64, RawState) -> Result<RawState>,
    ) -> Result<State, Failure> {
        let recorded = state.schema_version;
        let inputs = state.inputs.as_ref().map_or(Value::NULL, |inputs| inputs.effective.clone());
        let converted = convert(recorded, RawState { inputs, outputs: state.outputs.clone() });
        let RawState { inputs: effective, outputs } = converted.map_err(|error| {
            let failure = failure(error);
            let message = format!("cannot {attempted}: {}", failure.message);
            Failure { message, ..failure }
        })?;
        let inputs = state.inputs.map(|inputs| {
            // What was written is converted by itself, so that defaults stay defaults; if it cannot, all counts as
            // written.
            let raw = RawState { inputs: inputs.written, outputs: state.outputs };
            let written = convert(recorded, raw).map_or_else(|_| effective.clone(), |raw| raw.inputs);
            InputValues { written, effective }
        });
        let converted = self.raw_state(inputs, outputs)?;
        Ok(State { private: state.private, ..converted })
    }
}

/// An output or observed input that no value stands for. The object may well exist.
pub(super) fn unencodable(error: &FieldError) -> Failure {
    Failure::new(
        FailureClass::Indeterminate,
        format!("the provider answered with something that no value can hold: {error}"),
    )
}

/// An error of a method that leaves nothing half-made.
pub(super) fn failure(error: Error) -> Failure {
    error.into_parts().0
}
