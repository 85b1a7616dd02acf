//! Joining the blocks of inputs and outputs.

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, NestedBlock, Presence, Shape};
use trueup_core::{Type, Value};

use trueup_terraform::Version;

use super::Purpose;

/// Meta-arguments of Terraform's language.
const RESERVED_IN_RESOURCES: &[&str] =
    &["connection", "count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"];
const RESERVED_IN_PROVIDERS: &[&str] = &["alias", "version"];

/// The purpose and protocol version of a block.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) purpose: Purpose,
    pub(crate) version: Version,
}

/// The joined block, or the reason why Terraform cannot have it.
pub(super) fn joined(place: Place, inputs: &Block, outputs: &Block) -> Result<Block, String> {
    let mut block = Block { doc: inputs.doc.clone(), ..Block::default() };
    for (name, attribute) in &inputs.attributes {
        let answered = outputs.attributes.get(name);
        if let Some(answered) = answered {
            same_type(name, &attribute.shape.implied_type(), answered)?;
        }
        let joined = input(place, name, attribute, answered)?;
        block.attributes.insert(name.clone(), joined);
    }
    for (name, nested) in &inputs.blocks {
        if let Some(answered) = outputs.attributes.get(name) {
            same_type(name, &nested.shape().implied_type(), answered)?;
        }
        let inner = inside(place, name, &nested.block)?;
        block.blocks.insert(name.clone(), NestedBlock { block: inner.into(), ..nested.clone() });
    }
    for (name, attribute) in &outputs.attributes {
        if !inputs.names().any(|own| own == name) {
            block.attributes.insert(name.clone(), output(place, attribute));
        }
    }
    let reserved = match place.purpose {
        Purpose::Configuration => RESERVED_IN_PROVIDERS,
        Purpose::Resource | Purpose::Data => RESERVED_IN_RESOURCES,
    };
    if let Some(name) = block.names().find(|name| reserved.contains(name)) {
        return Err(format!("`{name}` means something else in Terraform's language; rename it"));
    }
    named(&block)?;
    Ok(block)
}

impl Place {
    /// Whether a shape can be a nested attribute. Version 5 has none, and version 6 no nested collections of structures. Such
    /// attributes have an object type, of which programs write every attribute.
    fn has(self, shape: &Shape) -> bool {
        match (self.version, shape) {
            (_, Shape::Plain(_)) => true,
            (Version::V5, _) => false,
            (Version::V6, Shape::Object(_)) => true,
            (Version::V6, Shape::List(inner) | Shape::Set(inner) | Shape::Map(inner)) => {
                matches!(**inner, Shape::Object(_))
            }
        }
    }
}

/// Checks names: Terraform allows lower-case letters, digits and underscores.
fn named(block: &Block) -> Result<(), String> {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
            && name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_')
    };
    if let Some(name) = block.names().find(|name| !is_name(name)) {
        return Err(format!("`{name}` is no name in Terraform, which takes a-z, 0-9 and _; rename it"));
    }
    let structures = block.attributes.values().filter_map(|attribute| structure(&attribute.shape));
    structures.chain(block.blocks.values().map(|nested| &*nested.block)).try_for_each(named)
}

/// The block of a structure, or of a collection's elements.
pub(super) fn structure(shape: &Shape) -> Option<&Block> {
    match shape {
        Shape::Plain(_) => None,
        Shape::Object(block) => Some(block),
        Shape::List(element) | Shape::Set(element) | Shape::Map(element) => structure(element),
    }
}

fn same_type(name: &str, ty: &Type, answered: &Attribute) -> Result<(), String> {
    let (own, other) = (essential(ty), essential(&answered.shape.implied_type()));
    if own == other {
        return Ok(());
    }
    let advice = "Terraform has one attribute for both; rename one of them";
    Err(format!("its input `{name}` is {ty}, and its output of that name {other}: {advice}"))
}

/// The type without optional markers.
fn essential(ty: &Type) -> Type {
    match ty {
        Type::List(element) => Type::list(essential(element)),
        Type::Set(element) => Type::set(essential(element)),
        Type::Map(element) => Type::map(essential(element)),
        Type::Tuple(elements) => Type::tuple(elements.iter().map(essential)),
        Type::Object(object) => {
            Type::object(object.attributes.iter().map(|(name, ty)| (name.clone(), essential(ty))))
        }
        Type::Any | Type::Bool | Type::Number | Type::String => ty.clone(),
    }
}

