//! Objects that are recorded elsewhere or otherwise: by an older schema, under another type, or not at all.

use prost::Message;
use trueup_core::{Failure, FailureClass, Value};
use trueup_provider::{
    CallContext, Configured, ImportRequest, Imported, InputValues, LookupRequest, MigrateRequest, Ownership,
    Sighting, State,
};

use super::{TerraformResource, import_id_of};
use crate::answers::{mistake, refuse_deferred, unsendable, warnings};
use crate::client::Client;
use crate::host::{KeptAnswers, Outcome, Ticket};
use crate::instance::{CAPABILITIES, Effect};
use crate::planning::settled;
use crate::protocol;

/// What an object is imported by.
pub(super) enum ImportKey {
    Identity(Value),
    Id(String),
}

impl TerraformResource {
    /// Brings a record to the current schema. Providers are asked even if the version is the same: they put right what
    /// older versions of theirs recorded differently.
    pub(super) async fn upgrade(&self, request: MigrateRequest<'_>) -> Result<State, Failure> {
        if let Some(from_type) = request.from_type {
            return self.take_over(from_type, &request).await;
        }
        let provider = self.provider();
        let (recorded, current) = (request.state.schema_version, self.schema.version);
        if recorded > current {
            let message = format!(
                "the record has schema version {recorded}, this version of the provider {provider} knows only \
                 {current}"
            );
            return Err(Failure::new(FailureClass::Fatal, message)
                .hint("it was written by a newer version of the provider: use that one or a later one"));
        }
        let message = protocol::UpgradeStateRequest {
            type_name: self.type_name.to_string(),
            version: i64::try_from(recorded).unwrap_or(i64::MAX),
            raw_state: Some(self.raw(&request.state.outputs)?),
        };
        let instance = self.shared.instance_of(request.config).await?;
        let answer =
            instance.call("upgrade a record", Effect::Looks, None, message, Client::upgrade_state).await?;
        request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
        let upgraded = self.decode("an upgraded record", answer.upgraded_state.as_ref())?;
        self.checked(&upgraded)?;
        if recorded == current && upgraded.same(&self.schema.complete(&request.state.outputs)) {
            return Ok(request.state);
        }
        Ok(State {
            outputs: self.schema.marked(&upgraded, [&request.state.outputs]),
            inputs: request.state.inputs.as_ref().map(|inputs| self.fitting(inputs)),
            schema_version: current,
            ..request.state
        })
    }

    async fn take_over(&self, from_type: &str, request: &MigrateRequest<'_>) -> Result<State, Failure> {
        let State { outputs, private, schema_version, .. } = &request.state;
        let message = protocol::MoveRequest {
            source_provider_address: self.address_of(from_type),
            source_type_name: from_type.to_owned(),
            source_schema_version: i64::try_from(*schema_version).unwrap_or(i64::MAX),
            source_state: Some(protocol::RawState {
                json: outputs_json(outputs).into(),
                ..protocol::RawState::default()
            }),
            target_type_name: self.type_name.to_string(),
            source_private: private.clone().into(),
            source_identity: None,
            source_identity_schema_version: 0,
        };
        let instance = self.shared.instance_of(request.config).await?;
        let answer =
            instance.call("take over a record", Effect::Looks, None, message, Client::move_state).await?;
        request.context.report_warnings(warnings(&answer.diagnostics, FailureClass::Invalid)?);
        let moved = self.decode("a record that was taken over", answer.target_state.as_ref())?;
        self.checked(&moved)?;
        let identity = self.decode_identity(answer.target_identity.as_ref());
        let outputs = self.schema.marked(&moved, [outputs]);
        let inputs = request.state.inputs.as_ref().map(|inputs| self.fitting(inputs));
        Ok(self.state(inputs.as_ref(), outputs, answer.target_private, identity))
    }

    /// The address of the provider that a type belongs to, as far as its name tells.
    fn address_of(&self, type_name: &str) -> String {
        let own = self.provider();
        let prefix = type_name.split('_').next().unwrap_or(type_name);
        match type_name.strip_prefix(own) {
            Some(rest) if rest.is_empty() || rest.starts_with('_') => self.shared.options.address.clone(),
            _ if prefix == "terraform" => "terraform.io/builtin/terraform".to_owned(),
            _ => format!("registry.terraform.io/hashicorp/{prefix}"),
        }
    }

