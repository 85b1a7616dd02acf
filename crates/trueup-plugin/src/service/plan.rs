//! Planning.
//!
//! Native types plan from inputs, so the planned state derives from the configuration: written values, defaults and planned
//! outputs. Terraform's proposed state is ignored. A no-op plans the prior state.

use trueup_core::{Diagnostic, Path, Value};
use trueup_provider::{
    ApplyFailure, CallContext, Configured, InputValues, PlanAnswer, PlanRequest as TypeRequest, PrivateBytes,
    State, Verdict,
};
use trueup_terraform::protocol::{PlanRequest, PlanResponse};
use trueup_terraform::violations;

use super::{Resource, Service, decoded, encoded};
use crate::calls::{Session, guarded};
use crate::diagnostics::{self, Messages};
use crate::record::{Record, fresh_name};
use crate::surface::{Surface, entry};

/// An existing object.
pub(super) struct PriorObject {
    pub(super) record: Record,
    /// The object as last refreshed.
    pub(super) observed: State,
}

impl Service {
    pub(crate) async fn plan(&self, request: PlanRequest) -> PlanResponse {
        match guarded(self.planned(&request)).await {
            Ok(response) => response,
            Err(diagnostics) => PlanResponse { diagnostics, ..PlanResponse::default() },
        }
    }

    async fn planned(&self, request: &PlanRequest) -> Result<PlanResponse, Messages> {
        let resource = self.resource(&request.type_name)?;
        let surface = &resource.surface;
        let config = decoded(&surface.schema, "configuration", request.config.as_ref())?;
        let prior = decoded(&surface.schema, "state", request.prior_state.as_ref())?;
        if config.is_null() {
            return Ok(PlanResponse {
                planned_state: encoded(&surface.schema, &Value::NULL)?,
                planned_private: request.prior_private.clone(),
                ..PlanResponse::default()
            });
        }
        let (desired, wrong) = surface.desired(&config);
        if wrong.has_errors() {
            return Err(diagnostics::diagnostics(&wrong, &surface.schema.block));
        }
        let found = self.found(resource, &prior, &request.prior_private).await?;
        let name = found.as_ref().map_or_else(fresh_name, |found| found.record.name.clone());
        let session = self.session(&surface.type_name, &name)?;
        let configured = self.configuration();
        let answer =
            self.type_plan(resource, &session, configured.as_ref(), &desired, found.as_ref()).await?;
        let planned = resource.planned_state(&config, &prior, &desired, &answer, found.as_ref());
        surface.checked(&prior, &config, &planned)?;
        let replacing = surface.replacing(&answer, &prior, &planned)?;
        let mut diagnostics = diagnostics::diagnostics(&answer.diagnostics, &surface.schema.block);
        diagnostics.extend(surface.warned(&session.warnings()));
        Ok(PlanResponse {
            planned_state: encoded(&surface.schema, &planned)?,
            requires_replace: replacing
                .iter()
                .filter_map(|it| diagnostics::path(&surface.schema.block, it))
                .collect(),
            planned_private: request.prior_private.clone(),
            diagnostics,
            ..PlanResponse::default()
        })
    }

    /// The existing object, unless the state is null.
    pub(super) async fn found(
        &self,
        resource: &Resource,
        prior: &Value,
        private: &[u8],
    ) -> Result<Option<PriorObject>, Messages> {
        if prior.is_null() {
            return Ok(None);
        }
        let session = self.session(&resource.surface.type_name, &fresh_name())?;
        let record = resource.record(&session, prior, private).await?;
        let outputs = resource.surface.observed(prior, &resource.shown(&record.state), &record.state.outputs);
        let observed = State { outputs, ..record.state.clone() };
        Ok(Some(PriorObject { record, observed }))
    }

    /// Asks the type for its plan.
    pub(super) async fn type_plan(
        &self,
        resource: &Resource,
        session: &Session,
        config: Option<&Configured>,
        desired: &InputValues,
        found: Option<&PriorObject>,
    ) -> Result<PlanAnswer, Messages> {
        let current = found.map(|found| resource.with_write_only(&found.record.state, desired));
        let attempted = found.and_then(|found| found.record.attempted.as_ref());
        let private = found.map(|found| PrivateBytes(found.record.state.private.clone())).unwrap_or_default();
        let (prior, private) = (current.as_ref(), &private);
        let plan = |context: CallContext| async move {
            let request = TypeRequest {
                config,
                desired,
                prior,
                attempted,
                observed: found.map(|found| &found.observed),
                bindings: &[],
                prior_bindings: &[],
                private,
                // Terraform plans a create again when it applies it: the name of the first plan is not the final one.
                replaces: found.is_none(),
                context: &context,
            };
            resource.handler.plan(request).await.map_err(ApplyFailure::from)
        };
        let answer = self.calls.repeated(session, resource.handler.traits(), plan).await;
        answer.map_err(|failed| resource.surface.failed("cannot plan", &failed.failure))
    }
}

