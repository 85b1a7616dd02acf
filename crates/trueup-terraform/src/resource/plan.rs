//! What becomes of a resource: proposed by us, planned by the provider, checked by us.

use trueup_core::schema::Block;
use trueup_core::{Change, Diagnostics, Failure, FailureClass, Kind, Path, Step, Type, Value, diff};
use trueup_provider::{CallContext, PlanAnswer, PlanRequest, PrivateBytes, Verdict, with_ignored};

use super::{TerraformResource, refused};
use crate::answers::{mistake, path, refuse_deferred, violated, warnings};
use crate::client::Client;
use crate::instance::{CAPABILITIES, Effect, Instance};
use crate::planning::{proposed, violations};
use crate::protocol;

/// A state that the provider plans.
pub(super) struct Planned {
    pub(super) state: Value,
    /// Whether the provider has the old type system.
    is_legacy: bool,
    /// The changes that only a new object can bring.
    replacing: Vec<Path>,
    pub(super) handover: Handover,
    warnings: Diagnostics,
}

/// What apply needs of a plan beside the state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Handover {
    /// Whether it is of an object that does not exist yet.
    pub(super) creates: bool,
    /// What the provider wants back.
    pub(super) private: Vec<u8>,
    /// The identity the object will have, as the provider encoded it.
    pub(super) identity: Vec<u8>,
}

impl Handover {
    fn to_bytes(&self) -> PrivateBytes {
        let packed = rmpv::Value::Array(vec![
            self.creates.into(),
            rmpv::Value::Binary(self.private.clone()),
            rmpv::Value::Binary(self.identity.clone()),
        ]);
        let mut bytes = Vec::new();
        // Writing into memory cannot fail.
        let _ = rmpv::encode::write_value(&mut bytes, &packed);
        PrivateBytes(bytes)
    }

    /// What [`to_bytes`](Self::to_bytes) wrote; `None` for anything else.
    pub(super) fn from_bytes(bytes: &PrivateBytes) -> Option<Self> {
        let packed = rmpv::decode::read_value(&mut bytes.0.as_slice()).ok()?;
        let [creates, private, identity] = packed.as_array()?.as_slice() else { return None };
        Some(Handover {
            creates: creates.as_bool()?,
            private: private.as_slice()?.to_vec(),
            identity: identity.as_slice()?.to_vec(),
        })
    }
}

impl TerraformResource {
    pub(super) async fn decide(&self, request: PlanRequest<'_>) -> Result<PlanAnswer, Failure> {
        let config = self.schema.complete(&request.desired.effective);
        let seen = request.observed.or(request.prior);
        let prior = seen.map_or(Value::NULL, |state| self.schema.complete(&state.outputs));
        let drift = match (request.prior, request.observed) {
            (Some(recorded), Some(seen)) => trueup_provider::ResourceHandler::drift(self, recorded, seen),
            _ => Vec::new(),
        };
        let Some(configured) = request.config else { return Ok(self.guess(&prior, &config, drift)) };
        let instance = self.shared.configured(configured)?;
        let written = self.schema.complete(&request.desired.written);
        let mut told = refused(self.judge(&instance, &written).await?)?;
        let private = request.observed.map_or(request.private.0.as_slice(), |seen| &seen.private);
        let identity = self.encode_identity(seen.and_then(|state| state.identity.as_ref()));
        let context = request.context;
        let planned =
            self.plan_change(&instance, context, &prior, &config, private.to_vec(), identity).await?;
        let planned = planned.keeping_ignored(&written, &config, &prior);
        told.extend(planned.warnings.clone());
        let answer = |verdict, planned: &Planned, changes: Vec<Change>, replace_paths| PlanAnswer {
            verdict,
            outputs: self.schema.marked(&planned.state, [&request.desired.effective]),
            changes,
            drift: drift.clone(),
            replace_paths,
            delete_first: self.traits.delete_first,
            private: planned.handover.to_bytes(),
            diagnostics: told.clone(),
        };
        if prior.is_null() {
            return Ok(answer(Verdict::Create, &planned, Vec::new(), Vec::new()));
        }
        let marked = self.schema.marked(&prior, [&request.desired.effective]);
        let after = self.schema.marked(&planned.state, [&request.desired.effective]);
        let changes = diff(&marked, &after);
        let replacing = planned.replacing_changes(&self.schema.block, &prior);
        if replacing.is_empty() {
            return Ok(answer(in_place(&changes, &config), &planned, changes, Vec::new()));
        }
        // On real values nothing is left to decide: what the provider will choose anew counts as another value.
        let certain =
            config.is_wholly_known() || replacing.iter().any(|path| differs_for_certain(&changes, path));
        let verdict = if certain { Verdict::Replace } else { Verdict::MayReplace };
        // The new object is planned as such; what the provider noted of the old one goes along.
        let private = planned.handover.private.clone();
        let fresh = self.plan_change(&instance, context, &Value::NULL, &config, private, None).await?;
        Ok(answer(verdict, &fresh, changes, replacing))
    }

