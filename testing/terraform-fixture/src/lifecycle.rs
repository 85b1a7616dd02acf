//! Planning, applying and reading resources.

use std::io;

use tonic::Status;
use trueup_core::schema::{Attribute, Block, Presence, Shape};
use trueup_core::{Kind, Type, Value, value};
use trueup_terraform::TypeSchema;
use trueup_terraform::protocol::{
    ApplyRequest, ApplyResponse, Diagnostic, DynamicValue, IdentityData, PlanRequest, PlanResponse,
    ReadRequest, ReadResponse,
};
use trueup_terraform::wire::{self, WireType};

use crate::service::{Inner, decode, encode};
use crate::trouble;

/// What the provider chooses where nobody says how large a thing is.
const SIZE: i64 = 3;

/// What the private bytes of a planned object begin with; apply insists on them.
const PLANNED: &[u8] = b"planned:";

/// What the private bytes of an object begin with; reading insists on them.
const KEPT: &[u8] = b"kept:";

impl Inner {
    pub(crate) async fn plan(&self, request: &PlanRequest) -> Result<PlanResponse, Status> {
        self.note_meta("plan", request.provider_meta.as_ref())?;
        let schema = self.resource(&request.type_name)?;
        let kind = self.kind(&request.type_name);
        let prior = decode(schema, request.prior_state.as_ref())?;
        let proposed = decode(schema, request.proposed_new_state.as_ref())?;
        let planned_private = [PLANNED, &request.prior_private].concat().into();
        if proposed.is_null() {
            let planned_state = encode(schema, &Value::NULL)?;
            return Ok(PlanResponse { planned_state, planned_private, ..PlanResponse::default() });
        }
        let mut diagnostics = Vec::new();
        match text(&proposed, "trouble") {
            "warn" => diagnostics.push(trouble::warning("planned with a warning")),
            "fail-plan" => {
                diagnostics.push(trouble::error("Cannot plan", "As was asked for.", &["trouble"]));
                return Ok(PlanResponse { diagnostics, ..PlanResponse::default() });
            }
            "hang-plan" => std::future::pending().await,
            "crash-plan" => trouble::crash("in a plan"),
            "crash-once" if self.objects()?.note("crashed") => trouble::crash("in a plan"),
            "huge" => {
                let detail = "x".repeat(65 << 20);
                diagnostics.push(trouble::error("Huge", &detail, &[]));
                return Ok(PlanResponse { diagnostics, ..PlanResponse::default() });
            }
            _ => {}
        }
        let legacy = kind == "legacy";
        let config = decode(schema, request.config.as_ref())?;
        let proposed = match text(&proposed, "trouble") == "bad-plan" || legacy {
            true => proposed.with_entry("note", value!("planned by the provider")),
            false => proposed,
        };
        let planned = planned(&schema.block, &prior, &proposed, &config);
        let renamed = !prior.is_null() && !entry(&prior, "name").same(entry(&planned, "name"));
        Ok(PlanResponse {
            planned_state: encode(schema, &planned)?,
            requires_replace: renamed.then(|| trouble::path(&["name"])).into_iter().collect(),
            planned_private,
            diagnostics,
            legacy_type_system: legacy,
            planned_identity: self.identity(kind, &planned),
            ..PlanResponse::default()
        })
    }

