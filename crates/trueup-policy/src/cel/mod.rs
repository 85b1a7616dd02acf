//! CEL, the Common Expression Language, as its [language definition] has it.
//!
//! Text becomes tokens (`lexer`, `literal`), a syntax tree (`parser`, `syntax`), and a program whose names and functions
//! are resolved (`compile`). A program is evaluated as often as needed (`eval`), over values that are cheap to clone
//! (`value`, `map`, `time`). `operators` and `functions` say what can be done with them.
//!
//! Deliberate limits: no protocol buffer messages, no named time zones, no optional syntax such as `a.?b`. Each is an
//! error that says so. There is no type checker; a mismatch of types is found when it is evaluated.
//!
//! A value may be unknown, or hold unknown parts. What an expression can't tell without them is unknown too: an error that
//! [`CelError::is_unknown`] tells apart. As with any error, `&&` and `||` ignore it where another term decides.
//!
//! Input never panics and never exhausts the stack: the parser bounds how deep expressions nest, `depth` how deep the
//! values do that they make. An evaluation takes a
//! bounded number of steps ([`Steps`]).
//!
//! [language definition]: https://github.com/google/cel-spec/blob/master/doc/langdef.md

mod compile;
mod depth;
mod error;
mod eval;
mod functions;
mod lexer;
mod literal;
mod map;
mod operators;
mod parser;
mod steps;
mod syntax;
mod time;
mod value;

pub use error::CelError;
pub use map::{Key, Map};
pub use steps::Steps;
pub use time::{Duration, Timestamp};
pub use value::{Type, Value};

/// A compiled expression.
#[derive(Debug)]
pub struct Program {
    text: String,
    root: compile::Node,
    /// For each declared variable, how the expression refers to it.
    referenced: Vec<compile::Reference>,
}

impl Program {
    /// Compiles an expression over these variables.
    pub fn compile(text: &str, variables: &[&str]) -> Result<Program, CelError> {
        let tree = parser::parse(text)?;
        let (root, referenced) = compile::compile(&tree, variables)?;
        depth::check(&root)?;
        Ok(Program { text: text.to_owned(), root, referenced })
    }

    /// Whether the expression refers to the variable at this index. A variable of a macro that shadows it does not.
    pub fn refers_to(&self, variable: usize) -> bool {
        self.referenced.get(variable).is_some_and(|it| it.whole || !it.fields.is_empty())
    }

    /// Whether the value of the expression may depend on this field of the variable at this index.
    pub fn refers_to_field(&self, variable: usize, field: &str) -> bool {
        self.referenced.get(variable).is_some_and(|it| it.whole || it.fields.contains(field))
    }

    /// Evaluates the expression. `variables` are in the order in which they were declared.
    pub fn evaluate(&self, variables: &[Value]) -> Result<Value, CelError> {
        self.evaluate_within(variables, &Steps::new(Steps::DEFAULT_MAX))
    }

    /// The same within a budget of the caller's.
    pub fn evaluate_within(&self, variables: &[Value], steps: &Steps) -> Result<Value, CelError> {
        assert!(variables.len() >= self.referenced.len(), "every declared variable has a value");
        eval::evaluate(&self.root, variables, steps)
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}