    /// Asks the provider for its plan and holds it to the rules.
    pub(super) async fn plan_change(
        &self,
        instance: &Instance,
        context: &CallContext,
        prior: &Value,
        config: &Value,
        private: Vec<u8>,
        identity: Option<protocol::IdentityData>,
    ) -> Result<Planned, Failure> {
        let provider = self.provider();
        let block = &self.schema.block;
        let proposal = proposed(block, prior, config);
        let message = protocol::PlanRequest {
            type_name: self.type_name.to_string(),
            prior_state: self.encode("the record", prior)?,
            proposed_new_state: self.encode("the configuration", &proposal)?,
            config: self.encode("the configuration", config)?,
            prior_private: private.into(),
            provider_meta: self.shared.meta(context).await?,
            client_capabilities: Some(CAPABILITIES),
            prior_identity: identity,
        };
        let answer = instance.call("plan a resource", Effect::Looks, None, message, Client::plan).await?;
        let warnings = warnings(&answer.diagnostics, FailureClass::Fatal)?;
        refuse_deferred(provider, answer.deferred.as_ref())?;
        let state = self.decode("its plan", answer.planned_state.as_ref())?;
        if state.is_null() {
            return Err(mistake(provider, "it plans nothing for a resource that is to be there"));
        }
        let found = violations(block, prior, config, &state);
        if !found.is_empty() {
            let failure = violated(provider, "its plan does not keep to the program", &found);
            if !answer.legacy_type_system {
                return Err(failure);
            }
            // The old type system of providers cannot do better, and Terraform lets it pass too.
            self.shared.log_detail(&self.type_name, &failure.message);
        }
        let identity = answer.planned_identity.and_then(|identity| identity.data);
        Ok(Planned {
            state,
            is_legacy: answer.legacy_type_system,
            replacing: answer.requires_replace.iter().map(path).collect(),
            handover: Handover {
                creates: prior.is_null(),
                private: answer.planned_private.to_vec(),
                identity: identity.map(|data| data.msgpack.to_vec()).unwrap_or_default(),
            },
            warnings,
        })
    }

    /// What to expect while the provider's configuration is not known, and it can plan nothing.
    fn guess(&self, prior: &Value, config: &Value, drift: Vec<Change>) -> PlanAnswer {
        let block = &self.schema.block;
        let config = &self.schema.complete(&block.without(config, |attribute| attribute.write_only));
        let proposal = proposed(block, prior, config);
        let verdict = match (prior.is_null(), proposal.same(prior)) {
            (true, _) => Verdict::Create,
            (false, true) => Verdict::MayUpdate,
            (false, false) => Verdict::MayReplace,
        };
        let changes = if prior.is_null() { Vec::new() } else { diff(prior, &proposal) };
        let outputs = match verdict {
            Verdict::MayUpdate => proposal,
            _ => with_unknown_computed(block, &proposed(block, &Value::NULL, config)),
        };
        PlanAnswer {
            verdict,
            outputs: self.schema.marked(&outputs, [config]),
            changes,
            drift,
            replace_paths: Vec::new(),
            delete_first: self.traits.delete_first,
            private: PrivateBytes::default(),
            diagnostics: Diagnostics::new(),
        }
    }
}

impl Planned {
    /// The same, but with what the object has wherever the program's changes are ignored: providers with the old type system
    /// plan something there all the same.
    pub(super) fn keeping_ignored(mut self, written: &Value, config: &Value, prior: &Value) -> Self {
        if self.is_legacy && !prior.is_null() {
            let mut ignored: Vec<Path> =
                diff(written, config).into_iter().map(|change| change.path).collect();
            // What is not known yet differs from itself, and is not what the object has.
            let at = |value: &Value, path: &Path| value.at(path).unwrap_or_default();
            ignored
                .retain(|path| at(config, path).is_wholly_known() && at(config, path).same(&at(prior, path)));
            self.state = with_ignored(&self.state, prior, &ignored);
        }
        self
    }

    /// The positions that force a replacement: those the provider names, where something changes or must never be kept.
    fn replacing_changes(&self, block: &Block, prior: &Value) -> Vec<Path> {
        let write_only = block.paths_where(|attribute| attribute.write_only);
        let mut paths = self.replacing.clone();
        paths.retain(|path| {
            // Elements of a set have no place: then the set as a whole counts.
            let reachable = reachable(path, prior, &self.state);
            let at = |value: &Value| value.at(&reachable).unwrap_or_default();
            write_only.iter().any(|own| own.covers(path)) || !at(prior).same(&at(&self.state))
        });
        paths.sort();
        paths.dedup();
        paths
    }
}

/// The path as far as both values can be followed along it.
fn reachable(path: &Path, prior: &Value, planned: &Value) -> Path {
    let mut reached = Path::ROOT;
    for step in path.steps() {
        let longer = reached.join(step.clone());
        let ends = |value: &Value| {
            value.at(&reached).is_none_or(|inner| matches!(inner.kind(), Kind::Set(_)) || inner.is_null())
        };
        if *step == Step::Any || ends(prior) || ends(planned) {
            break;
        }
        reached = longer;
    }
    reached
}

fn differs_for_certain(changes: &[Change], path: &Path) -> bool {
    changes.iter().any(|change| change.certain && change.path.overlaps(path))
}

/// Whether an update is needed, or only may be once the program's unknown values are known.
fn in_place(changes: &[Change], config: &Value) -> Verdict {
    match (changes.is_empty(), changes.iter().any(|change| change.certain) || config.is_wholly_known()) {
        (true, _) => Verdict::NoOp,
        (false, true) => Verdict::Update,
        (false, false) => Verdict::MayUpdate,
    }
}

/// What the provider decides is unknown until it has.
fn with_unknown_computed(block: &Block, value: &Value) -> Value {
    let Some(entries) = value.as_entries() else { return value.clone() };
    Value::object(
        entries
            .iter()
            .map(|(name, item)| {
                let computed = block.attributes.get(name).filter(|attribute| {
                    use trueup_core::schema::Presence;
                    item.is_null()
                        && matches!(attribute.presence, Presence::Computed | Presence::OptionalComputed)
                });
                let ty: Option<Type> = computed.map(|attribute| attribute.shape.implied_type());
                (name.clone(), ty.map_or_else(|| item.clone(), Value::unknown))
            })
            .collect::<Vec<_>>(),
    )
}
