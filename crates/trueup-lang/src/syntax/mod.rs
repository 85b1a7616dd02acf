//! From text to trees.
//!
//! [`parse_source`] takes the bytes of a file, checks that they are text of bearable size, enters the text in the source
//! map, and reads it as native syntax or, where the name ends in `.json`, as JSON. Both give the same [`Body`]; what
//! JSON leaves open, which names are blocks and how many labels they have, is settled by [`Body::shaped`].
//!
//! The parser is our own, recursive descent straight over the bytes (`parser/`): it tells several errors of a file, each
//! with its range, it is linear in the length of the text, it takes more stack for what nests deeply, and it refuses what
//! nests beyond a bound.
//!
//! Nothing here evaluates anything, and nothing here knows what a resource is.

mod body;
mod expression;
mod json;
mod parser;
mod private;
mod source;
mod traversal;

use trueup_core::Diagnostics;

pub use body::{Attribute, Block, BlockShape, Body, BodyShape, Item, Label, Name};
pub(crate) use expression::spanning;
pub use expression::{
    Access, AccessKind, Binary, BinaryOperator, Branch, Call, Conditional, Expr, ExprKind, For, ForResult,
    Literal, ObjectItem, ObjectKey, Operation, Splat, SplatStyle, Template, TemplatePart, Traversal,
    UnaryOperator,
};
pub use json::parse_json_body;
pub(crate) use parser::parse_expression_at;
pub use parser::{DEPTH_MAX, ERRORS_MAX, parse_body, parse_expression, parse_template};
pub(crate) use private::{conceal, parse_private_expression, parse_private_source};
pub(crate) use source::{Entered, enter_source};
pub use source::{FILE_BYTES_MAX, parse_source};
pub use traversal::{StaticStep, StaticTraversal};

/// A tree, and what was wrong with the text. The tree holds all that could be read beside the errors.
#[derive(Clone, Debug)]
pub struct Parsed<T> {
    /// What was read.
    pub tree: T,
    /// What was wrong.
    pub diagnostics: Diagnostics,
}
