//! Values on the wire: msgpack, which knows unknown values, and JSON, in which states are kept.
//!
//! Both are guided by a [`WireType`], the type that the protocol derives from a schema. What comes in is bounded in depth
//! and must be of its type; messages say where something is wrong and never what stands there.

mod json;
mod msgpack;
mod wire_type;

use std::fmt;

use trueup_core::{Path, Step, Value};

pub use wire_type::WireType;

use crate::protocol::DynamicValue;

/// Why a value cannot be sent, or what came is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", Place(path))]
pub struct WireError {
    path: Path,
    message: String,
}

struct Place<'a>(&'a Path);

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_root() { Ok(()) } else { write!(f, "`{}`: ", self.0) }
    }
}

impl WireError {
    fn new(message: impl Into<String>) -> Self {
        WireError { path: Path::ROOT, message: message.into() }
    }

    fn mismatch(expected: &WireType, found: &str) -> Self {
        WireError::new(format!("expected {}, found {found}", expected.name()))
    }

    /// The same error, seen from one level further out.
    fn inside(mut self, step: Step) -> Self {
        self.path = std::iter::once(step).chain(self.path.steps().iter().cloned()).collect();
        self
    }
}

/// A value as it is sent.
pub fn encode(value: &Value, ty: &WireType) -> Result<DynamicValue, WireError> {
    Ok(DynamicValue { msgpack: msgpack::encode(value, ty)?.into(), ..DynamicValue::default() })
}

/// A value as it came; nothing at all stands for null.
pub fn decode(sent: &DynamicValue, ty: &WireType) -> Result<Value, WireError> {
    let value = match (sent.msgpack.is_empty(), sent.json.is_empty()) {
        (false, _) => msgpack::decode(&sent.msgpack, ty)?,
        (true, false) => decode_json(&sent.json, ty)?,
        (true, true) => Value::NULL,
    };
    if value.depth() > Value::DEPTH_MAX {
        return Err(WireError::new(format!("nests deeper than {} levels", Value::DEPTH_MAX)));
    }
    Ok(value)
}

/// A wholly known value as JSON text, as it stands in Terraform's states.
pub fn encode_json(value: &Value, ty: &WireType) -> Result<Vec<u8>, WireError> {
    Ok(json::encode(value, ty)?.to_string().into_bytes())
}

/// A value from JSON text, as it stands in Terraform's states.
pub fn decode_json(text: &[u8], ty: &WireType) -> Result<Value, WireError> {
    let text = std::str::from_utf8(text).map_err(|_| WireError::new("is not UTF-8"))?;
    let tree = trueup_core::read_json(text).map_err(|error| WireError::new(error.to_string()))?;
    json::decode(&tree, ty)
}
