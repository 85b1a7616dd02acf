//! Failed reads of data sources that are worth a warning and no more (CHECK-2).

use trueup_core::schema::Block;
use trueup_core::{Diagnostic, Failure, Value};
use trueup_program::ReadFailure;
use trueup_provider::CallContext;

/// What was read. Where a failure is only a warning, it is reported as one, and the outputs are unknown.
pub(crate) fn read_or_warned(
    read: Result<Value, Failure>,
    on_failure: ReadFailure,
    outputs: &Block,
    context: &CallContext,
) -> Result<Value, Failure> {
    match (read, on_failure) {
        (Err(failure), ReadFailure::Warning) => {
            let warning = Diagnostic::warning(format!("cannot read: {}", failure.message));
            context.report_warnings(failure.hints.into_iter().fold(warning, Diagnostic::hint).into());
            Ok(Value::unknown(outputs.implied_type()))
        }
        (read, _) => read,
    }
}
