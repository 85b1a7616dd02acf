//! Functions and their aliases.

mod alias;
mod archive;
mod bindings;
mod configuration;
mod function;
mod invokers;
mod seen;

pub use alias::{Alias, AliasOutput};
pub use bindings::{Access, Grant};
pub use function::{Architecture, Function, FunctionOutput};
pub use invokers::Invoker;

/// The version of Lambda's API that paths begin with.
const VERSION: &str = "2015-03-31";

/// The version in the paths of tags.
const TAGS_VERSION: &str = "2017-03-31";

/// Where API Gateway calls a function or an alias.
fn invoke_arn(region: &str, arn: &str) -> String {
    let partition = arn.split(':').nth(1).unwrap_or("aws");
    format!("arn:{partition}:apigateway:{region}:lambda:path/2015-03-31/functions/{arn}/invocations")
}

/// The name of a function that a program gives by its name or its ARN, with or without a version.
fn function_name(identifier: &str) -> &str {
    match identifier.split_once(":function:") {
        Some((_, rest)) => rest.split(':').next().unwrap_or(rest),
        None => identifier.split(':').next().unwrap_or(identifier),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_in_several_ways() {
        let arn = "arn:aws:lambda:eu-central-1:123456789012:function:jobs";
        for identifier in ["jobs", arn, &format!("{arn}:live"), "jobs:3", "123456789012:function:jobs"] {
            assert_eq!(function_name(identifier), "jobs", "{identifier}");
        }
        assert_eq!(
            invoke_arn("eu-central-1", arn),
            format!("arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/{arn}/invocations")
        );
    }
}
