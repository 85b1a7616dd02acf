//! What there is beside the life of resources: upgrades, moves, imports, data sources, functions.

use serde_json::Value as Json;
use tonic::Status;
use trueup_core::{Type, Value};
use trueup_terraform::protocol::import_response::Imported;
use trueup_terraform::protocol::{
    CallFunctionRequest, CallFunctionResponse, FunctionError, ImportRequest, ImportResponse, MoveRequest,
    MoveResponse, ReadDataRequest, ReadDataResponse, UpgradeStateRequest, UpgradeStateResponse,
};
use trueup_terraform::wire::{self, WireType};

use crate::lifecycle::{outside, text};
use crate::service::{Inner, decode, encode};
use crate::trouble;

impl Inner {
    /// In version 0 the name of a thing was called its title.
    pub(crate) fn upgrade(&self, request: &UpgradeStateRequest) -> Result<UpgradeStateResponse, Status> {
        let schema = self.resource(&request.type_name)?;
        let raw = request.raw_state.clone().unwrap_or_default();
        let mut state: Json =
            serde_json::from_slice(&raw.json).map_err(|error| Status::invalid_argument(error.to_string()))?;
        if let (0, Some(attributes)) = (request.version, state.as_object_mut())
            && let Some(title) = attributes.remove("title")
        {
            attributes.insert("name".to_owned(), title);
        }
        match schema.decode_json(state.to_string().as_bytes()) {
            Ok(upgraded) => {
                let upgraded_state = encode(schema, &upgraded)?;
                Ok(UpgradeStateResponse { upgraded_state, diagnostics: Vec::new() })
            }
            Err(error) => {
                let diagnostic = trouble::error("Cannot upgrade", &error.to_string(), &[]);
                Ok(UpgradeStateResponse { upgraded_state: None, diagnostics: vec![diagnostic] })
            }
        }
    }

    /// What is renamed was a thing before.
    pub(crate) fn move_state(&self, request: MoveRequest) -> Result<MoveResponse, Status> {
        let (from, to) = (self.kind(&request.source_type_name), self.kind(&request.target_type_name));
        if (from, to) != ("thing", "renamed") {
            let detail = format!("A {to} is not made from a {from}.");
            let diagnostics = vec![trouble::error("Cannot move", &detail, &[])];
            return Ok(MoveResponse { diagnostics, ..MoveResponse::default() });
        }
        let schema = self.resource(&request.target_type_name)?;
        let raw = request.source_state.unwrap_or_default();
        let state =
            schema.decode_json(&raw.json).map_err(|error| Status::invalid_argument(error.to_string()))?;
        let id = text(&state, "id");
        let objects = self.objects()?;
        if let Some(object) = objects.get(from, schema, id).map_err(outside)? {
            objects.put(to, schema, id, &object).map_err(outside)?;
            objects.remove(from, id).map_err(outside)?;
        }
        Ok(MoveResponse {
            target_state: encode(schema, &state)?,
            target_private: request.source_private,
            ..MoveResponse::default()
        })
    }

    pub(crate) fn import(&self, request: ImportRequest) -> Result<ImportResponse, Status> {
        let schema = self.resource(&request.type_name)?;
        let ty = WireType::from(&Type::object([("name", Type::String)]));
        let identity = request.identity.as_ref().and_then(|identity| identity.data.as_ref());
        let identity = identity.map(|data| wire::decode(data, &ty)).transpose();
        let identity = identity.map_err(|error| Status::invalid_argument(error.to_string()))?;
        let id = match &identity {
            Some(identity) => format!("{}{}", self.objects()?.prefix, text(identity, "name")),
            None => request.id.clone(),
        };
        if id.is_empty() {
            let diagnostics = vec![trouble::error("Cannot import", "An id is not empty.", &[])];
            return Ok(ImportResponse { diagnostics, ..ImportResponse::default() });
        }
        let state = schema.complete(&Value::object([("id", Value::from(id))]));
        let imported =
            Imported { type_name: request.type_name, state: encode(schema, &state)?, ..Imported::default() };
        Ok(ImportResponse { imported_resources: vec![imported], ..ImportResponse::default() })
    }

    pub(crate) fn read_data(&self, request: &ReadDataRequest) -> Result<ReadDataResponse, Status> {
        self.note_meta("data", request.provider_meta.as_ref())?;
        let schema =
            self.data.get(&request.type_name).ok_or_else(|| Status::invalid_argument("no such type"))?;
        let config = decode(schema, request.config.as_ref())?;
        let objects = self.objects()?;
        let id = format!("{}{}", objects.prefix, text(&config, "name"));
        let things = self.resource(&request.type_name)?;
        match objects.get("thing", things, &id).map_err(outside)? {
            Some(thing) => {
                let size = thing.get("size").cloned().unwrap_or_default();
                let found = config.with_entry("id", Value::from(id)).with_entry("size", size);
                Ok(ReadDataResponse { state: encode(schema, &found)?, ..ReadDataResponse::default() })
            }
            None => {
                let diagnostics =
                    vec![trouble::error("No such thing", &format!("There is no {id}."), &["name"])];
                Ok(ReadDataResponse { diagnostics, ..ReadDataResponse::default() })
            }
        }
    }

    pub(crate) async fn call_function(
        &self,
        request: &CallFunctionRequest,
    ) -> Result<CallFunctionResponse, Status> {
        let arguments = |ty: &WireType| -> Result<Vec<Value>, Status> {
            let decode = |sent| wire::decode(sent, ty);
            let decoded: Result<Vec<_>, _> = request.arguments.iter().map(decode).collect();
            decoded.map_err(|error| Status::invalid_argument(error.to_string()))
        };
        let (result, ty) = match request.name.as_str() {
            "reverse" => {
                let arguments = arguments(&WireType::String)?;
                let text = arguments.first().and_then(Value::as_str).unwrap_or_default();
                if text.is_empty() {
                    let error = FunctionError {
                        text: "there is nothing to reverse".to_owned(),
                        function_argument: Some(0),
                    };
                    return Ok(CallFunctionResponse { result: None, error: Some(error) });
                }
                (Value::from(text.chars().rev().collect::<String>()), WireType::String)
            }
            "sum" => {
                let numbers = arguments(&WireType::Number)?;
                let numbers = numbers.iter().filter_map(|it| it.as_number()?.as_i64());
                (Value::from(numbers.sum::<i64>()), WireType::Number)
            }
            // Says to whoever reads the pipe that it was called, and never answers.
            "hang" => {
                let arguments = arguments(&WireType::String)?;
                let pipe = arguments.first().and_then(Value::as_str).unwrap_or_default().to_owned();
                let _ = tokio::task::spawn_blocking(move || std::fs::write(pipe, "called\n")).await;
                std::future::pending().await
            }
            _ => return Err(Status::invalid_argument("no such function")),
        };
        let result = wire::encode(&result, &ty).map_err(|error| Status::internal(error.to_string()))?;
        Ok(CallFunctionResponse { result: Some(result), error: None })
    }
}