    pub(crate) async fn apply(&self, request: ApplyRequest) -> Result<ApplyResponse, Status> {
        self.note_meta("apply", request.provider_meta.as_ref())?;
        let schema = self.resource(&request.type_name)?;
        let kind = self.kind(&request.type_name);
        let objects = self.objects()?;
        let prior = decode(schema, request.prior_state.as_ref())?;
        let planned = decode(schema, request.planned_state.as_ref())?;
        let config = decode(schema, request.config.as_ref())?;
        if !request.planned_private.starts_with(PLANNED) {
            return Err(Status::invalid_argument("the private bytes of the plan did not come along"));
        }
        if planned.is_null() {
            return self.delete(schema, kind, &prior, &request);
        }
        let asked = text(&planned, "trouble").to_owned();
        let failed = |what: &str, state: &Value| -> Result<ApplyResponse, Status> {
            let diagnostics = vec![trouble::error(what, "As was asked for.", &["trouble"])];
            Ok(ApplyResponse { new_state: encode(schema, state)?, diagnostics, ..ApplyResponse::default() })
        };
        match (asked.as_str(), prior.is_null()) {
            ("fail-create", true) => return failed("Cannot create", &Value::NULL),
            ("fail-update", false) => return failed("Cannot update", &prior),
            ("crash-before", true) => trouble::crash("before the create"),
            ("hang-before", true) => objects.hang_once().await,
            ("hang", _) => {
                let mut stopped = self.stopped.subscribe();
                let _ = stopped.wait_for(|stopped| *stopped).await;
                return failed("Stopped", &prior);
            }
            _ => {}
        }
        let prefix = &objects.prefix;
        let id = format!("{prefix}{}", text(&planned, "name"));
        if prior.is_null() && objects.has(kind, &id) {
            return failed("Exists already", &Value::NULL);
        }
        let mut done = Filling { id: &id, prior: &prior, config: &config }.fill(&schema.block, &planned);
        objects.put(kind, schema, &id, &done).map_err(outside)?;
        let private = [KEPT, id.as_bytes()].concat();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        match (asked.as_str(), prior.is_null()) {
            ("crash-after", true) => trouble::crash("after the create"),
            ("hang-after", true) => objects.hang_once().await,
            ("wait-after", _) => objects.wait_once().await,
            ("partial", _) => {
                diagnostics.push(trouble::error("Made half-way", "As was asked for.", &["trouble"]));
            }
            ("warn", _) => diagnostics.push(trouble::warning("applied with a warning")),
            ("inconsistent", _) => done = done.with_entry("note", value!("not as planned")),
            ("unknown-after", _) => done = done.with_entry("serial", Value::unknown(Type::Number)),
            ("bad-answer", _) => {
                let ty = WireType::from(&Type::object([("name", Type::Number)]));
                let wrong = wire::encode(&value!({ "name": 1 }), &ty);
                let new_state = Some(wrong.map_err(|error| Status::internal(error.to_string()))?);
                return Ok(ApplyResponse { new_state, private: private.into(), ..ApplyResponse::default() });
            }
            _ => {}
        }
        Ok(ApplyResponse {
            new_state: encode(schema, &done)?,
            private: private.into(),
            diagnostics,
            legacy_type_system: kind == "legacy",
            new_identity: self.identity(kind, &done),
        })
    }

    fn delete(
        &self,
        schema: &TypeSchema,
        kind: &str,
        prior: &Value,
        request: &ApplyRequest,
    ) -> Result<ApplyResponse, Status> {
        let mut diagnostics = Vec::new();
        match text(prior, "trouble") {
            "fail-delete" => {
                diagnostics.push(trouble::error("Cannot delete", "As was asked for.", &["trouble"]));
                let (new_state, private) =
                    (encode(schema, prior)?, request.planned_private[PLANNED.len()..].to_vec());
                return Ok(ApplyResponse {
                    new_state,
                    private: private.into(),
                    diagnostics,
                    ..ApplyResponse::default()
                });
            }
            "warn" => diagnostics.push(trouble::warning("deleted with a warning")),
            _ => {}
        }
        self.objects()?.remove(kind, text(prior, "id")).map_err(outside)?;
        let new_state = encode(schema, &Value::NULL)?;
        Ok(ApplyResponse { new_state, diagnostics, ..ApplyResponse::default() })
    }

    pub(crate) async fn read(&self, request: &ReadRequest) -> Result<ReadResponse, Status> {
        self.note_meta("read", request.provider_meta.as_ref())?;
        let schema = self.resource(&request.type_name)?;
        let kind = self.kind(&request.type_name);
        let current = decode(schema, request.current_state.as_ref())?;
        if !request.private.is_empty() && !request.private.starts_with(KEPT) {
            return Err(Status::invalid_argument("the private bytes of the object did not come along"));
        }
        let found = self.objects()?.get(kind, schema, text(&current, "id")).map_err(outside)?;
        let diagnostics = match text(&current, "trouble") {
            "warn" => vec![trouble::warning("read with a warning")],
            "hang-read" => std::future::pending().await,
            "fail-read" => vec![trouble::error("Cannot read", "As was asked for.", &["trouble"])],
            _ => Vec::new(),
        };
        let found = found.unwrap_or(Value::NULL);
        Ok(ReadResponse {
            new_identity: (!found.is_null()).then(|| self.identity(kind, &found)).flatten(),
            new_state: encode(schema, &found)?,
            diagnostics,
            private: [KEPT, text(&current, "id").as_bytes()].concat().into(),
            ..ReadResponse::default()
        })
    }

    /// Things are known by their names.
    pub(crate) fn identity(&self, kind: &str, state: &Value) -> Option<IdentityData> {
        let name = state.get("name").filter(|name| kind == "thing" && !name.is_unknown())?;
        let ty = WireType::from(&Type::object([("name", Type::String)]));
        let data: DynamicValue = wire::encode(&Value::object([("name", name.clone())]), &ty).ok()?;
        Some(IdentityData { data: Some(data) })
    }
}

/// What the outside world fails with.
#[expect(clippy::needless_pass_by_value, reason = "made to stand in `map_err`")]
pub(crate) fn outside(error: io::Error) -> Status {
    Status::internal(error.to_string())
}

pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn entry<'a>(value: &'a Value, name: &str) -> &'a Value {
    static NULL: Value = Value::NULL;
    value.as_entries().and_then(|entries| entries.get(name)).unwrap_or(&NULL)
}

