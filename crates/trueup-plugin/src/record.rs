//! The record of an object, kept in the private bytes beside its Terraform state.
//!
//! A Terraform state holds the last refreshed values and does not distinguish written values from defaults. The record holds
//! inputs as written and outputs as applied, so drift, defaults and migrations work as in trueup.

use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use trueup_provider::{IdempotencyToken, InputValues, State};

/// The format of the bytes; others are ignored.
const FORM: u32 = 1;

/// An object as it was last applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The format. The name marks the bytes as ours.
    trueup: u32,
    /// Inputs, outputs and schema version.
    pub(crate) state: State,
    /// The inputs of the failed attempt that left an unfinished object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attempted: Option<InputValues>,
    /// Stands in for the resource's address, which Terraform does not send: physical names and tags derive from it.
    pub(crate) name: SmolStr,
}

impl Record {
    pub(crate) fn new(state: State, attempted: Option<InputValues>, name: SmolStr) -> Self {
        Record { trueup: FORM, state, attempted, name }
    }

    /// The same record with another state.
    pub(crate) fn with_state(&self, state: State) -> Self {
        Record { state, ..self.clone() }
    }

    /// Reads the output of [`to_bytes`](Self::to_bytes); `None` for any other bytes.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let record: Record = trueup_core::read_json(text).ok()?;
        (record.trueup == FORM).then_some(record)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Values have texts for keys, and writing into memory cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The recorded inputs, or those of the failed attempt.
    pub(crate) fn inputs(&self) -> Option<&InputValues> {
        self.state.inputs.as_ref().or(self.attempted.as_ref())
    }
}

/// A unique name.
pub(crate) fn fresh_name() -> SmolStr {
    format_smolstr!("x{}", IdempotencyToken::fresh())
}
