//! The fields of a struct, checked: what the other modules generate code from.

use darling::util::Flag;
use darling::{Error, FromField};
use proc_macro2::Span;
use syn::{Data, DeriveInput, Fields as SynFields, Ident, Type, Visibility};

use crate::attributes::{ContainerAttributes, FieldAttributes, container, doc};
use crate::naming::Case;

/// What a struct is derived as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Inputs,
    Outputs,
    Nested,
}

/// A struct with its fields.
pub(crate) struct Struct {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    pub(crate) doc: String,
    pub(crate) side: Side,
    pub(crate) attributes: ContainerAttributes,
    pub(crate) fields: Vec<Field>,
    /// The field that the constructor supplies.
    pub(crate) injected: Option<(Ident, Type)>,
}

/// One field.
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// As programs write it.
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) attributes: FieldAttributes,
}

impl Struct {
    pub(crate) fn parse(input: DeriveInput, side: Side) -> darling::Result<Self> {
        let fields = named_fields(&input)?;
        let mut errors = Error::accumulator();
        if !input.generics.params.is_empty() {
            errors.push(Error::custom("generic structs cannot be derived").with_span(&input.generics));
        }
        let attributes = errors.handle(container(&input.attrs)).unwrap_or_default();
        let case = attributes.rename_all.unwrap_or(Case::Snake);
        let mut parsed = Vec::new();
        let mut injected = None;
        for field in &fields {
            let Some(attributes) = errors.handle(FieldAttributes::from_field(field)) else { continue };
            errors.handle(check_side(&attributes, side));
            let Some(ident) = attributes.ident.clone() else { continue };
            if attributes.inject.is_present() {
                if injected.replace((ident.clone(), attributes.ty.clone())).is_some() {
                    errors.push(
                        Error::custom("only one field can be injected; put several in a struct")
                            .with_span(&ident),
                    );
                }
                continue;
            }
            let name = attributes.rename.clone().unwrap_or_else(|| case.apply(&ident.to_string()));
            parsed.push(Field {
                ident,
                ty: attributes.ty.clone(),
                name,
                doc: doc(&attributes.attrs),
                attributes,
            });
        }
        errors.handle(check_names(&parsed, &attributes));
        let doc = doc(&input.attrs);
        errors.finish_with(Struct {
            ident: input.ident,
            vis: input.vis,
            doc,
            side,
            attributes,
            fields: parsed,
            injected,
        })
    }
}

/// The fields, if they have names.
fn named_fields(input: &DeriveInput) -> darling::Result<Vec<syn::Field>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            SynFields::Named(named) => Ok(named.named.iter().cloned().collect()),
            SynFields::Unit => Ok(Vec::new()),
            SynFields::Unnamed(_) => Err(Error::custom("fields need names").with_span(&input.ident)),
        },
        Data::Enum(_) | Data::Union(_) => {
            Err(Error::custom("only a struct can be derived so").with_span(&input.ident))
        }
    }
}

/// Refuses attributes that mean nothing on this side.
fn check_side(field: &FieldAttributes, side: Side) -> darling::Result<()> {
    let flag = |name, flag: &Flag| flag.is_present().then(|| (name, flag.span()));
    let here = field.ident.as_ref().map_or_else(Span::call_site, Ident::span);
    let given = |name, given: bool| given.then_some((name, here));
    let only_inputs = [
        flag("replace", &field.replace),
        flag("computed", &field.computed),
        flag("empty_is_absent", &field.empty_is_absent),
        flag("block", &field.block),
        flag("write_only", &field.write_only),
        given("default", field.default.is_some()),
        given("one_of", field.one_of.is_some()),
        given("pattern", field.pattern.is_some()),
        given("range", field.range.is_some()),
        given("length", field.length.is_some()),
        given("deprecated", field.deprecated.is_some()),
    ];
    let only_outputs = [
        flag("volatile", &field.volatile),
        flag("informational", &field.informational),
        flag("create_only", &field.create_only),
        flag("stable", &field.stable),
        given("mirrors", field.mirrors.is_some()),
    ];
    let (misplaced, belongs) = match side {
        Side::Inputs => (only_outputs.to_vec(), "outputs"),
        Side::Outputs => (only_inputs.to_vec(), "inputs"),
        // A nested struct may stand on either side, but not for the object itself.
        Side::Nested => (
            vec![
                flag("identity", &field.identity),
                flag("create_only", &field.create_only),
                flag("stable", &field.stable),
                given("mirrors", field.mirrors.is_some()),
            ],
            "the fields of the resource itself, not of a struct inside",
        ),
    };
    let mut errors = Error::accumulator();
    for (name, span) in misplaced.into_iter().flatten() {
        errors.push(Error::custom(format!("`{name}` belongs to {belongs}")).with_span(&span));
    }
    if field.block.is_present() {
        for (name, span) in beside_block(field, here) {
            let message = format!("`{name}` has no effect beside `block`: put it on the fields inside");
            errors.push(Error::custom(message).with_span(&span));
        }
    }
    if side != Side::Inputs && field.inject.is_present() {
        errors.push(Error::custom("`inject` belongs to inputs").with_span(&field.inject.span()));
    }
    errors.finish()
}

/// What a block cannot be.
fn beside_block(field: &FieldAttributes, here: Span) -> Vec<(&'static str, Span)> {
    let flags = [
        ("secret", field.secret),
        ("identity", field.identity),
        ("replace", field.replace),
        ("computed", field.computed),
        ("empty_is_absent", field.empty_is_absent),
        ("write_only", field.write_only),
    ];
    let given = [
        ("one_of", field.one_of.is_some()),
        ("pattern", field.pattern.is_some()),
        ("range", field.range.is_some()),
        ("length", field.length.is_some()),
        ("deprecated", field.deprecated.is_some()),
    ];
    let flags =
        flags.into_iter().filter(|(_, flag)| flag.is_present()).map(|(name, flag)| (name, flag.span()));
    flags.chain(given.into_iter().filter(|(_, given)| *given).map(|(name, _)| (name, here))).collect()
}

/// Refuses names that repeat, and rules about fields that do not exist.
fn check_names(fields: &[Field], attributes: &ContainerAttributes) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    for (at, field) in fields.iter().enumerate() {
        if fields[..at].iter().any(|earlier| earlier.name == field.name) {
            errors.push(
                Error::custom(format!("two fields are named `{}`", field.name)).with_span(&field.ident),
            );
        }
    }
    let ContainerAttributes {
        exactly_one_of,
        at_least_one_of,
        at_most_one_of,
        all_or_none,
        required_with,
        ..
    } = attributes;
    let rules = [exactly_one_of, at_least_one_of, at_most_one_of, all_or_none, required_with];
    for name in rules.into_iter().flatten().flat_map(|names| &names.0) {
        if !fields.iter().any(|field| field.name == name.value()) {
            let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
            let message =
                format!("there is no field `{}`; the fields are `{}`", name.value(), known.join("`, `"));
            errors.push(Error::custom(message).with_span(name));
        }
    }
    errors.finish()
}
