//! Functions as expressions call them: their arguments converted, their answers in time.

use std::sync::Arc;
use std::time::Duration;

use trueup_core::{Failure, FailureClass, Type, Value, convert};
use trueup_provider::{BoxFuture, ProviderFunction};

use crate::functions::{Function, Parameter, call};
use crate::provider::Shared;

/// Functions compute: one that takes this long does not.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// A function of a provider, ready to be called.
pub(crate) struct Called {
    shared: Arc<Shared>,
    name: String,
    function: Function,
}

impl Called {
    pub(crate) fn new(shared: Arc<Shared>, name: &str, function: Function) -> Self {
        Called { shared, name: name.to_owned(), function }
    }

    /// The arguments as the function takes them.
    fn converted(&self, arguments: &[Value]) -> Result<Vec<Value>, String> {
        let Function { parameters, variadic, .. } = &self.function;
        let (given, wanted) = (arguments.len(), parameters.len());
        if given < wanted || (given > wanted && variadic.is_none()) {
            let least = if variadic.is_some() { "at least " } else { "" };
            return Err(format!("it takes {least}{wanted} arguments, and there are {given}"));
        }
        let parameters = parameters.iter().chain(std::iter::repeat_n(variadic, given).flatten());
        arguments.iter().zip(parameters).map(|(argument, parameter)| one(argument, parameter)).collect()
    }
}

fn one(argument: &Value, parameter: &Parameter) -> Result<Value, String> {
    let Parameter { name, ty, takes_null, .. } = parameter;
    if argument.is_null() && !takes_null {
        return Err(format!("the argument `{name}` must not be null"));
    }
    match ty {
        Type::Any => Ok(argument.clone()),
        ty => convert(argument, ty).map_err(|found| {
            let told: Vec<&str> = found.iter().map(|wrong| wrong.message.as_str()).collect();
            format!("the argument `{name}`: {}", told.join("; "))
        }),
    }
}

impl ProviderFunction for Called {
    fn call<'a>(&'a self, arguments: &'a [Value]) -> BoxFuture<'a, Result<Value, Failure>> {
        Box::pin(async {
            let arguments =
                self.converted(arguments).map_err(|why| Failure::new(FailureClass::Invalid, why))?;
            let bare = self.shared.bare().await?;
            let calling = call(self.shared.name(), &bare, &self.name, &self.function, &arguments);
            tokio::time::timeout(ANSWER_WAIT, calling).await.unwrap_or_else(|_| {
                let message = format!("no answer within {} s", ANSWER_WAIT.as_secs());
                Err(Failure::new(FailureClass::Fatal, message))
            })
        })
    }
}
