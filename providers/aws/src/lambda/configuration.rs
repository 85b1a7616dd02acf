//! How a function is configured, in the form that Lambda takes it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use trueup_core::Marked;

use super::bindings::Bound;
use super::function::{Architecture, Function, FunctionOutput};

/// All that one call sets at once.
pub(super) struct Configuration<'a> {
    function: &'a Function,
    environment: BTreeMap<String, Marked<String>>,
    log_group: String,
}

/// The log group that a function writes to by itself.
pub(super) fn own_log_group(function: &str) -> String {
    format!("/aws/lambda/{function}")
}

impl Function {
    /// What the program says and what is bound; the program's own variables count more.
    pub(super) fn configuration(&self, name: &str, bound: &Bound) -> Configuration<'_> {
        let mut environment = bound.environment.clone();
        environment.extend(self.environment.clone());
        let log_group = self.log_group.clone().unwrap_or_else(|| own_log_group(name));
        Configuration { function: self, environment, log_group }
    }
}

impl Configuration<'_> {
    pub(super) fn is_as_in(&self, seen: &FunctionOutput) -> bool {
        let wanted = self.function;
        let texts = |variables: &BTreeMap<String, Marked<String>>| -> Vec<(String, String)> {
            variables.iter().map(|(name, value)| (name.clone(), value.expose().clone())).collect()
        };
        wanted.role == seen.role
            && wanted.runtime == seen.runtime
            && wanted.handler == seen.handler
            && wanted.description == seen.description
            && wanted.timeout == seen.timeout
            && wanted.memory_size == seen.memory_size
            && wanted.layers == seen.layers
            && self.log_group == seen.log_group
            && texts(&self.environment) == texts(&seen.environment)
    }

    /// The configuration as Lambda takes it, to create a function or to change one.
    pub(super) fn to_json(&self) -> Value {
        let wanted = self.function;
        let variables: BTreeMap<&String, &String> =
            self.environment.iter().map(|(name, value)| (name, value.expose())).collect();
        json!({
            "Role": wanted.role,
            "Runtime": wanted.runtime,
            "Handler": wanted.handler,
            "Description": wanted.description,
            "Timeout": wanted.timeout,
            "MemorySize": wanted.memory_size,
            "Layers": wanted.layers,
            "Environment": { "Variables": variables },
            "LoggingConfig": { "LogGroup": self.log_group },
        })
    }
}

impl Architecture {
    pub(super) fn name(self) -> &'static str {
        match self {
            Architecture::X86 => "x86_64",
            Architecture::Arm => "arm64",
        }
    }
}
