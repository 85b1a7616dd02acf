//! How a function is configured, in the form that Lambda takes it.

use std::collections::BTreeMap;

use aws_sdk_lambda::operation::create_function::builders::CreateFunctionFluentBuilder;
use aws_sdk_lambda::operation::update_function_configuration::builders::UpdateFunctionConfigurationFluentBuilder;
use aws_sdk_lambda::types::{Environment, LoggingConfig, Runtime};
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

    pub(super) fn creating(self, call: CreateFunctionFluentBuilder) -> CreateFunctionFluentBuilder {
        let (environment, logging) = self.parts();
        let wanted = self.function;
        call.role(&wanted.role)
            .runtime(Runtime::from(wanted.runtime.as_str()))
            .handler(&wanted.handler)
            .description(&wanted.description)
            .timeout(number(wanted.timeout))
            .memory_size(number(wanted.memory_size))
            .set_layers(Some(wanted.layers.clone()))
            .environment(environment)
            .logging_config(logging)
    }

    pub(super) fn updating(
        self,
        call: UpdateFunctionConfigurationFluentBuilder,
    ) -> UpdateFunctionConfigurationFluentBuilder {
        let (environment, logging) = self.parts();
        let wanted = self.function;
        call.role(&wanted.role)
            .runtime(Runtime::from(wanted.runtime.as_str()))
            .handler(&wanted.handler)
            .description(&wanted.description)
            .timeout(number(wanted.timeout))
            .memory_size(number(wanted.memory_size))
            .set_layers(Some(wanted.layers.clone()))
            .environment(environment)
            .logging_config(logging)
    }

    fn parts(&self) -> (Environment, LoggingConfig) {
        let variables = self.environment.iter().map(|(name, value)| (name.clone(), value.expose().clone()));
        let environment = Environment::builder().set_variables(Some(variables.collect())).build();
        (environment, LoggingConfig::builder().log_group(&self.log_group).build())
    }
}

/// The schema keeps these within what Lambda takes.
fn number(number: u64) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

impl From<Architecture> for aws_sdk_lambda::types::Architecture {
    fn from(architecture: Architecture) -> Self {
        match architecture {
            Architecture::X86 => Self::X8664,
            Architecture::Arm => Self::Arm64,
        }
    }
}
