//! How deep the values of an expression may nest.
//!
//! Values are compared and dropped by recursion. The parser bounds how deep an expression nests, but a chain of macros can
//! nest a value deeper with each link. That needs no evaluation to see: every list, map and optional adds one level to
//! what it holds.

use super::compile::{Fold, Node, NodeKind};
use super::error::CelError;

/// More levels than any policy needs, and few enough for a small stack.
const LEVELS_MAX: u32 = 500;

/// Refuses an expression whose values may nest too deep. Levels within the variables are not counted.
pub(super) fn check(root: &Node) -> Result<(), CelError> {
    levels(root, &mut Vec::new()).map(drop)
}

/// An upper bound for the levels of a node's value, given those of the enclosing macros' variables.
fn levels(at: &Node, locals: &mut Vec<u32>) -> Result<u32, CelError> {
    let found = match &*at.kind {
        NodeKind::Constant(_) | NodeKind::Variable(_) => 0,
        NodeKind::Local(distance) => locals[locals.len() - 1 - distance],
        NodeKind::Select { operand, .. } => levels(operand, locals)?,
        NodeKind::Has { operand, .. } | NodeKind::Unary { operand, .. } => nothing(levels(operand, locals)?),
        NodeKind::Matches { text, .. } => nothing(levels(text, locals)?),
        NodeKind::Index { operand, index } => {
            levels(index, locals)?;
            levels(operand, locals)?
        }
        NodeKind::Binary { left, right, .. } => levels(left, locals)?.max(levels(right, locals)?),
        NodeKind::And(terms) | NodeKind::Or(terms) => nothing(deepest(terms, locals)?),
        NodeKind::Conditional { condition, then, otherwise } => {
            levels(condition, locals)?;
            levels(then, locals)?.max(levels(otherwise, locals)?)
        }
        NodeKind::List(elements) => 1 + deepest(elements, locals)?,
        NodeKind::Map(entries) => {
            let keys = deepest(entries.iter().map(|(key, _)| key), locals)?;
            1 + keys.max(deepest(entries.iter().map(|(_, value)| value), locals)?)
        }
        // Some make an optional.
        NodeKind::Call { arguments, .. } => 1 + deepest(arguments, locals)?,
        NodeKind::Comprehension { range, fold } => {
            let range = levels(range, locals)?;
            locals.push(range);
            let made = folded(range, fold, locals);
            locals.pop();
            made?
        }
    };
    match found > LEVELS_MAX {
        true => Err(CelError::new(at.span, format!("the value nests more than {LEVELS_MAX} levels"))),
        false => Ok(found),
    }
}

fn folded(range: u32, fold: &Fold, locals: &mut Vec<u32>) -> Result<u32, CelError> {
    match fold {
        Fold::All(condition) | Fold::Exists(condition) | Fold::ExistsOne(condition) => {
            levels(condition, locals).map(nothing)
        }
        Fold::Filter(condition) => levels(condition, locals).map(|_| 1 + range),
        Fold::Map { condition, element } => {
            condition.iter().try_for_each(|condition| levels(condition, locals).map(drop))?;
            Ok(1 + levels(element, locals)?)
        }
    }
}

fn deepest<'n>(nodes: impl IntoIterator<Item = &'n Node>, locals: &mut Vec<u32>) -> Result<u32, CelError> {
    nodes.into_iter().try_fold(0, |found: u32, node| Ok(found.max(levels(node, locals)?)))
}

/// The levels of a truth value or a number, whatever it is made of.
fn nothing(_: u32) -> u32 {
    0
}
