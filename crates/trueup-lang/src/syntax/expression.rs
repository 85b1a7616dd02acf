//! The tree of an expression.
//!
//! Compact, because a program has hundreds of thousands of these: an [`Expr`] is 48 bytes, everything larger is boxed.
//! Chains of attribute and index access, of operators and of conditionals are flat, not nested, so that their length costs
//! no depth.

use smol_str::SmolStr;
use trueup_core::{Number, Origin};

use super::body::Name;
use crate::limits::deep;

/// An expression and its place.
#[derive(Debug)]
pub struct Expr {
    /// What it consists of.
    pub kind: ExprKind,
    /// Where it stands.
    pub origin: Origin,
}

/// What an expression consists of.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A value written out. A string without interpolation is one of these, however it was quoted.
    Literal(Literal),
    /// Text with interpolations or directives: `"a ${b}"`, a heredoc, a template file.
    Template(Box<Template>),
    /// A name and what is taken of it: `var.list[0].name`.
    Traversal(Box<Traversal>),
    /// What is taken of any other expression: `f(x).name`.
    Access(Box<Expr>, Vec<Access>),
    /// Something taken of each element: `list[*].name`.
    Splat(Box<Splat>),
    /// The element at hand, within [`Splat::each`] only.
    SplatItem,
    /// A function call.
    Call(Box<Call>),
    /// `-x`, `!x`.
    Unary(UnaryOperator, Box<Expr>),
    /// `x + y` and the like.
    Binary(Box<Binary>),
    /// `condition ? x : y`.
    Conditional(Box<Conditional>),
    /// `[for x in xs : …]`, `{for k, v in xs : …}`.
    For(Box<For>),
    /// `[x, y]`.
    Tuple(Vec<Expr>),
    /// `{ a = x, b = y }`.
    Object(Vec<ObjectItem>),
    /// `(x)`. Kept, because an object key in parentheses means something else than one without.
    Parentheses(Box<Expr>),
}

/// A value written out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, exactly as written.
    Number(Number),
    /// Text, unescaped.
    String(SmolStr),
}

/// Text with parts that are computed.
#[derive(Clone, Debug)]
pub struct Template {
    /// The parts in order. A template of one single interpolation is that expression, whatever its type.
    pub parts: Vec<TemplatePart>,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Text as it stands, unescaped and stripped as its neighbours' `~` say. May be empty.
    Text(SmolStr),
    /// `${x}`.
    Interpolation(Expr),
    /// `%{if x}…%{else}…%{endif}`.
    If {
        /// What decides.
        condition: Expr,
        /// The parts if it is true.
        then: Vec<TemplatePart>,
        /// The parts if it is false.
        otherwise: Vec<TemplatePart>,
    },
    /// `%{for k, v in xs}…%{endfor}`.
    For {
        /// The name for the key or index, if one is given.
        key: Option<Name>,
        /// The name for the element.
        value: Name,
        /// What is gone through.
        collection: Expr,
        /// The parts for each element.
        body: Vec<TemplatePart>,
    },
}

/// A root name and what is taken of it.
#[derive(Clone, Debug)]
pub struct Traversal {
    /// The name at the start.
    pub root: Name,
    /// What is taken, step by step.
    pub steps: Vec<Access>,
}

/// One step into a value.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where to.
    pub kind: AccessKind,
    /// Where the step stands, with its dot or brackets.
    pub origin: Origin,
}

/// Where a step leads.
#[derive(Clone, Debug)]
pub enum AccessKind {
    /// `.name`.
    Attribute(SmolStr),
    /// `[x]`, or the old form `.0`.
    Index(Expr),
}

/// Something taken of each element of a list.
#[derive(Clone, Debug)]
pub struct Splat {
    /// The list.
    pub source: Expr,
    /// How it is written.
    pub style: SplatStyle,
    /// What is taken of each; [`ExprKind::SplatItem`] stands for the element.
    pub each: Expr,
}

/// The two ways to write a splat, which differ in how far they reach: `.*` ends before an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplatStyle {
    /// `.*`.
    Attribute,
    /// `[*]`.
    Full,
}

/// A function call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The function, `::` included: `provider::aws::arn_parse`.
    pub name: Name,
    /// What it is called with.
    pub arguments: Vec<Expr>,
    /// Whether the last argument is a list of arguments: `f(xs...)`.
    pub expand_last: bool,
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOperator {
    /// `-`.
    Negate,
    /// `!`.
    Not,
}

/// An operator between two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOperator {
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
}

