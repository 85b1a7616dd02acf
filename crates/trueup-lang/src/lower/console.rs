//! Expressions that people try out.

use trueup_core::Value;
use trueup_front_end::{BuildRequest, InvalidProgram};
use trueup_program::Scope;

use super::StackFolder;
use super::build::Prepared;
use crate::syntax::parse_expression;
use crate::world::{Evaluation, Frame};

impl StackFolder {
    /// The value of an expression as it would stand in the root module. What resources give is as far as it is known.
    pub async fn evaluate(&self, text: &str, request: BuildRequest<'_>) -> Result<Value, InvalidProgram> {
        let Prepared { builder, mut sources, .. } = self.prepare(request).await;
        let file = sources.add("console", text);
        let expression = match parse_expression(text, file) {
            Ok(expression) => expression,
            Err(diagnostics) => return Err(InvalidProgram { diagnostics, sources }),
        };
        let scope = builder.scope();
        let evaluation = Evaluation::new(&builder.world, &scope as &dyn Scope);
        let value = Frame::of_module(&evaluation, &builder.world.root).evaluate(&expression);
        let diagnostics = evaluation.into_told();
        if diagnostics.has_errors() { Err(InvalidProgram { diagnostics, sources }) } else { Ok(value) }
    }
}
