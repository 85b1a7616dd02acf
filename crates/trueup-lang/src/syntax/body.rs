//! The tree of a file: attributes and blocks.
//!
//! JSON says neither which of its properties are blocks nor how many labels they have. A body read from JSON therefore
//! holds attributes only, and whoever knows what may stand in it asks for [`Body::shaped`]; a body in native syntax
//! comes out of that as it went in.

use smol_str::SmolStr;
use trueup_core::{Diagnostics, Origin};

use super::expression::Expr;
use super::json;

/// The content of a file or block.
#[derive(Clone, Debug)]
pub struct Body {
    /// Attributes and blocks in the order they stand.
    pub items: Vec<Item>,
    /// The whole of it: the file, or what is between the braces.
    pub origin: Origin,
    /// Whether it was read from JSON and has not been shaped yet.
    pub json: bool,
}

/// What a body consists of.
#[derive(Clone, Debug)]
pub enum Item {
    /// `name = value`.
    Attribute(Attribute),
    /// `name "label" { … }`.
    Block(Block),
}

/// A name with a value.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// The name.
    pub name: Name,
    /// The value.
    pub value: Expr,
    /// From the name to the end of the value.
    pub origin: Origin,
}

/// A name with labels and a body.
#[derive(Clone, Debug)]
pub struct Block {
    /// What block it is: `resource`.
    pub name: Name,
    /// What stands between name and body.
    pub labels: Vec<Label>,
    /// What is between the braces.
    pub body: Body,
    /// Name and labels, to point at.
    pub header: Origin,
    /// From the name to the closing brace.
    pub origin: Origin,
}

/// A label of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The text, unescaped.
    pub text: SmolStr,
    /// Where it stands, with its quotes.
    pub origin: Origin,
}

/// A name and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: SmolStr,
    /// Where it stands.
    pub origin: Origin,
}

/// Which names of a body are blocks; all others are attributes.
#[derive(Clone, Copy, Debug)]
pub struct BodyShape<'a> {
    /// The blocks that may stand in it.
    pub blocks: &'a [BlockShape<'a>],
}

/// A block that may stand in a body.
#[derive(Clone, Copy, Debug)]
pub struct BlockShape<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many labels it has.
    pub labels: usize,
}

impl Body {
    /// The attributes in order.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.items.iter().filter_map(|item| match item {
            Item::Attribute(attribute) => Some(attribute),
            Item::Block(_) => None,
        })
    }

    /// The blocks in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.items.iter().filter_map(|item| match item {
            Item::Block(block) => Some(block),
            Item::Attribute(_) => None,
        })
    }

    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes().find(|attribute| attribute.name.text == name)
    }

    /// The blocks of this name, in order.
    pub fn blocks_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks().filter(move |block| block.name.text == name)
    }

    /// The body with the named properties of a JSON object read as blocks, and their bodies left to be shaped in their
    /// turn. A body in native syntax is returned as it is.
    #[must_use]
    pub fn shaped(self, shape: BodyShape<'_>, diagnostics: &mut Diagnostics) -> Body {
        if self.json { json::shape(self, shape, diagnostics) } else { self }
    }
}

impl Item {
    /// The name of the attribute or block.
    pub fn name(&self) -> &Name {
        match self {
            Item::Attribute(attribute) => &attribute.name,
            Item::Block(block) => &block.name,
        }
    }
}

impl Name {
    /// A name at a place.
    pub fn new(text: impl Into<SmolStr>, origin: Origin) -> Self {
        Name { text: text.into(), origin }
    }
}
