//! What is recorded of a resource, for machines; without secrets.

use serde_json::{Value as Json, json};
use trueup_core::JsonForm;
use trueup_state::{Generation, Record, Status};

/// The record as JSON.
pub(crate) fn record_json(record: &Record) -> Json {
    json!({
        "id": record.id,
        "address": record.address,
        "type": record.address.type_name(),
        "origin": record.origin,
        "provider": record.meta.provider,
        "dependencies": record.meta.dependencies,
        "protect": record.meta.protect,
        "retain": record.meta.retain,
        "current": record.current.as_ref().map(generation_json),
        "deposed": record.deposed.iter().map(generation_json).collect::<Vec<_>>(),
    })
}

fn generation_json(generation: &Generation) -> Json {
    let status = match &generation.status {
        Status::Ready => "ready",
        Status::Creating(_) => "creating",
        Status::Updating(_) => "updating",
        Status::Deleting => "deleting",
    };
    json!({
        "number": generation.number,
        "status": status,
        "inputs": generation.inputs().map(|inputs| inputs.effective.to_json_tree(JsonForm::PUBLIC)),
        "outputs": generation.object.as_ref().map(|object| object.outputs.to_json_tree(JsonForm::PUBLIC)),
    })
}