/// The plan: what is proposed, with defaults, and unknown where apply will tell.
fn planned(block: &Block, prior: &Value, proposed: &Value, config: &Value) -> Value {
    let settled = with_unknown(block, proposed, config);
    if prior.is_null() || settled.same(prior) {
        return settled;
    }
    // A change makes a new serial, and answers anew what follows from what was changed.
    let mut settled = settled.with_entry("serial", Value::unknown(Type::Number));
    if !entry(prior, "value").same(entry(&settled, "value")) && block.attributes.contains_key("echo") {
        settled = settled.with_entry("echo", Value::unknown(Type::Any));
    }
    if !entry(prior, "password_version").same(entry(&settled, "password_version")) {
        settled = settled.with_entry("password_length", Value::unknown(Type::Number));
    }
    settled
}

/// The value with something in place of each null that the provider decides.
fn with_unknown(block: &Block, value: &Value, config: &Value) -> Value {
    let Some(entries) = value.as_entries() else { return value.clone() };
    Value::object(
        entries
            .iter()
            .map(|(name, item)| {
                let decided = match (block.attributes.get(name), block.blocks.get(name)) {
                    (Some(attribute), _) => {
                        attribute_with_unknown(name, attribute, item, entry(config, name))
                    }
                    (None, Some(nested)) => shape_with_unknown(&nested.shape(), item, entry(config, name)),
                    (None, None) => item.clone(),
                };
                (name.clone(), decided)
            })
            .collect::<Vec<_>>(),
    )
}

fn attribute_with_unknown(name: &str, attribute: &Attribute, item: &Value, config: &Value) -> Value {
    let computed = matches!(attribute.presence, Presence::Computed | Presence::OptionalComputed);
    match (name, computed && item.is_null()) {
        _ if attribute.write_only => Value::NULL,
        ("size", true) => value!(SIZE),
        ("password_length", true) => Value::unknown(Type::Number),
        (_, true) => Value::unknown(attribute.shape.implied_type()),
        (_, false) => shape_with_unknown(&attribute.shape, item, config),
    }
}

fn shape_with_unknown(shape: &Shape, item: &Value, config: &Value) -> Value {
    each(shape, item, &|block, item| with_unknown(block, item, config))
}

/// The value with each structure changed.
fn each(shape: &Shape, item: &Value, change: &dyn Fn(&Block, &Value) -> Value) -> Value {
    match (shape, item.kind()) {
        (Shape::Object(block), _) => change(block, item),
        (Shape::List(element), Kind::List(items)) => {
            Value::list(items.iter().map(|item| each(element, item, change)))
        }
        (Shape::Set(element), Kind::Set(items)) => {
            Value::set(items.iter().map(|item| each(element, item, change)))
        }
        (Shape::Map(element), Kind::Map(entries) | Kind::Object(entries)) => Value::map(
            entries.iter().map(|(key, item)| (key.clone(), each(element, item, change))).collect::<Vec<_>>(),
        ),
        _ => item.clone(),
    }
}

/// Decides what the plan left open.
struct Filling<'a> {
    id: &'a str,
    prior: &'a Value,
    config: &'a Value,
}

impl Filling<'_> {
    fn fill(&self, block: &Block, planned: &Value) -> Value {
        let Some(entries) = planned.as_entries() else { return planned.clone() };
        let key = text(planned, "key");
        Value::object(
            entries
                .iter()
                .map(|(name, item)| {
                    let shape = match (block.attributes.get(name), block.blocks.get(name)) {
                        (Some(attribute), _) => attribute.shape.clone(),
                        (None, Some(nested)) => nested.shape(),
                        (None, None) => return (name.clone(), item.clone()),
                    };
                    let filled = match (item.kind(), name.as_str()) {
                        (Kind::Unknown(_), "id") => value!(self.id),
                        (Kind::Unknown(_), "serial") => self.next_serial(),
                        (Kind::Unknown(_), "echo") => entry(self.config, "value").clone(),
                        (Kind::Unknown(_), "password_length") => {
                            Value::from(text(self.config, "password_wo").len())
                        }
                        (Kind::Unknown(_), "decided") => Value::from(format!("decided for {key}")),
                        (Kind::Unknown(_), "maybe") => {
                            value!({ "key": "made", "value": "made", "decided": "decided for made" })
                        }
                        (Kind::Unknown(_), "rules") => Value::set([]),
                        (Kind::Unknown(_), _) => value!("decided"),
                        _ => each(&shape, item, &|block, item| self.fill(block, item)),
                    };
                    (name.clone(), filled)
                })
                .collect::<Vec<_>>(),
        )
    }

    fn next_serial(&self) -> Value {
        let before = entry(self.prior, "serial").as_number().and_then(trueup_core::Number::as_i64);
        Value::from(before.unwrap_or_default() + 1)
    }
}
