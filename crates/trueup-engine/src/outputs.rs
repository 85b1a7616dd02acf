//! The stack's outputs.

use trueup_core::{Diagnostics, Value};
use trueup_program::Program;

use crate::call::Caller;
use crate::draft::Draft;
use crate::run_kind::RunKind;

/// The stack's outputs as far as they are known (APPLY-12). A stack that is destroyed has none.
pub(crate) async fn stack_outputs(
    calls: &Caller<'_>,
    program: &Program,
    kind: RunKind,
    draft: &Draft<'_>,
) -> Result<Value, Diagnostics> {
    if kind.is_destroy() {
        return Ok(Value::object::<&str>([]));
    }
    if draft.selection.is_partial() {
        // A part of the stack says nothing about the whole (TARGET-5).
        return Ok(draft.recorded_outputs.clone().unwrap_or_else(|| Value::object::<&str>([])));
    }
    calls.answered(&draft.answers, || evaluated(program, draft)).await
}

fn evaluated(program: &Program, draft: &Draft) -> Result<Value, Diagnostics> {
    let scope = draft.known();
    let mut diagnostics = Diagnostics::new();
    let mut outputs = Vec::new();
    for declared in &program.outputs {
        let evaluated = declared.value.evaluate(&scope);
        diagnostics.extend(evaluated.diagnostics);
        outputs.push((declared.name.clone(), evaluated.value.into_secret_if(declared.secret)));
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(Value::object(outputs)) }
}
