//! From expressions to values, as far as they are known.
//!
//! [`evaluate`] walks the tree once. What is wrong is told and gives way to an unknown value of any type, which takes
//! part in nothing, so that one mistake is told once and others beside it are still found. Unknown values give unknown
//! results of the best type known; secret ones give secret results.
//!
//! The semantics are Terraform's, and a table of cases is checked against it. Where ours differ on purpose:
//!
//! - dividing by zero is an error, not an infinite number
//! - `can` of a secret is secret, and so is what `try` falls back to after one
//! - `&&` and `||` leave their right operand alone where the left one decides
//! - decimals are exact: results are rounded only beyond 154 digits
//!
//! The book lists all of them (`docs/language.md`).

mod access;
mod arithmetic;
mod call;
mod collections;
mod conditional;
mod environment;
mod equality;
mod operators;
mod quoting;
mod references;
mod template;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Excess, KnownSecrets, Marks, Origin, Type, Value};

pub use environment::{Constants, Environment, Moment, Reads, Reference, Resolved, Surroundings};
pub(crate) use references::calls_functions;
pub use references::{references, visit_traversals};

use arithmetic::ArithmeticError;
pub(crate) use arithmetic::rounded;
pub(crate) use equality::equal;

use crate::limits::deep_at;
use crate::normal_form::normal_form;
use crate::syntax::{Expr, ExprKind, Literal};

/// The outcome of an evaluation.
#[derive(Clone, Debug)]
pub struct Evaluated {
    /// The value; unknown in place of what was wrong.
    pub value: Value,
    /// All that was wrong.
    pub diagnostics: Diagnostics,
}

/// The value of an expression.
pub fn evaluate(expression: &Expr, environment: &dyn Environment) -> Evaluated {
    evaluate_with(expression, environment, &[])
}

/// The value of an expression in which further names are known, before those of the environment.
pub fn evaluate_with(
    expression: &Expr,
    environment: &dyn Environment,
    names: &[(SmolStr, Value)],
) -> Evaluated {
    let mut evaluator = Evaluator::new(environment);
    evaluator.scope.extend_from_slice(names);
    let mut value = evaluator.value(expression);
    if let Some(excess) = value.excess() {
        value = evaluator.too_large(expression.origin, excess);
    }
    Evaluated { value, diagnostics: evaluator.told() }
}

/// One walk over a tree.
pub(crate) struct Evaluator<'e> {
    environment: &'e dyn Environment,
    /// The names of for expressions, the innermost last.
    scope: Vec<(SmolStr, Value)>,
    /// The elements of the splats around, the innermost last.
    splat_items: Vec<Value>,
    diagnostics: Diagnostics,
    /// How many elements for expressions may still go through; `None` once it was told that there are too many.
    elements_left: Option<usize>,
    /// The marks of the collections that are being gone through: their elements do not bear them.
    ambient: Marks,
    /// The marks of all that was evaluated and may decide whether something can be.
    marks_seen: Marks,
    /// Secrets that were evaluated, for the search through what is told.
    secrets_seen: Vec<Value>,
    /// How many levels deep the walk is.
    depth: usize,
}

/// How many secrets are kept to be searched for.
const SECRETS_SEEN_MAX: usize = 4096;

/// How many elements the for expressions of one evaluation may go through: nested ones multiply.
const ELEMENTS_MAX: usize = 2_000_000;

impl<'e> Evaluator<'e> {
    fn new(environment: &'e dyn Environment) -> Self {
        Evaluator {
            environment,
            scope: Vec::new(),
            splat_items: Vec::new(),
            diagnostics: Diagnostics::new(),
            elements_left: Some(ELEMENTS_MAX),
            ambient: Marks::NONE,
            marks_seen: Marks::NONE,
            secrets_seen: Vec::new(),
            depth: 0,
        }
    }

