//! Functions that providers offer: `provider::aws::arn_parse`.

use trueup_core::{Type, Value};
use trueup_program::FunctionCall;

use super::{Evaluation, Instance};

/// How the name of such a function begins.
const START: &str = "provider::";

/// Whether a function is a provider's.
pub(super) fn is_of_provider(name: &str) -> bool {
    name.starts_with(START)
}

impl Evaluation<'_> {
    /// The result of a function by the name that a module gives it; unknown while its answer is missing.
    pub(super) fn call_function(
        &self,
        instance: &Instance,
        name: &str,
        arguments: &[Value],
    ) -> Result<Value, String> {
        let (local, function) = name
            .strip_prefix(START)
            .and_then(|name| name.split_once("::"))
            .ok_or("a provider's function is named `provider::NAME::FUNCTION`")?;
        let provider = self.world.builtin.meant(&instance.node.module, local);
        let call = FunctionCall { provider, function: function.into(), arguments: arguments.to_vec() };
        self.scope.answer(&call).unwrap_or_else(|| {
            self.miss();
            Ok(Value::unknown(Type::Any))
        })
    }
}
