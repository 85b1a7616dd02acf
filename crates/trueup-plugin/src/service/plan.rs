//! Planning a change.
//!
//! Terraform proposes a state; ours is made of the configuration alone, because types of ours plan from inputs. It is what
//! the program writes, defaults, and planned outputs. Where nothing is to be done the plan is the state there is.

use trueup_core::{Diagnostic, Path, Value};
use trueup_provider::{
    ApplyFailure, CallContext, Configured, InputValues, PlanAnswer, PlanRequest as Asked, PrivateBytes,
    State, Verdict,
};
use trueup_terraform::protocol::{PlanRequest, PlanResponse};
use trueup_terraform::violations;

use super::{Resource, Service, decoded, encoded};
use crate::calls::Session;
use crate::record::{Record, fresh_name};
use crate::surface::{Surface, entry};
use crate::told::{self, Told};

/// An object as planning finds it.
pub(super) struct Found {
    pub(super) record: Record,
    /// Its outputs as they were read last.
    pub(super) observed: State,
}

impl Service {
    pub(crate) async fn plan(&self, request: PlanRequest) -> PlanResponse {
        match self.planned(&request).await {
            Ok(response) => response,
            Err(diagnostics) => PlanResponse { diagnostics, ..PlanResponse::default() },
        }
    }

    async fn planned(&self, request: &PlanRequest) -> Result<PlanResponse, Told> {
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
            return Err(told::diagnostics(&wrong, &surface.schema.block));
        }
        let found = self.found(resource, &prior, &request.prior_private).await?;
        let name = found.as_ref().map_or_else(fresh_name, |found| found.record.name.clone());
        let session = self.session(&surface.type_name, &name)?;
        let configured = self.configuration();
        let answer = self.asked(resource, &session, configured.as_ref(), &desired, found.as_ref()).await?;
        let planned = resource.planned_state(&config, &prior, &desired, &answer, found.as_ref());
        surface.checked(&prior, &config, &planned)?;
        let replacing = surface.replacing(&answer, &prior, &planned)?;
        let mut diagnostics = told::diagnostics(&answer.diagnostics, &surface.schema.block);
        diagnostics.extend(surface.warned(&session.warnings()));
        Ok(PlanResponse {
            planned_state: encoded(&surface.schema, &planned)?,
            requires_replace: replacing
                .iter()
                .filter_map(|it| told::path(&surface.schema.block, it))
                .collect(),
            planned_private: request.prior_private.clone(),
            diagnostics,
            ..PlanResponse::default()
        })
    }

    /// The object that is there, if there is one.
    pub(super) async fn found(
        &self,
        resource: &Resource,
        prior: &Value,
        private: &[u8],
    ) -> Result<Option<Found>, Told> {
        if prior.is_null() {
            return Ok(None);
        }
        let session = self.session(&resource.surface.type_name, &fresh_name())?;
        let record = resource.record(&session, prior, private).await?;
        let outputs = resource.surface.observed(prior, &resource.shown(&record.state), &record.state.outputs);
        let observed = State { outputs, ..record.state.clone() };
        Ok(Some(Found { record, observed }))
    }

    /// What the type plans.
    pub(super) async fn asked(
        &self,
        resource: &Resource,
        session: &Session,
        config: Option<&Configured>,
        desired: &InputValues,
        found: Option<&Found>,
    ) -> Result<PlanAnswer, Told> {
        let lent = found.map(|found| resource.lent(&found.record.state, desired));
        let attempted = found.and_then(|found| found.record.attempted.as_ref());
        let private = found.map(|found| PrivateBytes(found.record.state.private.clone())).unwrap_or_default();
        let (prior, private) = (lent.as_ref(), &private);
        let plan = |context: CallContext| async move {
            let request = Asked {
                config,
                desired,
                prior,
                attempted,
                observed: found.map(|found| &found.observed),
                bindings: &[],
                prior_bindings: &[],
                private,
                context: &context,
            };
            resource.handler.plan(request).await.map_err(ApplyFailure::from)
        };
        let answer = self.calls.repeated(session, resource.handler.traits(), plan).await;
        answer.map_err(|failed| resource.surface.failed("cannot plan", &failed.failure))
    }
}

impl Resource {
    /// A recorded object with the write-only values of now among its inputs.
    pub(super) fn lent(&self, state: &State, desired: &InputValues) -> State {
        let inputs = state.inputs.as_ref().map(|inputs| self.surface.lent(inputs, desired));
        State { inputs, ..state.clone() }
    }

    fn planned_state(
        &self,
        config: &Value,
        prior: &Value,
        desired: &InputValues,
        answer: &PlanAnswer,
        found: Option<&Found>,
    ) -> Value {
        let surface = &self.surface;
        let recorded = found.and_then(|found| found.record.state.inputs.as_ref());
        let removed = surface.removed(recorded.map(|it| &it.effective), &desired.effective);
        let expected = surface.expected(desired, &answer.outputs, &removed);
        match answer.verdict {
            Verdict::NoOp => surface.kept(prior, config, &expected),
            // What is to be done must show, or Terraform does nothing.
            Verdict::Update | Verdict::Replace if expected.same(prior) => {
                surface.unsettled(&expected, config)
            }
            _ => expected,
        }
    }
}

impl Surface {
    /// The state there is, with what is expected instead wherever Terraform allows no other.
    fn kept(&self, prior: &Value, config: &Value, expected: &Value) -> Value {
        let wrong = violations(&self.schema.block, prior, config, prior);
        wrong
            .iter()
            .filter_map(|violation| violation.path.first_key())
            .fold(prior.clone(), |kept, name| kept.with_entry(name, entry(expected, name).clone()))
    }

    /// Refuses a plan that Terraform would refuse, in words that name the type.
    fn checked(&self, prior: &Value, config: &Value, planned: &Value) -> Result<(), Told> {
        let wrong = violations(&self.schema.block, prior, config, planned);
        let told = wrong.iter().map(|it| format!("`{}`: {}.", it.path, it.message));
        match wrong.is_empty() {
            true => Ok(()),
            false => {
                let detail = told.collect::<Vec<_>>().join("\n");
                Err(told::error(format!("{} plans what it must not", self.type_name), detail))
            }
        }
    }

    /// The positions whose change takes a new object. Terraform counts those that differ; where none does, an output that
    /// the new object brings stands for them.
    fn replacing(&self, answer: &PlanAnswer, prior: &Value, planned: &Value) -> Result<Vec<Path>, Told> {
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
            paths = names.filter(|path| differs(path)).take(1).collect();
        }
        if paths.is_empty() && answer.verdict == Verdict::Replace {
            let detail = "Terraform sees no difference between the object and the one that is to replace it. Replace it with \
                          -replace.";
            return Err(told::error(format!("{} must be replaced", self.type_name), detail));
        }
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    /// Warnings of a call that went well.
    pub(super) fn warned(&self, warnings: &[Diagnostic]) -> Told {
        warnings.iter().map(|warning| told::of_diagnostic(warning, &self.schema.block)).collect()
    }
}

/// The path as far as both values can be followed along it.
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
