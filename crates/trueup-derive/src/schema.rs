//! The schema of a struct, as code that builds it.

use darling::Error;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Lit};

use crate::attributes::{Bounds, DefaultValue, Literals, Names};
use crate::fields::{Field, Side, Struct};

/// An expression that builds the struct's block.
pub(crate) fn block(of: &Struct) -> darling::Result<TokenStream> {
    let mut errors = Error::accumulator();
    let attributes: Vec<_> =
        of.fields.iter().filter_map(|field| errors.handle(attribute(field, of.side))).collect();
    let rules = rules(of);
    let doc = &of.doc;
    errors.finish_with(quote! {{
        let mut block = ::trueup::derive_support::Block::default();
        block.doc = ::std::string::String::from(#doc);
        #(#attributes)*
        #(block.rules.push(#rules);)*
        block
    }})
}

/// Statements that add one field to `block`.
fn attribute(field: &Field, side: Side) -> darling::Result<TokenStream> {
    let Field { ty, name, doc, attributes, .. } = field;
    if attributes.block.is_present() {
        return Ok(quote! {
            block.blocks.insert(#name.into(), ::trueup::derive_support::nested_block::<#ty>(#name));
        });
    }
    let presence = match side {
        Side::Outputs => quote!(into_output),
        Side::Inputs | Side::Nested => quote!(into_input),
    };
    let flags = [
        ("secret", attributes.secret),
        ("identity", attributes.identity),
        ("volatile", attributes.volatile),
        ("informational", attributes.informational),
        ("create_only", attributes.create_only),
        ("stable", attributes.stable),
        ("replace", attributes.replace),
        ("empty_is_absent", attributes.empty_is_absent),
        ("write_only", attributes.write_only),
    ];
    let flags = flags.into_iter().filter(|(_, flag)| flag.is_present());
    let flags = flags.map(|(name, flag)| syn::Ident::new(name, flag.span()));
    let mirrors = attributes.mirrors.as_ref().map(|input| quote!(attribute.mirrors = Some(#input.into());));
    let deprecated =
        attributes.deprecated.as_ref().map(|why| quote!(attribute.deprecated = Some(#why.into());));
    let computed = attributes
        .computed
        .is_present()
        .then(|| quote!(::trueup::derive_support::set_computed(&mut attribute, #name);));
    let default = attributes.default.as_ref().map(|default| {
        let default = default_value(default, field);
        quote!(::trueup::derive_support::set_default(&mut attribute, #name, &#default);)
    });
    let constraints = constraints(field)?;
    Ok(quote! {
        let mut attribute = <#ty as ::trueup::derive_support::FieldType>::field_schema().#presence();
        attribute.doc = ::std::string::String::from(#doc);
        #(attribute.#flags = true;)*
        #mirrors
        #deprecated
        #computed
        #default
        #(attribute.constraints.push(#constraints);)*
        block.attributes.insert(#name.into(), attribute);
    })
}

/// The default of a field, as an expression of its type.
pub(crate) fn default_value(default: &DefaultValue, field: &Field) -> TokenStream {
    let ty = &field.ty;
    match default {
        DefaultValue::OfType => quote!(<#ty as ::std::default::Default>::default()),
        // A literal text becomes whichever text type the field has.
        DefaultValue::Expr(expr) if matches!(&**expr, Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_))) =>
        {
            quote!(<#ty as ::std::convert::From<&str>>::from(#expr))
        }
        DefaultValue::Expr(expr) => quote!({ let default: #ty = #expr; default }),
    }
}

fn constraints(field: &Field) -> darling::Result<Vec<TokenStream>> {
    let support = quote!(::trueup::derive_support);
    let mut constraints = Vec::new();
    if let Some(Literals(allowed)) = &field.attributes.one_of {
        constraints.push(quote!(#support::Constraint::OneOf(vec![#(#support::Value::from(#allowed)),*])));
    }
    if let Some(pattern) = &field.attributes.pattern {
        constraints.push(quote!(#support::Constraint::pattern(#pattern)));
    }
    if let Some(Bounds { min, max }) = &field.attributes.range {
        let bound = |bound: &Option<Expr>| match bound {
            None => Ok(quote!(None)),
            Some(bound) => {
                let text = number_text(bound)?;
                Ok::<_, Error>(quote!(Some(#support::number(#text))))
            }
        };
        let (min, max) = (bound(min)?, bound(max)?);
        constraints.push(quote!(#support::Constraint::Range { min: #min, max: #max }));
    }
    if let Some(Bounds { min, max }) = &field.attributes.length {
        let bound = |bound: &Option<Expr>| bound.as_ref().map_or(quote!(None), |bound| quote!(Some(#bound)));
        let (min, max) = (bound(min), bound(max));
        constraints.push(quote!(#support::Constraint::Length { min: #min, max: #max }));
    }
    Ok(constraints)
}

/// The text of a literal number, such as `-0.5`.
fn number_text(expr: &Expr) -> darling::Result<String> {
    let text = expr.to_token_stream().to_string().replace([' ', '_'], "");
    let plain = text.ends_with(|last: char| last.is_ascii_digit()) && !text.starts_with('.');
    match text.parse::<f64>() {
        Ok(_) if plain => Ok(text),
        _ => Err(Error::custom("expected a number").with_span(expr)),
    }
}

fn rules(of: &Struct) -> Vec<TokenStream> {
    let support = quote!(::trueup::derive_support);
    let names = |names: &Names| {
        let names = &names.0;
        quote!(vec![#(#names.into()),*])
    };
    let kinds = [
        (quote!(ExactlyOneOf), &of.attributes.exactly_one_of),
        (quote!(AtLeastOneOf), &of.attributes.at_least_one_of),
        (quote!(AtMostOneOf), &of.attributes.at_most_one_of),
        (quote!(AllOrNone), &of.attributes.all_or_none),
    ];
    let grouped = kinds.into_iter().flat_map(|(kind, groups)| {
        let support = &support;
        groups
            .iter()
            .map(move |group| {
                let names = names(group);
                quote!(#support::Rule::#kind(#names))
            })
            .collect::<Vec<_>>()
    });
    let required = of.attributes.required_with.iter().filter_map(|Names(names)| {
        let (first, needed) = names.split_first()?;
        Some(quote!(#support::Rule::RequiredWith(#first.into(), vec![#(#needed.into()),*])))
    });
    grouped.chain(required).collect()
}
