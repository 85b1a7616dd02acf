//! CEL, the Common Expression Language, as its [language definition] has it.
//!
//! Text becomes tokens (`lexer`, `literal`), a syntax tree (`parser`, `syntax`), and a program whose names and functions
//! are resolved (`compile`). A program is evaluated as often as needed (`eval`), over values that are cheap to clone
//! (`value`, `map`, `time`). `operators` and `functions` say what can be done with them.
//!
//! Deliberate limits: no protocol buffer messages, no named time zones, no optional syntax such as `a.?b`. Each is an
//! error that says so. There is no type checker; a mismatch of types is found when it is evaluated.
//!
//! Input never panics and never exhausts the stack: the parser bounds how deep expressions nest.
//!
//! [language definition]: https://github.com/google/cel-spec/blob/master/doc/langdef.md

mod compile;
mod error;
mod eval;
mod functions;
mod lexer;
mod literal;
mod map;
mod operators;
mod parser;
mod syntax;
mod time;
mod value;

pub use error::CelError;
pub use map::{Key, Map};
pub use time::{Duration, Timestamp};
pub use value::{Type, Value};

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    text: String,
    root: compile::Node,
    /// For each declared variable, whether the expression refers to it.
    referenced: Vec<bool>,
}

impl Program {
    /// Compiles an expression over these variables.
    pub fn compile(text: &str, variables: &[&str]) -> Result<Program, CelError> {
        let tree = parser::parse(text)?;
        let (root, referenced) = compile::compile(&tree, variables)?;
        Ok(Program { text: text.to_owned(), root, referenced })
    }

    /// Whether the expression refers to the variable at this index. A variable of a macro that shadows it does not.
    pub fn refers_to(&self, variable: usize) -> bool {
        self.referenced.get(variable).is_some_and(|referenced| *referenced)
    }

    /// Evaluates the expression. `variables` are in the order in which they were declared.
    pub fn evaluate(&self, variables: &[Value]) -> Result<Value, CelError> {
        assert!(variables.len() >= self.referenced.len(), "every declared variable has a value");
        eval::evaluate(&self.root, variables)
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}
