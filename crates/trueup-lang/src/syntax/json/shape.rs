//! Properties of a JSON object read as blocks.
//!
//! A block with labels is an object whose keys are the first label, holding objects whose keys are the second, and so
//! on. At each level, and for the body itself, a list stands for several of what it holds.

use trueup_core::{Diagnostics, Origin};

use super::reader::error;
use super::{attributes, key_name};
use crate::syntax::body::{Attribute, Block, BlockShape, Body, BodyShape, Item, Label};
use crate::syntax::expression::{Expr, ExprKind, Literal};

pub(in crate::syntax) fn shape(body: Body, shape: BodyShape<'_>, diagnostics: &mut Diagnostics) -> Body {
    let mut items = Vec::with_capacity(body.items.len());
    for item in body.items {
        let attribute = match item {
            Item::Attribute(attribute) => attribute,
            block @ Item::Block(_) => {
                items.push(block);
                continue;
            }
        };
        match shape.blocks.iter().find(|block| attribute.name.text == block.name) {
            Some(block) => Reading { attribute: &attribute, block, items: &mut items, diagnostics }
                .level(attribute.value.clone(), &mut Vec::new()),
            None => items.push(Item::Attribute(attribute)),
        }
    }
    Body { items, origin: body.origin, json: false }
}

struct Reading<'a> {
    attribute: &'a Attribute,
    block: &'a BlockShape<'a>,
    items: &'a mut Vec<Item>,
    diagnostics: &'a mut Diagnostics,
}

impl Reading<'_> {
    /// One level of labels, or the body once all labels are there.
    fn level(&mut self, value: Expr, labels: &mut Vec<Label>) {
        let origin = value.origin;
        match value.kind {
            // As if it were not there.
            ExprKind::Literal(Literal::Null) => {}
            ExprKind::Tuple(parts) => parts.into_iter().for_each(|part| self.level(part, labels)),
            ExprKind::Object(entries) if labels.len() == self.block.labels => {
                self.push(attributes(entries), labels, origin);
            }
            ExprKind::Object(entries) => {
                for entry in entries {
                    let name = key_name(entry.key);
                    labels.push(Label { text: name.text, origin: name.origin });
                    self.level(entry.value, labels);
                    labels.pop();
                }
            }
            _ => {
                let missing = self.block.labels - labels.len();
                let wanted = match missing {
                    0 => "an object with its content".to_owned(),
                    1 => "an object whose keys are its label".to_owned(),
                    _ => format!("objects whose keys are its {missing} labels"),
                };
                self.diagnostics.push(error(origin, format!("the block `{}` is {wanted}", self.block.name)));
            }
        }
    }

    fn push(&mut self, items: Vec<Item>, labels: &[Label], origin: Origin) {
        let name = self.attribute.name.clone();
        let header = labels.last().map_or(name.origin, |label| label.origin);
        let body = Body { items, origin, json: true };
        self.items.push(Item::Block(Block { name, labels: labels.to_vec(), body, header, origin }));
    }
}