impl Resource {
    /// A recorded object whose inputs include the current write-only values.
    pub(super) fn with_write_only(&self, state: &State, desired: &InputValues) -> State {
        let inputs = state.inputs.as_ref().map(|inputs| self.surface.with_write_only(inputs, desired));
        State { inputs, ..state.clone() }
    }

    fn planned_state(
        &self,
        config: &Value,
        prior: &Value,
        desired: &InputValues,
        answer: &PlanAnswer,
        found: Option<&PriorObject>,
    ) -> Value {
        let surface = &self.surface;
        let recorded = found.and_then(|found| found.record.state.inputs.as_ref());
        let removed = surface.removed(recorded.map(|it| &it.effective), &desired.effective);
        let expected = surface.expected(desired, &answer.outputs, &removed);
        match answer.verdict {
            Verdict::NoOp => surface.kept(prior, config, &expected),
            // Terraform applies nothing without a visible difference.
            Verdict::Update | Verdict::Replace if expected.same(prior) => {
                surface.unsettled(&expected, config)
            }
            _ => expected,
        }
    }
}

impl Surface {
    /// The prior state, with the expected value wherever Terraform would reject the prior one.
    fn kept(&self, prior: &Value, config: &Value, expected: &Value) -> Value {
        let wrong = violations(&self.schema.block, prior, config, prior);
        wrong
            .iter()
            .filter_map(|violation| violation.path.first_key())
            .fold(prior.clone(), |kept, name| kept.with_entry(name, entry(expected, name).clone()))
    }

    /// Rejects an invalid plan before Terraform does, naming the type.
    fn checked(&self, prior: &Value, config: &Value, planned: &Value) -> Result<(), Messages> {
        let wrong = violations(&self.schema.block, prior, config, planned);
        let messages = wrong.iter().map(|it| format!("`{}`: {}.", it.path, it.message));
        match wrong.is_empty() {
            true => Ok(()),
            false => {
                let detail = messages.collect::<Vec<_>>().join("\n");
                Err(diagnostics::error(format!("{} plans what it must not", self.type_name), detail))
            }
        }
    }

    /// The paths that force a replacement. Terraform ignores paths whose values don't differ; if none differs, an output that
    /// will change stands in.
    fn replacing(&self, answer: &PlanAnswer, prior: &Value, planned: &Value) -> Result<Vec<Path>, Messages> {
        if answer.verdict < Verdict::MayReplace {
            return Ok(Vec::new());
        }
        let differs = |path: &Path| {
            let at = |value: &Value| value.at(path).unwrap_or_default();
            !at(prior).same(&at(planned)) || at(planned).is_unknown()
        };
        let mut paths: Vec<Path> =
            answer.replace_paths.iter().map(|path| reachable(path, prior, planned)).collect();
        paths.retain(|path| !path.is_root() && differs(path));
        if paths.is_empty() {
            let names = self.schema.block.attributes.keys().cloned().map(Path::attribute);
            paths = names.filter(differs).collect();
            // What the new object brings explains more than what happens to change along with it.
            paths.sort_by_key(|path| !planned.at(path).is_some_and(|value| value.is_unknown()));
            paths.truncate(1);
        }
        if paths.is_empty() && answer.verdict == Verdict::Replace {
            let detail = "Terraform sees no difference between the object and the one that is to replace it. Replace it with \
                          -replace.";
            return Err(diagnostics::error(format!("{} must be replaced", self.type_name), detail));
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Warnings of a successful call.
    pub(super) fn warned(&self, warnings: &[Diagnostic]) -> Messages {
        warnings.iter().map(|warning| diagnostics::of_diagnostic(warning, &self.schema.block)).collect()
    }
}

/// The longest prefix of a path that exists in both values.
fn reachable(path: &Path, prior: &Value, planned: &Value) -> Path {
    let mut reached = Path::ROOT;
    for step in path.steps() {
        let longer = reached.join(step.clone());
        if prior.at(&longer).is_none() || planned.at(&longer).is_none() {
            break;
        }
        reached = longer;
    }
    reached
}
