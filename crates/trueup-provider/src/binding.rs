//! Bindings: payloads that one resource attaches to another (BIND-1).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use trueup_core::{FieldError, FieldType, Value};

/// What one resource attaches to another, under a key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// Tells it from the other bindings of the same target.
    pub key: SmolStr,
    /// What is attached.
    #[serde(with = "trueup_core::recorded")]
    pub payload: Value,
}

impl Binding {
    /// A payload under a key.
    pub fn new(key: impl Into<SmolStr>, payload: Value) -> Self {
        Binding { key: key.into(), payload }
    }

    /// The payload as a Rust type.
    pub fn decode<T: FieldType>(&self) -> Result<T, FieldError> {
        T::decode(&self.payload)
    }

    /// Bindings as the target sees them: sorted by key, of a repeated key the last.
    pub fn resolved(bindings: impl IntoIterator<Item = Binding>) -> Vec<Binding> {
        let by_key: std::collections::BTreeMap<_, _> =
            bindings.into_iter().map(|binding| (binding.key.clone(), binding)).collect();
        by_key.into_values().collect()
    }

    /// All bindings of a target as one value, for comparison.
    pub fn as_value(bindings: &[Binding]) -> Value {
        Value::map(bindings.iter().map(|binding| (binding.key.clone(), binding.payload.clone())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueup_core::value;

    /// BIND-1
    #[test]
    fn bindings_are_sorted_by_key_and_the_last_of_a_key_wins() {
        let bound = [("b", 1), ("a", 2), ("b", 3)].map(|(key, payload)| Binding::new(key, value!(payload)));
        let seen: Vec<_> =
            Binding::resolved(bound).iter().map(|it| format!("{}={}", it.key, it.payload)).collect();
        assert_eq!(seen, ["a=2", "b=3"]);
    }
}