    fn raw(&self, outputs: &Value) -> Result<protocol::RawState, Failure> {
        let json = self.schema.encode_json(outputs);
        let json = json.map_err(|error| unsendable(self.provider(), "the record", &error))?;
        Ok(protocol::RawState { json: json.into(), ..protocol::RawState::default() })
    }

    fn checked(&self, upgraded: &Value) -> Result<(), Failure> {
        if upgraded.is_null() || !upgraded.is_wholly_known() {
            return Err(mistake(self.provider(), "it made a record into something that is not known"));
        }
        Ok(())
    }

    /// Recorded inputs without what the current schema does not know any more.
    fn fitting(&self, inputs: &InputValues) -> InputValues {
        let fitting = |value: &Value| self.schema.block.check(&self.known(value), "").value;
        InputValues { written: fitting(&inputs.written), effective: fitting(&inputs.effective) }
    }

    fn known(&self, value: &Value) -> Value {
        let Some(entries) = value.as_entries() else { return value.clone() };
        let block = &self.schema.block;
        let known = entries.iter().filter(|(name, _)| block.names().any(|own| own == name.as_str()));
        Value::object(known.map(|(name, item)| (name.clone(), item.clone())).collect::<Vec<_>>())
    }

    /// What an object with these inputs is imported by, if they tell it.
    pub(super) fn import_key(&self, inputs: &Value) -> Option<ImportKey> {
        let by_identity = self.identity_of(inputs).map(ImportKey::Identity);
        let address = &self.shared.options.address;
        by_identity.or_else(|| import_id_of(address, &self.type_name, inputs).map(ImportKey::Id))
    }

    /// The identity that an object with these inputs has, if they tell all that an import needs.
    fn identity_of(&self, inputs: &Value) -> Option<Value> {
        let attributes = &self.identities.as_ref()?.attributes;
        let known = attributes.iter().filter_map(|attribute| {
            let value = inputs.get(&attribute.name).filter(|value| value.is_wholly_known())?;
            Some((attribute.name.clone(), value.clone()))
        });
        let known: Vec<_> = known.collect();
        let tells = |name: &str| known.iter().any(|(own, _)| own == name);
        let enough = attributes.iter().filter(|it| it.required).all(|it| tells(&it.name));
        (enough && !known.is_empty()).then(|| Value::object(known))
    }

    /// What came of a create that was cut off. Otherwise nothing is looked for: as with Terraform, an object that is
    /// there already is found by the provider when it tries to make it.
    pub(super) async fn find_interrupted(
        &self,
        request: LookupRequest<'_>,
    ) -> Result<Option<Vec<Sighting>>, Failure> {
        if request.interrupted
            && let Some(answered) = self.kept_answer(&request)?
        {
            return Ok(Some(answered));
        }
        let Some(key) = self.import_key(&request.desired.effective).filter(|_| request.interrupted) else {
            return Ok(None);
        };
        let (id, identity) = match &key {
            ImportKey::Identity(identity) => ("", self.encode_identity(Some(identity))),
            ImportKey::Id(id) => (id.as_str(), None),
        };
        let found = self.import_objects(request.config, id, identity, request.context).await;
        let found = match found {
            Err(failure) if failure.class == FailureClass::NotFound => Vec::new(),
            found => found?,
        };
        let ours = found.into_iter().filter(|imported| imported.type_name == self.type_name);
        let ownership = Ownership::Owned { generation: None };
        Ok(Some(ours.map(|imported| Sighting { state: imported.state, ownership }).collect()))
    }

