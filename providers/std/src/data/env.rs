//! The data source `std_env`: an environment variable.

use trueup_core::Marked;
use trueup_provider::{Context, DataSource, Error, Inputs, Outputs, Result};

use crate::surroundings::Surroundings;

/// An environment variable of the process that deploys. A plan that rests on it differs from machine to machine; prefer
/// a variable of the program where you can.
#[derive(Inputs)]
pub struct EnvironmentVariable {
    /// Its name.
    #[trueup(length(min = 1))]
    name: String,
    /// What stands in if it is not set. Without it that is an error.
    default: Option<Marked<String>>,
    /// Whether its value is secret.
    #[trueup(default)]
    secret: bool,
}

/// The value of an environment variable.
#[derive(Outputs)]
pub struct EnvironmentValue {
    /// The value.
    value: Marked<String>,
    /// Whether it is set, rather than standing at its default.
    set: bool,
}

impl DataSource for EnvironmentVariable {
    type Output = EnvironmentValue;
    type Config = Surroundings;

    async fn read(&self, context: &Context<Surroundings>) -> Result<EnvironmentValue> {
        let name = &self.name;
        match (context.config().environment().get(name.as_ref() as &std::ffi::OsStr), &self.default) {
            (Some(value), _) => match value.to_str() {
                Some(value) => {
                    Ok(EnvironmentValue { value: Marked::new(value.to_owned(), self.secret), set: true })
                }
                None => Err(Error::invalid(format!("the environment variable `{name}` is not valid UTF-8"))),
            },
            (None, Some(default)) => {
                let secret = self.secret || default.is_secret();
                Ok(EnvironmentValue { value: Marked::new(default.expose().clone(), secret), set: false })
            }
            (None, None) => Err(Error::not_found(format!("the environment variable `{name}` is not set"))
                .at("name")
                .hint("set it, or give a `default`")),
        }
    }
}