fn input(
    place: Place,
    name: &SmolStr,
    attribute: &Attribute,
    answered: Option<&Attribute>,
) -> Result<Attribute, String> {
    let write_only = attribute.write_only && place.purpose == Purpose::Resource;
    let decided = attribute.default.is_some() || answered.is_some();
    let presence = match attribute.presence {
        Presence::Optional | Presence::OptionalComputed
            if decided && !write_only && place.purpose != Purpose::Configuration =>
        {
            Presence::OptionalComputed
        }
        Presence::Optional | Presence::OptionalComputed => Presence::Optional,
        presence => presence,
    };
    let joined = shape(place, name, &attribute.shape)?;
    let hides = matches!(joined, Shape::Plain(_)) && attribute.shape.any_attribute(|inner| inner.secret);
    let secret = attribute.secret || attribute.write_only || answered.is_some_and(|it| it.secret);
    Ok(Attribute {
        shape: joined,
        presence,
        write_only,
        secret: secret || hides,
        doc: documented(attribute),
        ..plain(attribute)
    })
}

/// The description of an attribute, including its default.
fn documented(attribute: &Attribute) -> String {
    let Some(default) = attribute.default.as_ref().filter(|_| !attribute.secret) else {
        return attribute.doc.clone();
    };
    let separator = if attribute.doc.is_empty() { "" } else { " " };
    format!("{}{separator}Default: `{default}`.", attribute.doc)
}

/// An attribute reduced to what Terraform's schemas express.
fn plain(attribute: &Attribute) -> Attribute {
    Attribute {
        doc: attribute.doc.clone(),
        secret: attribute.secret,
        deprecated: attribute.deprecated.clone(),
        ..Attribute::new(attribute.shape.clone(), attribute.presence)
    }
}

fn shape(place: Place, name: &str, of: &Shape) -> Result<Shape, String> {
    Ok(match of {
        shape if !place.has(shape) => Shape::Plain(shape.implied_type()),
        Shape::Plain(ty) => Shape::Plain(ty.clone()),
        Shape::Object(block) => Shape::Object(inside(place, name, block)?.into()),
        Shape::List(element) => Shape::List(shape(place, name, element)?.into()),
        Shape::Set(element) => Shape::Set(shape(place, name, element)?.into()),
        Shape::Map(element) => Shape::Map(shape(place, name, element)?.into()),
    })
}

/// A structure inside inputs.
fn inside(place: Place, outer: &str, block: &Block) -> Result<Block, String> {
    let mut joined = Block { doc: block.doc.clone(), ..Block::default() };
    for (name, attribute) in &block.attributes {
        if attribute.write_only {
            return Err(format!(
                "`{name}` in `{outer}` is write-only; Terraform's state would lose the rest"
            ));
        }
        let chosen = attribute.presence == Presence::OptionalComputed;
        let mut own = input(place, name, attribute, None)?;
        if chosen && place.purpose != Purpose::Configuration {
            own.presence = Presence::OptionalComputed;
        }
        joined.attributes.insert(name.clone(), own);
    }
    for (name, nested) in &block.blocks {
        let inner = inside(place, name, &nested.block)?;
        joined.blocks.insert(name.clone(), NestedBlock { block: inner.into(), ..nested.clone() });
    }
    Ok(joined)
}

/// A computed attribute, including nested ones.
fn output(place: Place, attribute: &Attribute) -> Attribute {
    let secret = attribute.secret || attribute.shape.any_attribute(|inner| inner.secret);
    let shape = answered(place, &attribute.shape);
    let secret = if matches!(shape, Shape::Plain(_)) { secret } else { attribute.secret };
    Attribute { shape, presence: Presence::Computed, secret, ..plain(attribute) }
}

fn answered(place: Place, of: &Shape) -> Shape {
    match of {
        shape if !place.has(shape) => Shape::Plain(shape.implied_type()),
        Shape::Plain(ty) => Shape::Plain(ty.clone()),
        Shape::Object(block) => {
            let attributes = block.attributes.iter().map(|(name, it)| (name.clone(), output(place, it)));
            let mut all = Block { attributes: attributes.collect(), ..Block::default() };
            for (name, nested) in &block.blocks {
                let shape = answered(place, &nested.shape());
                all.attributes.insert(name.clone(), Attribute::new(shape, Presence::Computed));
            }
            Shape::Object(all.into())
        }
        Shape::List(element) => Shape::List(answered(place, element).into()),
        Shape::Set(element) => Shape::Set(answered(place, element).into()),
        Shape::Map(element) => Shape::Map(answered(place, element).into()),
    }
}

/// Whether the provider may set an attribute that the program omits.
pub(super) fn is_computed(attribute: &Attribute) -> bool {
    matches!(attribute.presence, Presence::Computed | Presence::OptionalComputed)
}

/// The unknown value of an attribute.
pub(super) fn unknown(attribute: &Attribute) -> Value {
    Value::unknown(attribute.shape.implied_type())
}
