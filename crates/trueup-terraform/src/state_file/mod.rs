//! Terraform's state files, version 4: what is in them, and what it is in our own vocabulary.
//!
//! [`StateFile`] is the text as it stands; [`ObjectForm`] turns attributes into values and back, by the schema of their
//! type; [`ConfigurationName`] and [`address`](fn@address) do the same for names.

mod names;
mod object;
mod secrets;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use trueup_core::{Type, Value};

pub use names::{ConfigurationName, address, config_address, index_key};
pub use object::ObjectForm;

use crate::wire::{self, WireType};

/// The version of the form that is read and written.
pub const STATE_VERSION: u64 = 4;

/// A state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StateFile {
    /// [`STATE_VERSION`].
    pub version: u64,
    /// Who wrote it.
    #[serde(default)]
    pub terraform_version: String,
    /// Counts its changes.
    #[serde(default)]
    pub serial: u64,
    /// Tells it from others.
    #[serde(default)]
    pub lineage: String,
    /// The outputs of the root module.
    #[serde(default)]
    pub outputs: BTreeMap<String, StateOutput>,
    /// All resources, and data sources that were read.
    #[serde(default)]
    pub resources: Vec<StateResource>,
    /// What checks came to; not ours to keep.
    #[serde(default)]
    pub check_results: Json,
}

/// An output.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StateOutput {
    /// Its value.
    pub value: Json,
    /// The type of its value.
    #[serde(rename = "type")]
    pub ty: Json,
    /// Whether it is secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
}

/// A resource with all its instances.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StateResource {
    /// The module it is in: `module.net["a"]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// `managed` or `data`.
    pub mode: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its name.
    pub name: String,
    /// Which configuration of which provider: `provider["registry.terraform.io/hashicorp/aws"].west`.
    pub provider: String,
    /// The instances.
    #[serde(default)]
    pub instances: Vec<StateInstance>,
}

/// One object.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct StateInstance {
    /// Which instance, if there are several: a number or a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_key: Option<Json>,
    /// `tainted`, or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What names it, if it only waits to be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deposed: Option<String>,
    /// The version of the schema that the attributes follow.
    #[serde(default)]
    pub schema_version: u64,
    /// What is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<Json>,
    /// The same as Terraform before 0.12 wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes_flat: Option<Json>,
    /// Where secrets are in it.
    #[serde(default)]
    pub sensitive_attributes: Vec<Vec<StatePathStep>>,
    /// The version of the schema of its identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_schema_version: Option<u64>,
    /// What tells it from other objects of its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Json>,
    /// What only the provider understands, in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private: Option<String>,
    /// Resources it depends on, without their keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
    /// Whether its replacement is made before it is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_before_destroy: bool,
}

/// A step on the way to a secret.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StatePathStep {
    /// `get_attr` or `index`.
    #[serde(rename = "type")]
    pub kind: String,
    /// A name, or a key with its type.
    pub value: Json,
}

/// Why a text is no state that can be read, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what}")]
pub struct StateFileError {
    what: String,
    /// What to do about it.
    pub hint: &'static str,
}

impl StateFile {
    /// Reads the text of a state file.
    pub fn read(text: &str) -> Result<Self, StateFileError> {
        let wrong = |what: String, hint| Err(StateFileError { what, hint });
        let none = "name a state file of Terraform, such as `terraform state pull` writes it";
        let tree: Json = match trueup_core::read_json(text) {
            Ok(tree) => tree,
            Err(error) => return wrong(format!("it is not a state of Terraform: {error}"), none),
        };
        if tree.get("encrypted_data").is_some() {
            return wrong("it is encrypted".to_owned(), "name a copy that is not");
        }
        // The version first: what else another form holds is not for us to read.
        match tree.get("version").and_then(Json::as_u64) {
            Some(STATE_VERSION) => {}
            Some(version @ 0..STATE_VERSION) => {
                return wrong(
                    format!("it has version {version}, and {STATE_VERSION} is needed"),
                    "bring it up to date with `terraform refresh`, of Terraform 0.12 or later",
                );
            }
            Some(version) => {
                let what = format!("it has version {version}, and this program knows only {STATE_VERSION}");
                return wrong(what, "use a later version of this program");
            }
            None => return wrong("it is not a state of Terraform: it has no version".to_owned(), none),
        }
        match serde_json::from_value(tree) {
            Ok(state) => Ok(state),
            Err(error) => wrong(format!("it is damaged: {error}"), none),
        }
    }

    /// The text, as Terraform writes it.
    pub fn to_text(&self) -> String {
        // Nothing in it can fail to be written.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        text + "\n"
    }
}

impl StateOutput {
    /// Its value in our vocabulary.
    pub fn read(&self) -> Result<Value, String> {
        let ty = Type::from_json_tree(&self.ty)?;
        let value = wire::decode_json(self.value.to_string().as_bytes(), &WireType::from(&ty));
        Ok(value.map_err(|error| error.to_string())?.into_secret_if(self.sensitive))
    }

    /// The output of a value.
    pub fn write(value: &Value) -> Result<Self, String> {
        let ty = Type::of_recorded(value);
        let text = wire::encode_json(value, &WireType::from(&ty)).map_err(|error| error.to_string())?;
        let json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        let ty = serde_json::to_value(&ty).map_err(|error| error.to_string())?;
        Ok(StateOutput { value: json, ty, sensitive: value.contains_secret() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let error = StateFile::read(text).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }

    #[test]
    fn only_states_of_the_fourth_version_are_read() {
        check("", "not a state of Terraform");
        check("garbage", "not a state of Terraform");
        check("[]", "it has no version");
        check(r#"{"version": 3, "modules": []}"#, "it has version 3, and 4 is needed");
        check(r#"{"version": 5}"#, "it has version 5, and this program knows only 4");
        check(r#"{"version": 4, "resources": 1}"#, "it is damaged");
        check(r#"{"encrypted_data": "x", "version": 4}"#, "it is encrypted");
        check(&"[".repeat(100_000), "not a state of Terraform");
        assert!(StateFile::read(r#"{"version": 4}"#).is_ok());
    }
}
