//! Traversals that are known without evaluation: `aws_instance.web[0].id`, as `depends_on`, `moved` and the search for
//! references need them.

use std::fmt;

use smol_str::SmolStr;
use trueup_core::{FileId, Origin};

use super::body::Name;
use super::expression::{Access, AccessKind, Expr, ExprKind, Literal, Traversal};
use super::parser;

/// A root name and steps that are written out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticTraversal {
    /// The name at the start.
    pub root: Name,
    /// The steps, up to the first one that has to be computed.
    pub steps: Vec<StaticStep>,
    /// Whether these are all steps, and none had to be left out because it is computed.
    pub complete: bool,
    /// From the root to the last step given here.
    pub origin: Origin,
}

/// A step that is written out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum StaticStep {
    /// `.name`.
    Attribute(SmolStr),
    /// `["key"]`.
    Key(SmolStr),
    /// `[0]` or `.0`.
    Index(u64),
}

impl Traversal {
    /// Whether it has the form of a provider's name with its alias: `aws.west`.
    pub fn is_provider_name(&self) -> bool {
        matches!(self.known_part().steps.as_slice(), [StaticStep::Attribute(_)]) && self.steps.len() == 1
    }

    /// The root and the steps that are written out.
    pub fn known_part(&self) -> StaticTraversal {
        let mut origin = self.root.origin;
        let mut steps = Vec::with_capacity(self.steps.len());
        for access in &self.steps {
            let Some(step) = static_step(access) else { break };
            origin.end = origin.end.max(access.origin.end);
            steps.push(step);
        }
        let complete = steps.len() == self.steps.len();
        StaticTraversal { root: self.root.clone(), steps, complete, origin }
    }
}

impl Expr {
    /// The expression as a traversal without computed steps. A literal string counts as the traversal written in it,
    /// because JSON has no other way to write one, and old programs quote theirs.
    pub fn as_static_traversal(&self) -> Option<StaticTraversal> {
        match &self.kind {
            ExprKind::Traversal(traversal) => Some(traversal.known_part()).filter(|known| known.complete),
            _ => match self.as_quoted_expression()? {
                quoted @ Expr { kind: ExprKind::Traversal(_), .. } => quoted.as_static_traversal(),
                _ => None,
            },
        }
    }

    /// The expression that is written in a literal string.
    pub(crate) fn as_quoted_expression(&self) -> Option<Expr> {
        match &self.kind {
            ExprKind::Literal(Literal::String(text)) => parser::parse_expression_at(text, self.origin).ok(),
            _ => None,
        }
    }
}

fn static_step(access: &Access) -> Option<StaticStep> {
    match &access.kind {
        AccessKind::Attribute(name) => Some(StaticStep::Attribute(name.clone())),
        AccessKind::Index(Expr { kind: ExprKind::Literal(literal), .. }) => match literal {
            Literal::String(key) => Some(StaticStep::Key(key.clone())),
            Literal::Number(number) => number.as_u64().map(StaticStep::Index),
            Literal::Null | Literal::Bool(_) => None,
        },
        AccessKind::Index(_) => None,
    }
}

impl StaticTraversal {
    /// The file it stands in.
    pub fn file(&self) -> FileId {
        self.origin.file
    }
}

impl fmt::Display for StaticTraversal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root.text)?;
        self.steps.iter().try_for_each(|step| step.fmt(f))
    }
}

impl fmt::Display for StaticStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaticStep::Attribute(name) => write!(f, ".{name}"),
            StaticStep::Key(key) => write!(f, "[{key:?}]"),
            StaticStep::Index(index) => write!(f, "[{index}]"),
        }
    }
}
