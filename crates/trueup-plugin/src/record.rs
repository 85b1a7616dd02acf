//! What one object of Terraform's cannot tell, in the private bytes beside it: the inputs as the program wrote them, the
//! outputs that were recorded, and under which name the object was made.
//!
//! A state of Terraform's holds what was read last, and no difference between what was written and what stands in for it.
//! The record holds what the object was brought to, so drift, defaults and migrations come out as they do in trueup.

use serde::{Deserialize, Serialize};
use smol_str::{SmolStr, format_smolstr};
use trueup_provider::{IdempotencyToken, InputValues, State};

/// The form of the bytes; others are not read.
const FORM: u32 = 1;

/// What is known of an object beside Terraform's state of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Which form this is; its name tells whose bytes these are.
    trueup: u32,
    /// The object as it was last brought about.
    pub(crate) state: State,
    /// The inputs of the attempt that an unfinished object comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attempted: Option<InputValues>,
    /// Stands for the address of the resource, which Terraform does not tell: names, tags and tokens are made of it.
    pub(crate) name: SmolStr,
}

impl Record {
    pub(crate) fn new(state: State, attempted: Option<InputValues>, name: SmolStr) -> Self {
        Record { trueup: FORM, state, attempted, name }
    }

    /// The record of the same object with another state.
    pub(crate) fn with_state(&self, state: State) -> Self {
        Record { state, ..self.clone() }
    }

    /// What [`to_bytes`](Self::to_bytes) wrote; `None` for the bytes of anyone else.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?;
        let record: Record = trueup_core::read_json(text).ok()?;
        (record.trueup == FORM).then_some(record)
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Values have texts for keys, and writing into memory cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The inputs by which the object is looked at.
    pub(crate) fn inputs(&self) -> Option<&InputValues> {
        self.state.inputs.as_ref().or(self.attempted.as_ref())
    }
}

/// A name that no other object has.
pub(crate) fn fresh_name() -> SmolStr {
    format_smolstr!("x{}", IdempotencyToken::fresh())
}
