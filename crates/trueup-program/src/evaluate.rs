//! Evaluation: from expressions to values, as far as they are known.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Marks, Type, Value};

use crate::expression::{Expression, Node, Place, Reference};
use crate::function_call::{FunctionAnswer, FunctionCall};

/// What evaluation asks of its surroundings.
pub trait Scope {
    /// The value of a reference, unknown as far as it is not settled; `None` if there is no such output.
    fn resolve(&self, reference: &Reference) -> Option<Value>;

    /// Whether what is evaluated now is carried out, rather than planned: only then are there a time and chance.
    fn is_final(&self) -> bool {
        false
    }

    /// Hears of the values that others are made of. Their secrets may come back without the text around them.
    fn report_sources(&self, _values: &[Value]) {}

    /// The answer to a call of a provider's function; `None` while it is missing, which makes the result unknown.
    fn answer(&self, _call: &FunctionCall) -> Option<FunctionAnswer> {
        None
    }

    /// Whether marks only trace where values go, so that they say nothing about secrets.
    fn is_tracing(&self) -> bool {
        false
    }
}

/// The outcome of an evaluation.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The value; null in place of what was wrong.
    pub value: Value,
    /// All that was wrong.
    pub diagnostics: Diagnostics,
}

impl Expression {
    /// The value of the expression. Unknown arguments make a function's result unknown without a call (UNKNOWN-5);
    /// a genuine mistake is found even beside unknown values (UNKNOWN-6); marks survive (UNKNOWN-11).
    pub fn evaluate(&self, scope: &dyn Scope) -> Evaluated {
        let mut evaluation = Evaluation { scope, diagnostics: Diagnostics::new() };
        let value = evaluation.value(self);
        Evaluated { value, diagnostics: evaluation.diagnostics }
    }
}

struct Evaluation<'a> {
    scope: &'a dyn Scope,
    diagnostics: Diagnostics,
}

impl Evaluation<'_> {
    fn value(&mut self, expression: &Expression) -> Value {
        let value = match expression.node() {
            Node::Literal(value) => value.clone(),
            Node::Reference(reference) => match self.scope.resolve(reference) {
                Some(value) => value,
                None => self
                    .mistake(expression, format!("{} has no output `{}`", reference.address, reference.path)),
            },
            Node::Part(whole, path) => {
                let whole = self.value(whole);
                match whole.at(path) {
                    Some(part) => part,
                    None => {
                        self.mistake(expression, format!("there is no `{path}` in {}", whole.kind_name()))
                    }
                }
            }
            Node::List(items) => Value::list(self.values(items)),
            Node::Object(entries) => Value::object(self.entries(entries)),
            Node::Map(entries) => Value::map(self.entries(entries)),
            Node::Apply(function, arguments) => {
                let before = self.diagnostics.len();
                let arguments = self.values(arguments);
                if self.diagnostics.len() > before {
                    return Value::NULL;
                }
                let marks = arguments.iter().fold(Marks::NONE, |marks, it| marks | it.all_marks());
                self.scope.report_sources(&arguments);
                let result = if arguments.iter().all(Value::is_wholly_known) {
                    match function.call(&arguments) {
                        Ok(value) => value,
                        Err(error) => self.mistake(expression, format!("a computed value {error}")),
                    }
                } else {
                    Value::unknown(function.result.clone())
                };
                result.with_marks(marks)
            }
            Node::Computed(computed) => {
                let Evaluated { value, diagnostics } = computed.evaluate(self.scope);
                self.diagnostics.extend(diagnostics);
                value
            }
            Node::Invalid(error) => self.mistake(expression, format!("a value {error}")),
        };
        match expression.place() {
            Some(Place::Source(origin)) if value.origin().is_none() => value.with_origin(origin),
            _ => value,
        }
    }

    fn values(&mut self, expressions: &[Expression]) -> Vec<Value> {
        expressions.iter().map(|expression| self.value(expression)).collect()
    }

    fn entries(&mut self, entries: &[(SmolStr, Expression)]) -> Vec<(SmolStr, Value)> {
        entries.iter().map(|(name, expression)| (name.clone(), self.value(expression))).collect()
    }

    fn mistake(&mut self, expression: &Expression, summary: String) -> Value {
        let mut diagnostic = Diagnostic::error(summary);
        if let Some(Place::Source(origin)) = expression.place() {
            diagnostic.origin = Some(origin);
        }
        self.diagnostics.push(diagnostic);
        Value::NULL
    }
}

/// The scope in which every reference is still unknown, as before anything was planned.
impl Scope for () {
    fn resolve(&self, _reference: &Reference) -> Option<Value> {
        Some(Value::unknown(Type::Any))
    }
}
