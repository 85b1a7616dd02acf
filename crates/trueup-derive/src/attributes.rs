//! The `#[trueup(…)]` attributes, as written.

use darling::ast::NestedMeta;
use darling::util::{Flag, parse_expr};
use darling::{Error, FromField, FromMeta, FromVariant};
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Type};

use crate::naming::Case;

/// On a struct or enum.
#[derive(Default, FromMeta)]
#[darling(default)]
pub(crate) struct ContainerAttributes {
    pub(crate) rename_all: Option<Case>,
    #[darling(multiple)]
    pub(crate) exactly_one_of: Vec<Names>,
    #[darling(multiple)]
    pub(crate) at_least_one_of: Vec<Names>,
    #[darling(multiple)]
    pub(crate) at_most_one_of: Vec<Names>,
    #[darling(multiple)]
    pub(crate) all_or_none: Vec<Names>,
    #[darling(multiple)]
    pub(crate) required_with: Vec<Names>,
}

/// On a field.
#[derive(FromField)]
#[darling(attributes(trueup), forward_attrs(doc))]
pub(crate) struct FieldAttributes {
    pub(crate) ident: Option<Ident>,
    pub(crate) ty: Type,
    pub(crate) attrs: Vec<Attribute>,
    #[darling(default)]
    pub(crate) rename: Option<String>,
    #[darling(default)]
    pub(crate) secret: Flag,
    #[darling(default)]
    pub(crate) identity: Flag,
    #[darling(default)]
    pub(crate) volatile: Flag,
    #[darling(default)]
    pub(crate) informational: Flag,
    #[darling(default)]
    pub(crate) create_only: Flag,
    #[darling(default)]
    pub(crate) stable: Flag,
    #[darling(default)]
    pub(crate) mirrors: Option<LitStr>,
    #[darling(default)]
    pub(crate) replace: Flag,
    #[darling(default)]
    pub(crate) computed: Flag,
    #[darling(default)]
    pub(crate) default: Option<DefaultValue>,
    #[darling(default)]
    pub(crate) one_of: Option<Literals>,
    #[darling(default)]
    pub(crate) pattern: Option<LitStr>,
    #[darling(default)]
    pub(crate) range: Option<Bounds>,
    #[darling(default)]
    pub(crate) length: Option<Bounds>,
    #[darling(default)]
    pub(crate) empty_is_absent: Flag,
    #[darling(default)]
    pub(crate) write_only: Flag,
    #[darling(default)]
    pub(crate) block: Flag,
    #[darling(default)]
    pub(crate) deprecated: Option<LitStr>,
    #[darling(default)]
    pub(crate) inject: Flag,
}

/// On a variant of an enum.
#[derive(FromVariant)]
#[darling(attributes(trueup))]
pub(crate) struct VariantAttributes {
    pub(crate) ident: Ident,
    pub(crate) fields: darling::ast::Fields<()>,
    #[darling(default)]
    pub(crate) rename: Option<String>,
}

/// `("a", "b")`
pub(crate) struct Names(pub(crate) Vec<LitStr>);

impl FromMeta for Names {
    fn from_list(items: &[NestedMeta]) -> darling::Result<Self> {
        let name = |item: &NestedMeta| match item {
            NestedMeta::Lit(Lit::Str(name)) => Ok(name.clone()),
            other => Err(Error::custom("expected the name of a field in quotes").with_span(other)),
        };
        let names = items.iter().map(name).collect::<darling::Result<Vec<_>>>()?;
        if names.len() < 2 {
            return Err(Error::custom("expected at least two names of fields"));
        }
        Ok(Names(names))
    }
}

/// `("a", 2, true)`
pub(crate) struct Literals(pub(crate) Vec<Lit>);

impl FromMeta for Literals {
    fn from_list(items: &[NestedMeta]) -> darling::Result<Self> {
        let literal = |item: &NestedMeta| match item {
            NestedMeta::Lit(literal) => Ok(literal.clone()),
            other => Err(Error::custom("expected a literal").with_span(other)),
        };
        items.iter().map(literal).collect::<darling::Result<Vec<_>>>().map(Literals)
    }
}

/// `(min = 1, max = 9)`
#[derive(FromMeta)]
pub(crate) struct Bounds {
    #[darling(default, with = parse_expr::preserve_str_literal, map = Some)]
    pub(crate) min: Option<Expr>,
    #[darling(default, with = parse_expr::preserve_str_literal, map = Some)]
    pub(crate) max: Option<Expr>,
}

/// `default` or `default = …`
pub(crate) enum DefaultValue {
    OfType,
    Expr(Box<Expr>),
}

impl FromMeta for DefaultValue {
    fn from_word() -> darling::Result<Self> {
        Ok(DefaultValue::OfType)
    }

    fn from_expr(expr: &Expr) -> darling::Result<Self> {
        Ok(DefaultValue::Expr(Box::new(expr.clone())))
    }
}

/// All `#[trueup(…)]` attributes of a struct or enum.
pub(crate) fn container(attributes: &[Attribute]) -> darling::Result<ContainerAttributes> {
    let mut items = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("trueup")) {
        let list = attribute.meta.require_list()?;
        items.extend(NestedMeta::parse_meta_list(list.tokens.clone())?);
    }
    ContainerAttributes::from_list(&items)
}

/// The doc comment, without the space after each `///`.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) => Some(line.value()),
            _ => None,
        },
        _ => None,
    });
    let lines: Vec<String> =
        lines.map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect();
    lines.join("\n").trim().to_owned()
}