    fn value(&mut self, expression: &Expr) -> Value {
        let value = match &expression.kind {
            ExprKind::Literal(literal) => literal_value(literal),
            _ => {
                self.depth += 1;
                let value = deep_at(self.depth, || self.value_of(expression));
                self.depth -= 1;
                value
            }
        };
        self.note(&value);
        if value.origin().is_none() { value.with_origin(expression.origin) } else { value }
    }

    fn value_of(&mut self, expression: &Expr) -> Value {
        match &expression.kind {
            ExprKind::Literal(literal) => literal_value(literal),
            ExprKind::Template(template) => self.template(&template.parts, expression.origin),
            ExprKind::Traversal(traversal) => self.traversal(traversal, expression.origin),
            ExprKind::Access(source, steps) => {
                let source = self.value(source);
                self.accesses(source, steps)
            }
            ExprKind::Splat(splat) => self.splat(splat),
            ExprKind::SplatItem => match self.splat_items.last() {
                Some(item) => item.clone(),
                // The parser puts these inside splats only.
                None => self.mistake(expression.origin, "there is no element to take this of"),
            },
            ExprKind::Call(call) => self.call(call, expression.origin),
            ExprKind::Unary(operator, operand) => self.unary(*operator, operand),
            ExprKind::Binary(chain) => self.binary(chain),
            ExprKind::Conditional(conditional) => self.conditional(conditional),
            ExprKind::For(it) => self.for_expression(it),
            ExprKind::Tuple(items) => {
                Value::tuple(items.iter().map(|item| self.value(item)).collect::<Vec<_>>())
            }
            ExprKind::Object(items) => self.object(items),
            ExprKind::Parentheses(inner) => self.value(inner),
        }
    }

    fn note(&mut self, value: &Value) {
        self.marks_seen |= value.marks();
        if value.contains_secret() && self.secrets_seen.len() < SECRETS_SEEN_MAX {
            self.secrets_seen.push(value.clone());
        }
    }

    /// All that is wrong. No message quotes a secret; should one do so all the same, it is found here.
    fn told(mut self) -> Diagnostics {
        if !self.diagnostics.is_empty() && !self.secrets_seen.is_empty() {
            let known = KnownSecrets::default();
            known.learn(&self.secrets_seen);
            known.scrub_diagnostics(&mut self.diagnostics);
        }
        self.diagnostics
    }

    /// Evaluates without telling what is wrong, and says whether anything was.
    fn attempt(&mut self, expression: &Expr) -> (Value, Diagnostics) {
        let before = std::mem::take(&mut self.diagnostics);
        let value = self.value(expression);
        let told = std::mem::replace(&mut self.diagnostics, before);
        (value, told)
    }

    /// The same, and the marks of what decided whether anything was wrong.
    fn attempt_marked(&mut self, expression: &Expr) -> (Value, Diagnostics, Marks) {
        let before = std::mem::replace(&mut self.marks_seen, self.ambient);
        let (value, told) = self.attempt(expression);
        let marks = std::mem::replace(&mut self.marks_seen, before);
        self.marks_seen |= marks;
        (value, told, marks)
    }

    fn too_large(&mut self, origin: Origin, excess: Excess) -> Value {
        let diagnostic = Diagnostic::error(format!("this value {excess}"));
        self.tell(
            origin,
            match excess {
                Excess::Depth => diagnostic,
                Excess::Positions | Excess::Bytes => diagnostic
                    .hint("what is used twice counts twice: values made of each other double at every step"),
            },
        )
    }

    fn mistake(&mut self, origin: Origin, summary: impl Into<String>) -> Value {
        self.tell(origin, Diagnostic::error(summary))
    }

    /// Tells what is wrong, and gives what stands in for the value.
    fn tell(&mut self, origin: Origin, mut diagnostic: Diagnostic) -> Value {
        diagnostic.origin.get_or_insert(origin);
        self.diagnostics.push(diagnostic);
        Value::unknown(Type::Any)
    }
}

fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::Null => Value::NULL,
        Literal::Bool(truth) => Value::from(*truth),
        Literal::Number(number) => Value::number(number.clone()),
        Literal::String(text) => Value::string(normal_form(text)),
    }
}
