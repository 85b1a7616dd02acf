//! Creating, changing and removing objects.

use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{ApplyFailure, ApplyRequest, DeleteRequest, IdempotencyToken, State};

use super::TerraformResource;
use super::plan::Handover;
use crate::answers::{diagnostics, failure, mistake, violated, warnings};
use crate::client::Client;
use crate::host::Ticket;
use crate::instance::{CAPABILITIES, Effect};
use crate::planning::{inconsistencies, settled};
use crate::protocol;

impl TerraformResource {
    pub(super) async fn change(&self, request: ApplyRequest<'_>) -> Result<State, ApplyFailure> {
        let instance = self.shared.configured(request.config)?;
        let config = self.schema.complete(&request.desired.effective);
        let seen = request.observed.filter(|_| request.prior.is_some()).or(request.prior);
        let prior = seen.map_or(Value::NULL, |state| self.schema.complete(&state.outputs));
        let handed_over = Handover::from_bytes(request.private)
            .filter(|it| it.creates == prior.is_null() && !request.planned.is_null());
        let (planned, handover) = match handed_over {
            Some(handover) => (self.schema.complete(request.planned), handover),
            // The plan at hand is for another beginning, such as an update of what is to be made anew.
            None => {
                let private = seen.map(|state| state.private.clone()).unwrap_or_default();
                let identity = self.encode_identity(seen.and_then(|state| state.identity.as_ref()));
                let fresh =
                    self.plan_change(&instance, request.context, &prior, &config, private, identity).await?;
                let written = self.schema.complete(&request.desired.written);
                let fresh = fresh.keeping_ignored(&written, &config, &prior);
                (fresh.state, fresh.handover)
            }
        };
        if let Some(seen) = seen.filter(|_| planned.same(&prior)) {
            // Nothing is to be done to the object: only now is it known to be what the program wants.
            let outputs = self.schema.marked(&prior, [&request.desired.effective]);
            return Ok(self.state(
                Some(request.desired),
                outputs,
                seen.private.clone(),
                seen.identity.clone(),
            ));
        }
        let message = protocol::ApplyRequest {
            type_name: self.type_name.to_string(),
            prior_state: self.encode("the record", &prior)?,
            planned_state: self.encode("the plan", &planned)?,
            config: self.encode("the configuration", &config)?,
            planned_private: handover.private.into(),
            provider_meta: self.shared.meta(request.context).await?,
            planned_identity: identity_message(handover.identity),
        };
        // Only the answer to a create is ever asked for again, by the token of its intent.
        let token = request.context.token.filter(|_| prior.is_null()).unwrap_or_else(IdempotencyToken::fresh);
        let cancellation = &request.context.cancellation;
        let answer = instance.change("change a resource", cancellation, Ticket(token), message).await?;
        self.conclude(&request, &planned, seen, &answer)
    }

