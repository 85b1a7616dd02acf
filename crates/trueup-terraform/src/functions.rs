//! Functions that providers offer to programs.

use std::collections::BTreeMap;

use prost::Message;
use smol_str::SmolStr;
use trueup_core::{Failure, FailureClass, Type, Value};

use crate::answers::{bad_schema, unreadable, unsendable};
use crate::catalogue::Section;
use crate::client::Client;
use crate::instance::{Effect, Instance};
use crate::protocol::{CallFunctionRequest, Function as Described, function};
use crate::provider::TerraformProvider;
use crate::schema::{SchemaError, read_type};
use crate::wire::{self, WireType};

/// A function of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it takes any number of, at the end.
    pub variadic: Option<Parameter>,
    /// What it gives.
    pub returns: Type,
    /// What it is for, in a line.
    pub summary: String,
    /// What it is for.
    pub doc: String,
    /// Why not to use it any more.
    pub deprecated: Option<String>,
}

/// A parameter of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: SmolStr,
    /// Its type.
    pub ty: Type,
    /// Whether it may be null.
    pub takes_null: bool,
    /// Whether the function is to be called though parts of this are unknown; else what it gives is unknown too.
    pub takes_unknown: bool,
}

impl TerraformProvider {
    /// The functions that the provider offers, by name.
    pub async fn functions(&self) -> Result<BTreeMap<SmolStr, Function>, Failure> {
        let shared = self.shared();
        let mut functions = BTreeMap::new();
        for name in shared.catalogue().await?.names(Section::Functions) {
            if let Some(function) = self.described_function(&name).await? {
                functions.insert(name, function);
            }
        }
        Ok(functions)
    }

    /// The function of this name, if the provider offers it.
    pub(crate) async fn described_function(&self, name: &str) -> Result<Option<Function>, Failure> {
        let shared = self.shared();
        let Some(message) = shared.message(Section::Functions, name).await? else { return Ok(None) };
        let function = Described::decode(message.as_slice()).map_err(Into::into).and_then(read);
        let function =
            function.map_err(|error| bad_schema(shared.name(), &format!("the function {name}"), &error))?;
        Ok(Some(function))
    }

    /// Calls a function. The arguments must have been converted to the types of its parameters.
    pub async fn call_function(
        &self,
        name: &str,
        function: &Function,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        let bare = self.shared().bare().await?;
        call(self.shared().name(), &bare, name, function, arguments).await
    }
}

/// Calls a function of a provider.
pub(crate) async fn call(
    provider: &str,
    instance: &Instance,
    name: &str,
    function: &Function,
    arguments: &[Value],
) -> Result<Value, Failure> {
    let types =
        function.parameters.iter().chain(std::iter::repeat_n(&function.variadic, arguments.len()).flatten());
    let encoded: Result<Vec<_>, Failure> = arguments
        .iter()
        .zip(types)
        .map(|(argument, parameter)| {
            wire::encode(argument, &WireType::from(&parameter.ty)).map_err(|error| {
                unsendable(provider, &format!("the argument `{}` of {name}", parameter.name), &error)
            })
        })
        .collect();
    let request = CallFunctionRequest { name: name.to_owned(), arguments: encoded? };
    if request.arguments.len() != arguments.len() {
        let message = format!("{name} takes {} arguments", function.parameters.len());
        return Err(Failure::new(FailureClass::Invalid, message));
    }
    let answer =
        instance.call("call a function", Effect::Looks, None, request, Client::call_function).await?;
    if let Some(error) = answer.error {
        let argument = error.function_argument.and_then(|at| usize::try_from(at).ok());
        let argument = argument.and_then(|at| function.parameters.get(at));
        let place = argument.map_or(String::new(), |it| format!("argument `{}`: ", it.name));
        return Err(Failure::new(FailureClass::Invalid, format!("{place}{}", error.text)));
    }
    let result = answer.result.unwrap_or_default();
    wire::decode(&result, &WireType::from(&function.returns))
        .map_err(|error| unreadable(provider, &format!("what {name} gives"), &error))
}

fn read(described: Described) -> Result<Function, SchemaError> {
    let parameter = |it: function::Parameter| {
        Ok::<_, SchemaError>(Parameter {
            ty: read_type(&it.name, &it.r#type)?,
            name: it.name.into(),
            takes_null: it.allow_null_value,
            takes_unknown: it.allow_unknown_values,
        })
    };
    Ok(Function {
        parameters: described.parameters.into_iter().map(parameter).collect::<Result<_, _>>()?,
        variadic: described.variadic_parameter.map(parameter).transpose()?,
        returns: read_type("return", &described.r#return.unwrap_or_default().r#type)?,
        summary: described.summary,
        doc: described.description,
        deprecated: Some(described.deprecation_message).filter(|message| !message.is_empty()),
    })
}
