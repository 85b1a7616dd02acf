//! What is kept of one object: the state that handlers give and take.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use trueup_core::Value;

/// The inputs of a resource, both as the program wrote them and with defaults filled in (PLAN-9).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "Recorded", into = "Recorded")]
pub struct InputValues {
    /// As written: checked, without defaults.
    pub written: Value,
    /// As it counts: with defaults.
    pub effective: Value,
}

impl InputValues {
    /// What may be kept of them.
    #[must_use]
    pub fn without_ephemeral(&self) -> Self {
        InputValues {
            written: self.written.without_ephemeral(),
            effective: self.effective.without_ephemeral(),
        }
    }
}

/// Inputs as they are kept. Most resources need no default, and a stack has many of them: what is as written is neither
/// written twice nor held twice.
#[derive(Serialize, Deserialize)]
struct Recorded {
    #[serde(with = "trueup_core::recorded")]
    written: Value,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "trueup_core::recorded::serialize",
        deserialize_with = "said"
    )]
    effective: Option<Value>,
}

/// What is said, if only that it is null.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    trueup_core::recorded::deserialize(deserializer).map(Some)
}

impl From<InputValues> for Recorded {
    fn from(InputValues { written, effective }: InputValues) -> Self {
        let effective = (effective != written).then_some(effective);
        Recorded { written, effective }
    }
}

impl From<Recorded> for InputValues {
    fn from(Recorded { written, effective }: Recorded) -> Self {
        let effective = effective.filter(|effective| *effective != written);
        InputValues { effective: effective.unwrap_or_else(|| written.clone()), written }
    }
}

/// What is known of one object.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The inputs it was last brought to; `None` for an object that was adopted and not yet reconciled.
    pub inputs: Option<InputValues>,
    /// What the provider last answered.
    #[serde(with = "trueup_core::recorded")]
    pub outputs: Value,
    /// What only the provider understands, kept for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub private: Vec<u8>,
    /// The version of the schema the values follow.
    pub schema_version: u64,
    /// The values that tell this object from others of its type; `None` if the type has none to tell.
    #[serde(with = "trueup_core::recorded")]
    pub identity: Option<Value>,
}

impl fmt::Debug for State {
    /// Without the private bytes: nobody but the provider knows whether they are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("State");
        debug.field("inputs", &self.inputs).field("outputs", &self.outputs).field("identity", &self.identity);
        debug.field("schema_version", &self.schema_version);
        debug.field("private", &format_args!("{} bytes", self.private.len())).finish()
    }
}