    /// What the answer to a change comes to. Whatever went wrong, an object that is told of is kept.
    fn conclude(
        &self,
        request: &ApplyRequest<'_>,
        planned: &Value,
        seen: Option<&State>,
        answer: &protocol::ApplyResponse,
    ) -> Result<State, ApplyFailure> {
        let provider = self.provider();
        let told = diagnostics(&answer.diagnostics);
        let failed = told.has_errors();
        let answered = match self.decode("its answer", answer.new_state.as_ref()) {
            Ok(answered) => answered,
            Err(unreadable) if failed => {
                self.shared.log_detail(&self.type_name, &unreadable.message);
                Value::NULL
            }
            // Something was done, and nobody can read what.
            Err(unreadable) => {
                return Err(Failure { class: FailureClass::Indeterminate, ..unreadable }.into());
            }
        };
        let (outputs, unknown) = settled(&answered);
        let state = (!outputs.is_null()).then(|| {
            let prior = seen.map(|state| &state.outputs);
            let sources = [&request.desired.effective].into_iter().chain(prior);
            let outputs = self.schema.marked(&outputs, sources);
            let identity = self.decode_identity(answer.new_identity.as_ref());
            let identity = identity.or_else(|| seen.and_then(|state| state.identity.clone()));
            self.state(Some(request.desired), outputs, answer.private.to_vec(), identity)
        });
        let unfinished = |failure: Failure| {
            // An object that was not brought to the new inputs still has the old ones.
            let partial = state.clone().map(|state| match request.prior {
                Some(prior) => State { inputs: prior.inputs.clone(), ..state },
                None => state,
            });
            ApplyFailure { failure, partial: partial.map(Box::new) }
        };
        if failed {
            return Err(unfinished(failure(told, FailureClass::Fatal)));
        }
        let Some(done) = state.clone() else {
            return Err(mistake(provider, "it says that all went well, and there is no object").into());
        };
        if !unknown.is_empty() {
            let paths: Vec<String> = unknown.iter().map(|path| format!("`{path}`")).collect();
            let what = format!("after apply it still does not know {}", paths.join(", "));
            return Err(unfinished(mistake(provider, &what)));
        }
        let found =
            inconsistencies(&self.schema.marked(planned, [&request.desired.effective]), &done.outputs);
        if !found.is_empty() {
            let failure = violated(provider, "it did not do what it planned", &found);
            if !answer.legacy_type_system {
                return Err(unfinished(failure));
            }
            self.shared.log_detail(&self.type_name, &failure.message);
        }
        request.context.report_warnings(told);
        Ok(done)
    }

    pub(super) async fn remove(&self, request: DeleteRequest<'_>) -> Result<(), ApplyFailure> {
        let provider = self.provider();
        let instance = self.shared.configured(request.config)?;
        let prior = self.schema.complete(&request.state.outputs);
        let nothing = self.encode("nothing", &Value::NULL)?;
        let prior_state = self.encode("the record", &prior)?;
        let mut private = request.state.private.clone();
        let meta = self.shared.meta(request.context).await?;
        if self.plans_deletions {
            let message = protocol::PlanRequest {
                type_name: self.type_name.to_string(),
                prior_state: prior_state.clone(),
                proposed_new_state: nothing.clone(),
                config: nothing.clone(),
                prior_private: private.clone().into(),
                provider_meta: meta.clone(),
                client_capabilities: Some(CAPABILITIES),
                prior_identity: self.encode_identity(request.state.identity.as_ref()),
            };
            let answer = instance.call("plan a deletion", Effect::Looks, None, message, Client::plan).await?;
            request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
            private = answer.planned_private.to_vec();
        }
        let message = protocol::ApplyRequest {
            type_name: self.type_name.to_string(),
            prior_state,
            planned_state: nothing.clone(),
            config: nothing,
            planned_private: private.into(),
            provider_meta: meta,
            planned_identity: self.encode_identity(request.state.identity.as_ref()),
        };
        let ticket = Ticket(IdempotencyToken::fresh());
        let cancellation = &request.context.cancellation;
        let answer = instance.change("delete a resource", cancellation, ticket, message).await?;
        let told = diagnostics(&answer.diagnostics);
        let left = self.decode("its answer", answer.new_state.as_ref()).unwrap_or_default();
        let left = (!left.is_null()).then(|| {
            let outputs = self.schema.marked(&settled(&left).0, [&request.state.outputs]);
            let private = answer.private.to_vec();
            Box::new(State { outputs, private, ..request.state.clone() })
        });
        match (told.has_errors(), left) {
            (true, partial) => Err(ApplyFailure { failure: failure(told, FailureClass::Fatal), partial }),
            (false, None) => {
                request.context.report_warnings(told);
                Ok(())
            }
            (false, partial) => {
                let failure = mistake(provider, "it says that the object is gone, and tells of what is left");
                Err(ApplyFailure { failure, partial })
            }
        }
    }
}

fn identity_message(packed: Vec<u8>) -> Option<protocol::IdentityData> {
    let data = protocol::DynamicValue { msgpack: packed.into(), ..protocol::DynamicValue::default() };
    (!data.msgpack.is_empty()).then_some(protocol::IdentityData { data: Some(data) })
}
