//! Creating, updating and deleting objects.

use smol_str::SmolStr;
use trueup_core::{FailureClass, Value};
use trueup_provider::{
    ApplyFailure, ApplyRequest as TypeRequest, CallContext, CheckRequest, Configured, DeleteEnd,
    DeleteRequest, InputValues, Observed, PlanAnswer, ReadRequest, State, Verdict,
};
use trueup_terraform::protocol::{ApplyRequest, ApplyResponse, DynamicValue};

use super::plan::PriorObject;
use super::{Resource, Service, decoded, encoded};
use crate::calls::{Session, caught, guarded};
use crate::diagnostics::{self, Messages};
use crate::record::{Record, fresh_name};
use crate::surface::{Surface, entry};

/// The result of an operation, with diagnostics.
struct Outcome {
    state: Value,
    record: Option<Record>,
    messages: Messages,
}

impl Service {
    pub(crate) async fn apply(&self, request: ApplyRequest) -> ApplyResponse {
        let before = |diagnostics| ApplyResponse {
            new_state: request.prior_state.clone().or_else(|| Some(DynamicValue::default())),
            private: request.planned_private.clone(),
            diagnostics,
            ..ApplyResponse::default()
        };
        let outcome = match guarded(self.applied(&request)).await {
            Ok(outcome) => outcome,
            Err(messages) => return before(messages),
        };
        let surface = match self.resource(&request.type_name) {
            Ok(resource) => &resource.surface,
            Err(messages) => return before(messages),
        };
        match encoded(&surface.schema, &outcome.state) {
            Ok(new_state) => ApplyResponse {
                new_state,
                private: outcome.record.map(|record| record.to_bytes()).unwrap_or_default().into(),
                diagnostics: outcome.messages,
                ..ApplyResponse::default()
            },
            Err(mut messages) => {
                messages.extend(outcome.messages);
                before(messages)
            }
        }
    }

    async fn applied(&self, request: &ApplyRequest) -> Result<Outcome, Messages> {
        let resource = self.resource(&request.type_name)?;
        let schema = &resource.surface.schema;
        let prior = decoded(schema, "state", request.prior_state.as_ref())?;
        let planned = decoded(schema, "plan", request.planned_state.as_ref())?;
        let config = decoded(schema, "configuration", request.config.as_ref())?;
        let configured = self.ready()?;
        let found = self.found(resource, &prior, &request.planned_private).await?;
        // A replacement gets a name of its own.
        let name = found.as_ref().map_or_else(fresh_name, |found| found.record.name.clone());
        let session = self.session(&resource.surface.type_name, &name)?;
        let change =
            Change { service: self, resource, session: &session, configured: &configured, prior: &prior };
        let mut outcome = match (planned.is_null(), found) {
            (true, Some(found)) => change.delete(&found.record).await,
            (true, None) => Outcome { state: Value::NULL, record: None, messages: Messages::new() },
            (false, found) => change.create_or_update(&config, &planned, found.as_ref()).await?,
        };
        outcome.messages.extend(resource.surface.warned(&session.warnings()));
        Ok(outcome)
    }
}

/// A change to an object.
struct Change<'a> {
    service: &'a Service,
    resource: &'a Resource,
    session: &'a Session,
    configured: &'a Configured,
    prior: &'a Value,
}

