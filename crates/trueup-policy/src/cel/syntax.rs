//! The syntax tree.

use smol_str::SmolStr;

use super::error::Span;
use super::operators::{BinaryOperator, UnaryOperator};
use super::value::Value;

/// An expression as it is written; macros are still calls.
#[derive(Debug)]
pub(super) struct Expr {
    /// Boxed, so that an expression is small to pass around: the parser's stack is bounded by it.
    pub(super) kind: Box<ExprKind>,
    pub(super) span: Span,
    /// Levels of the tree from here down, so that its depth is bounded.
    pub(super) height: usize,
}

#[derive(Debug)]
pub(super) enum ExprKind {
    Literal(Value),
    /// A name. With a leading dot, no variable of a macro shadows it.
    Name {
        name: SmolStr,
        absolute: bool,
    },
    Select {
        operand: Expr,
        field: SmolStr,
    },
    Index {
        operand: Expr,
        index: Expr,
    },
    Call {
        function: SmolStr,
        receiver: Option<Expr>,
        arguments: Vec<Expr>,
        name_span: Span,
    },
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Unary {
        operator: UnaryOperator,
        operand: Expr,
    },
    Binary {
        operator: BinaryOperator,
        left: Expr,
        right: Expr,
        operator_span: Span,
    },
    /// Two or more terms. One node for all of them: generated conditions are long.
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Conditional {
        condition: Expr,
        then: Expr,
        otherwise: Expr,
    },
}

impl Expr {
    /// The expression as a dotted name, such as `google.protobuf.Duration`.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &*self.kind {
            ExprKind::Name { name, .. } => Some(name.to_string()),
            ExprKind::Select { operand, field } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }
}
