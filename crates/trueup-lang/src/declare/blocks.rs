//! Reading the words of a block: which attributes and blocks it may have, each at most once, and what they must be.

use smol_str::SmolStr;
use trueup_core::{Diagnostic, Diagnostics, Origin};

use super::{at, suggest};
use crate::syntax::{Attribute, Block, BlockShape, Body, BodyShape, Expr, ExprKind, Item, Label, Literal};

/// The labels of a block, if it has as many as it should.
pub(super) fn labels<'a, const N: usize>(
    block: &'a Block,
    diagnostics: &mut Diagnostics,
) -> Option<&'a [Label; N]> {
    let found = <&[Label; N]>::try_from(block.labels.as_slice());
    if found.is_err() {
        let name = &block.name.text;
        let wanted = match N {
            0 => format!("`{name}` takes no label"),
            1 => format!("`{name}` takes one label: its name"),
            _ => format!("`{name}` takes {N} labels: its type and its name"),
        };
        let example = match N {
            0 => format!("{name} {{ … }}"),
            1 => format!("{name} \"name\" {{ … }}"),
            _ => format!("{name} \"type\" \"name\" {{ … }}"),
        };
        diagnostics.push(at(block.header, wanted).hint(format!("write it as `{example}`")));
    }
    found.ok()
}

/// The words of a block that are read one by one; what is left is unknown.
pub(super) struct Words {
    /// The block, as messages name it: `variable "x"`.
    subject: String,
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    known: Vec<&'static str>,
    /// Where the block begins, to point at when something is missing.
    header: Origin,
}

impl Words {
    /// The words of a block. `nested` are the blocks it may have, which JSON does not tell.
    pub(super) fn of(block: Block, nested: &[BlockShape<'static>], diagnostics: &mut Diagnostics) -> Self {
        let subject = subject(&block);
        let header = block.header;
        Self::of_body(block.body, subject, header, nested, diagnostics)
    }

    pub(super) fn of_body(
        body: Body,
        subject: String,
        header: Origin,
        nested: &[BlockShape<'static>],
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let (mut attributes, mut blocks) = (Vec::new(), Vec::new());
        let json = body.json;
        for item in body.shaped(BodyShape { blocks: nested }, diagnostics).items {
            match item {
                Item::Attribute(attribute) if json && attribute.name.text == "//" => {}
                Item::Attribute(attribute) => attributes.push(attribute),
                Item::Block(block) => blocks.push(block),
            }
        }
        Words { subject, attributes, blocks, known: Vec::new(), header }
    }

    /// Where the block begins, to point at.
    pub(super) fn header(&self) -> Origin {
        self.header
    }

    /// Takes an attribute out.
    pub(super) fn attribute(&mut self, name: &'static str) -> Option<Attribute> {
        self.known.push(name);
        let found = self.attributes.iter().position(|attribute| attribute.name.text == name)?;
        Some(self.attributes.remove(found))
    }

    /// Takes out an expression.
    pub(super) fn expression(&mut self, name: &'static str) -> Option<Expr> {
        self.attribute(name).map(|attribute| attribute.value)
    }

    /// Takes out an expression that must be there.
    pub(super) fn required(&mut self, name: &'static str, diagnostics: &mut Diagnostics) -> Option<Expr> {
        let found = self.expression(name);
        if found.is_none() {
            let summary = format!("missing attribute `{name}` in {}", self.subject);
            diagnostics.push(at(self.header, summary).hint(format!("add `{name} = …`")));
        }
        found
    }

    /// Takes out a text that must be written out.
    pub(super) fn text(&mut self, name: &'static str, diagnostics: &mut Diagnostics) -> Option<SmolStr> {
        let value = self.expression(name)?;
        let text = value.as_literal_str().map(SmolStr::new);
        if text.is_none() {
            diagnostics.push(at(value.origin, format!("`{name}` must be a text without expressions")));
        }
        text
    }

    /// Takes out a bool that must be written out.
    pub(super) fn flag(&mut self, name: &'static str, diagnostics: &mut Diagnostics) -> Option<bool> {
        let value = self.expression(name)?;
        let flag = literal_bool(&value);
        if flag.is_none() {
            diagnostics.push(at(value.origin, format!("`{name}` must be `true` or `false`")));
        }
        flag
    }

    /// Takes out all blocks of a name.
    pub(super) fn blocks(&mut self, name: &'static str) -> Vec<Block> {
        self.known.push(name);
        let (found, left) = std::mem::take(&mut self.blocks).into_iter().partition(|it| it.name.text == name);
        self.blocks = left;
        found
    }

    /// Takes out a block that may stand once.
    pub(super) fn block(&mut self, name: &'static str, diagnostics: &mut Diagnostics) -> Option<Block> {
        let mut found = self.blocks(name).into_iter();
        let first = found.next();
        for again in found {
            let summary = format!("`{name}` stands twice in {}", self.subject);
            let first = first.as_ref().map(|first: &Block| first.name.origin);
            diagnostics.push(at(again.name.origin, summary).repeating(first).hint("put both into one"));
        }
        first
    }

    /// All that was not taken out, as it stands.
    pub(super) fn rest(self) -> Body {
        let items = self.attributes.into_iter().map(Item::Attribute);
        let items = items.chain(self.blocks.into_iter().map(Item::Block)).collect();
        Body { items, origin: self.header, json: false }
    }

    /// Tells of all that was not taken out.
    pub(super) fn finish(self, diagnostics: &mut Diagnostics) {
        let names = self.attributes.iter().map(|it| &it.name).chain(self.blocks.iter().map(|it| &it.name));
        for name in names {
            let diagnostic = at(name.origin, format!("unknown word `{}` in {}", name.text, self.subject));
            diagnostics.push(suggest(diagnostic, &name.text, self.known.iter().copied()));
        }
    }
}

/// A block as messages name it.
pub(super) fn subject(block: &Block) -> String {
    let labels: String = block.labels.iter().map(|label| format!(" \"{}\"", label.text)).collect();
    format!("{}{labels}", block.name.text)
}

/// A bool that is written out.
pub(super) fn literal_bool(value: &Expr) -> Option<bool> {
    match &value.without_parentheses().kind {
        ExprKind::Literal(Literal::Bool(flag)) => Some(*flag),
        // JSON and old programs write it so.
        ExprKind::Literal(Literal::String(text)) if text == "true" => Some(true),
        ExprKind::Literal(Literal::String(text)) if text == "false" => Some(false),
        _ => None,
    }
}

/// What is not supported, at its place.
pub(super) fn unsupported(origin: Origin, what: &str, hint: &str) -> Diagnostic {
    at(origin, format!("{what} is not supported")).hint(hint)
}