impl Change<'_> {
    fn surface(&self) -> &Surface {
        &self.resource.surface
    }

    /// Creates or updates the object.
    async fn create_or_update(
        &self,
        config: &Value,
        planned: &Value,
        found: Option<&PriorObject>,
    ) -> Result<Outcome, Messages> {
        let (desired, wrong) = self.surface().desired(config);
        if wrong.has_errors() {
            return Err(diagnostics::diagnostics(&wrong, &self.surface().schema.block));
        }
        let attempted = if found.is_some() { "cannot update" } else { "cannot create" };
        let answer = self
            .service
            .type_plan(self.resource, self.session, Some(self.configured), &desired, found)
            .await?;
        if let (Some(found), Verdict::NoOp) = (found, answer.verdict) {
            // Inputs that the type considers equivalent: only the record changes.
            let unchanged = State { inputs: Some(desired.clone()), ..found.observed.clone() };
            let (outcome, _) = self.success(planned, unchanged);
            return Ok(outcome);
        }
        match self.call(&desired, &answer, found).await {
            Ok(state) => {
                // The object exists: it must be kept, whatever happens now.
                let state = caught(self.read_back(state.clone())).await.unwrap_or(state);
                let (mut outcome, broken) = self.success(planned, state);
                outcome.messages.extend(self.surface().broken(&broken));
                Ok(outcome)
            }
            Err(ApplyFailure { failure, partial }) => {
                let messages = self.surface().failed(attempted, &failure);
                Ok(self.partial_outcome(partial, &desired, found, messages))
            }
        }
    }

    async fn call(
        &self,
        desired: &InputValues,
        answer: &PlanAnswer,
        found: Option<&PriorObject>,
    ) -> Result<State, ApplyFailure> {
        let (config, handler) = (self.configured, &self.resource.handler);
        let current = found.map(|found| self.resource.with_write_only(&found.record.state, desired));
        let current = current.as_ref();
        let check = |context: CallContext| async move {
            let context = &context;
            handler.check(CheckRequest { config, desired, context }).await.map_err(ApplyFailure::from)
        };
        self.service.calls.repeated(self.session, handler.traits(), check).await?;
        let apply = |context: CallContext| async move {
            let request = TypeRequest {
                config,
                desired,
                planned: &answer.outputs,
                private: &answer.private,
                prior: current,
                observed: found.map(|found| &found.observed),
                bindings: &[],
                context: &context,
            };
            handler.apply(request).await
        };
        self.service.calls.repeated(self.session, handler.traits(), apply).await
    }

    /// Reads the object back (APPLY-8). If that fails, the provider's answer stands.
    async fn read_back(&self, state: State) -> State {
        let (handler, calls) = (&self.resource.handler, &self.service.calls);
        let inputs = state.inputs.as_ref().map(|inputs| inputs.effective.clone()).unwrap_or_default();
        if !handler.traits().read_back || handler.traits().in_records {
            return state;
        }
        let (window, began) = (handler.consistency_window(&inputs), calls.now());
        loop {
            match self.read(&inputs, &state).await {
                Ok(Observed::Present(seen)) if window.is_zero() || self.repeats(&state, &seen) => {
                    return State { inputs: state.inputs, ..*seen };
                }
                Ok(Observed::Unreadable) | Err(_) => return state,
                Ok(Observed::Present(_) | Observed::Absent) => {}
            }
            if calls.elapsed(began) >= window || !calls.waited(LOOK_INTERVAL).await {
                return state;
            }
        }
    }

    /// Whether outputs that mirror inputs equal the provider's answer.
    fn repeats(&self, answered: &State, seen: &State) -> bool {
        let outputs = &self.resource.handler.schema().outputs.attributes;
        let mirrors = |name: &str| outputs.get(name).is_some_and(|attribute| attribute.mirrors.is_some());
        let changes = self.resource.handler.drift(answered, seen);
        !changes.iter().any(|change| change.path.first_key().is_some_and(mirrors))
    }

    async fn read(&self, inputs: &Value, state: &State) -> Result<Observed, ApplyFailure> {
        let (config, handler) = (self.configured, &self.resource.handler);
        let read = |context: CallContext| async move {
            let request = ReadRequest { config, inputs, state, context: &context };
            handler.read(request).await.map_err(ApplyFailure::from)
        };
        self.service.calls.repeated(self.session, handler.traits(), read).await
    }

    /// A successful outcome, and the names of attributes that differ from the plan. Terraform rejects those, so the state keeps
    /// the planned values until the next refresh.
    fn success(&self, planned: &Value, state: State) -> (Outcome, Vec<SmolStr>) {
        let inputs = state.inputs.map(|inputs| self.surface().unwritten(&inputs));
        let state = State { inputs, ..state };
        let (kept, broken) = self.surface().as_planned(planned, &self.resource.shown(&state));
        let record = Record::new(state, None, self.name());
        (Outcome { state: kept, record: Some(record), messages: Messages::new() }, broken)
    }

    fn name(&self) -> SmolStr {
        self.session.context.address.name().into()
    }

    /// The outcome of a failure: the partial object if the provider knows one, else the prior state.
    fn partial_outcome(
        &self,
        partial: Option<Box<State>>,
        attempted: &InputValues,
        found: Option<&PriorObject>,
        messages: Messages,
    ) -> Outcome {
        let Some(partial) = partial else {
            let record = found.map(|found| found.record.clone());
            return Outcome { state: self.prior.clone(), record, messages };
        };
        let attempted = Some(self.surface().unwritten(attempted)).filter(|_| partial.inputs.is_none());
        let state = self.resource.shown(&partial);
        Outcome { state, record: Some(Record::new(*partial, attempted, self.name())), messages }
    }

    /// Deletes the object. *Not found* counts as success.
    async fn delete(&self, record: &Record) -> Outcome {
        let (config, handler) = (self.configured, &self.resource.handler);
        let state = &record.state;
        let inputs = &self.surface().known_inputs(record.inputs(), &state.outputs);
        let remove = |context: CallContext| async move {
            handler.delete(DeleteRequest { config, inputs, state, context: &context }).await
        };
        match self.service.calls.repeated(self.session, handler.traits(), remove).await {
            Ok(()) => self.gone(inputs, record).await,
            Err(failed) if failed.failure.class == FailureClass::NotFound => self.removed(),
            Err(ApplyFailure { failure, partial }) => {
                let messages = self.surface().failed("cannot delete", &failure);
                let left = partial.map_or_else(|| record.clone(), |left| record.with_state(*left));
                let state =
                    if left == *record { self.prior.clone() } else { self.resource.shown(&left.state) };
                Outcome { state, record: Some(left), messages }
            }
        }
    }

    fn removed(&self) -> Outcome {
        Outcome { state: Value::NULL, record: None, messages: Messages::new() }
    }

    /// Waits until a read finds the object gone, within the consistency window (DELETE-12).
    async fn gone(&self, inputs: &Value, record: &Record) -> Outcome {
        let (handler, calls) = (&self.resource.handler, &self.service.calls);
        let (window, began) = (handler.consistency_window(inputs), calls.now());
        let end = handler.delete_end(inputs);
        if window.is_zero() || end == DeleteEnd::Answered || handler.traits().in_records {
            return self.removed();
        }
        loop {
            match self.read(inputs, &record.state).await {
                Ok(Observed::Present(_)) => {}
                Ok(Observed::Absent | Observed::Unreadable) | Err(_) => return self.removed(),
            }
            if calls.elapsed(began) >= window || !calls.waited(LOOK_INTERVAL).await {
                break;
            }
        }
        match end {
            DeleteEnd::Gone => {
                let detail =
                    format!("The delete was accepted, and {} s later it is there.", window.as_secs());
                let messages =
                    diagnostics::error(format!("{} is still there", self.surface().type_name), detail);
                Outcome { state: self.prior.clone(), record: Some(record.clone()), messages }
            }
            DeleteEnd::GoneOrAnswered | DeleteEnd::Answered => self.removed(),
        }
    }
}

/// The interval between reads of an object.
const LOOK_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);

impl Surface {
    /// The state with all known planned values, and the names of attributes whose actual value differs.
    fn as_planned(&self, planned: &Value, actual: &Value) -> (Value, Vec<SmolStr>) {
        let differs = |name: &&str| {
            let (planned, actual) = (entry(planned, name), entry(actual, name));
            planned.is_wholly_known() && !planned.same(actual)
        };
        let broken: Vec<SmolStr> = self.schema.block.names().filter(differs).map(SmolStr::new).collect();
        let keep = |kept: Value, name: &SmolStr| kept.with_entry(name, entry(planned, name).clone());
        (broken.iter().fold(actual.clone(), keep), broken)
    }

    /// A warning about attributes that differ from the plan.
    fn broken(&self, names: &[SmolStr]) -> Option<trueup_terraform::protocol::Diagnostic> {
        let detail = format!(
            "{} came out otherwise than planned. The next refresh brings the actual value. This is a mistake in the \
             provider: report it there.",
            diagnostics::listed(names)
        );
        let summary = format!("{} did not keep its plan", self.type_name);
        (!names.is_empty()).then(|| diagnostics::warning(summary, detail))
    }
}