    /// What was answered to a create that was cut off, if a host kept it: an object, or that there is none.
    fn kept_answer(&self, request: &LookupRequest<'_>) -> Result<Option<Vec<Sighting>>, Failure> {
        let Some(host) = &self.shared.options.launch.host else { return Ok(None) };
        let Some(token) = request.context.token else { return Ok(None) };
        let (kept, ticket) = (KeptAnswers::new(host.answers()), Ticket(token));
        let unreadable = |error: std::io::Error| {
            let message = format!("cannot read what came of an earlier run's create: {error}");
            Failure::new(FailureClass::Retryable, message)
        };
        let answer = match kept.look(ticket).map_err(unreadable)? {
            Outcome::Answer(answer) => answer,
            Outcome::Unheard | Outcome::Unanswered => return Ok(None),
            Outcome::UnderWay => {
                let failure =
                    Failure::new(FailureClass::Retryable, "another run's create of it is still under way");
                return Err(failure.hint("run again when it is over"));
            }
        };
        self.shared.options.pool.note_kept(kept, ticket);
        // The message stands behind five bytes that say how long it is.
        let answer = answer.get(5..).and_then(|message| protocol::ApplyResponse::decode(message).ok());
        let Some(answer) = answer else { return Ok(None) };
        // An answer that nobody can read tells no more than none.
        let Ok(answered) = self.decode("its answer", answer.new_state.as_ref()) else { return Ok(None) };
        let outputs = settled(&answered).0;
        if outputs.is_null() {
            return Ok(Some(Vec::new()));
        }
        let outputs = self.schema.marked(&outputs, [&request.desired.effective]);
        let identity = self.decode_identity(answer.new_identity.as_ref());
        let state = self.state(Some(request.desired), outputs, answer.private.to_vec(), identity);
        Ok(Some(vec![Sighting { state, ownership: Ownership::Owned { generation: None } }]))
    }

    pub(super) async fn find_by_id(&self, request: ImportRequest<'_>) -> Result<Vec<Imported>, Failure> {
        let identity = match request.identity {
            None => None,
            Some(given) => {
                let encoded = self.encode_identity(Some(given));
                Some(encoded.ok_or_else(|| self.not_identified(given))?)
            }
        };
        self.import_objects(request.config, request.id, identity, request.context).await
    }

    fn not_identified(&self, given: &Value) -> Failure {
        let message = match &self.identities {
            None => format!("a {} is not imported by an identity", self.type_name),
            Some(identities) => {
                let names: Vec<String> =
                    identities.attributes.iter().map(|it| format!("`{}`", it.name)).collect();
                format!("{given} does not identify a {}: that takes {}", self.type_name, names.join(", "))
            }
        };
        Failure::new(FailureClass::Invalid, message).hint("give its `id` instead, if you know it")
    }

    /// Objects by an id or an identity, each read, because to import is only to begin with an id.
    async fn import_objects(
        &self,
        config: &Configured,
        id: &str,
        identity: Option<protocol::IdentityData>,
        context: &CallContext,
    ) -> Result<Vec<Imported>, Failure> {
        let message = protocol::ImportRequest {
            type_name: self.type_name.to_string(),
            id: id.to_owned(),
            client_capabilities: Some(CAPABILITIES),
            identity,
        };
        let instance = self.shared.configured(config)?;
        let cancellation = Some(&context.cancellation);
        let answer =
            instance.call("import a resource", Effect::Looks, cancellation, message, Client::import).await?;
        context.report_warnings(warnings(&answer.diagnostics, FailureClass::Fatal)?);
        refuse_deferred(self.provider(), answer.deferred.as_ref())?;
        let mut found = Vec::new();
        for imported in answer.imported_resources {
            found.push(self.read_imported(config, id, imported, context).await?);
        }
        Ok(found)
    }

    async fn read_imported(
        &self,
        config: &Configured,
        id: &str,
        imported: protocol::import_response::Imported,
        context: &CallContext,
    ) -> Result<Imported, Failure> {
        let other = match imported.type_name == self.type_name {
            true => None,
            false => {
                Some(TerraformResource::find(&self.shared, &imported.type_name).await?.ok_or_else(|| {
                    mistake(
                        self.provider(),
                        &format!("it imported a {}, which it has not", imported.type_name),
                    )
                })?)
            }
        };
        let handler = other.as_ref().unwrap_or(self);
        let outputs = handler.decode("what was imported", imported.state.as_ref())?;
        let identity = handler.decode_identity(imported.identity.as_ref());
        let begun = handler.state(None, outputs, imported.private, identity);
        let read = handler.read_object(config, &begun, context).await?;
        let state = read.ok_or_else(|| {
            let message = format!("there is no {} with the id `{}`", imported.type_name, id);
            Failure::new(FailureClass::NotFound, message)
        })?;
        Ok(Imported { type_name: imported.type_name.into(), state })
    }
}

/// A record of a type whose schema is not at hand, as JSON.
fn outputs_json(outputs: &Value) -> Vec<u8> {
    let ty = crate::wire::WireType::from(&trueup_core::Type::of_recorded(outputs));
    crate::wire::encode_json(outputs, &ty).unwrap_or_default()
}