/// A chain of operators, applied from left to right: `a + b == c` is `(a + b) == c`. However long, it is one level deep.
#[derive(Clone, Debug)]
pub struct Binary {
    /// The first operand.
    pub first: Expr,
    /// What is done with it, in turn; at least one operation.
    pub operations: Vec<Operation>,
}

/// An operator and the operand after it.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The operator.
    pub operator: BinaryOperator,
    /// The operator's place.
    pub operator_origin: Origin,
    /// The operand after it.
    pub right: Expr,
}

/// A choice: `a ? b : c ? d : e`. However many branches it has, it is one level deep.
#[derive(Clone, Debug)]
pub struct Conditional {
    /// The branches; at least one. The first whose condition is true gives the result.
    pub branches: Vec<Branch>,
    /// The result if no condition is true.
    pub otherwise: Expr,
}

/// A condition and the result if it is true.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The condition.
    pub condition: Expr,
    /// The result.
    pub then: Expr,
}

/// A collection made from another.
#[derive(Clone, Debug)]
pub struct For {
    /// The name for the key or index, if one is given.
    pub key: Option<Name>,
    /// The name for the element.
    pub value: Name,
    /// What is gone through.
    pub collection: Expr,
    /// What is made of each element.
    pub result: ForResult,
    /// Which elements are taken; all if there is none.
    pub filter: Option<Expr>,
}

/// What a for expression makes.
#[derive(Clone, Debug)]
pub enum ForResult {
    /// `[for … : value]`.
    Tuple(Expr),
    /// `{for … : key => value}`.
    Object {
        /// The key of each entry.
        key: Expr,
        /// The value of each entry.
        value: Expr,
        /// Whether values under one key are gathered in a list: `value...`.
        grouped: bool,
    },
}

/// An entry of an object.
#[derive(Clone, Debug)]
pub struct ObjectItem {
    /// Its key.
    pub key: ObjectKey,
    /// Its value.
    pub value: Expr,
}

/// The key of an object's entry.
#[derive(Clone, Debug)]
pub enum ObjectKey {
    /// A bare name, which stands for itself.
    Name(Name),
    /// Anything else: a quoted string, a number, an expression in parentheses.
    Expr(Expr),
}

impl Clone for Expr {
    fn clone(&self) -> Self {
        deep(|| Expr { kind: self.kind.clone(), origin: self.origin })
    }
}

/// The place of an expression from its first part to its last.
pub(crate) fn spanning(first: Origin, last: Origin) -> Origin {
    Origin { end: first.end.max(last.end), ..first }
}

impl Expr {
    /// The text of a literal string, parentheses left aside.
    pub fn as_literal_str(&self) -> Option<&str> {
        match &self.without_parentheses().kind {
            ExprKind::Literal(Literal::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The name, if the expression is one bare name: `string`, `all`.
    pub fn as_keyword(&self) -> Option<&str> {
        match &self.kind {
            ExprKind::Traversal(traversal) if traversal.steps.is_empty() => Some(&traversal.root.text),
            _ => None,
        }
    }

    /// The elements, if the expression is a tuple constructor.
    pub fn as_tuple(&self) -> Option<&[Expr]> {
        match &self.kind {
            ExprKind::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if the expression is an object constructor.
    pub fn as_object(&self) -> Option<&[ObjectItem]> {
        match &self.kind {
            ExprKind::Object(items) => Some(items),
            _ => None,
        }
    }

    /// The call, if the expression is one.
    pub fn as_call(&self) -> Option<&Call> {
        match &self.kind {
            ExprKind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The expression inside all parentheses around it.
    pub fn without_parentheses(&self) -> &Expr {
        let mut inner = self;
        while let ExprKind::Parentheses(next) = &inner.kind {
            inner = next;
        }
        inner
    }
}

impl ObjectKey {
    /// Where the key stands.
    pub fn origin(&self) -> Origin {
        match self {
            ObjectKey::Name(name) => name.origin,
            ObjectKey::Expr(expression) => expression.origin,
        }
    }

    /// The key, if it is known without evaluation.
    pub fn as_literal(&self) -> Option<&str> {
        match self {
            ObjectKey::Name(name) => Some(&name.text),
            ObjectKey::Expr(Expr { kind: ExprKind::Literal(Literal::String(text)), .. }) => Some(text),
            ObjectKey::Expr(_) => None,
        }
    }
}

impl BinaryOperator {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Or => "||",
            BinaryOperator::And => "&&",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
        }
    }
}

impl UnaryOperator {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "!",
        }
    }
}
