//! Enums as fields: one of a few texts.

use darling::{Error, FromVariant};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataEnum, DeriveInput};

use crate::attributes::{VariantAttributes, container};
use crate::naming::Case;

/// The implementations for an enum without data.
pub(crate) fn choice(input: &DeriveInput, data: &DataEnum) -> darling::Result<TokenStream> {
    let mut errors = Error::accumulator();
    let case = errors.handle(container(&input.attrs)).and_then(|it| it.rename_all).unwrap_or(Case::Snake);
    let mut idents = Vec::new();
    let mut names = Vec::new();
    for variant in &data.variants {
        let Some(variant) = errors.handle(VariantAttributes::from_variant(variant)) else { continue };
        if !variant.fields.is_unit() {
            let message = "a variant with data cannot be a field; use a struct with optional fields";
            errors.push(Error::custom(message).with_span(&variant.ident));
        }
        names.push(variant.rename.unwrap_or_else(|| case.apply(&variant.ident.to_string())));
        idents.push(variant.ident);
    }
    let ident = &input.ident;
    let support = quote!(::trueup::derive_support);
    errors.finish_with(quote! {
        impl #support::FieldType for #ident {
            fn field_schema() -> #support::FieldSchema {
                #support::choice_schema(&[#(#names),*])
            }

            fn encode(&self) -> ::std::result::Result<#support::Value, #support::FieldError> {
                Ok(#support::Value::from(match self { #(#ident::#idents => #names,)* }))
            }

            fn decode(value: &#support::Value) -> ::std::result::Result<Self, #support::FieldError> {
                match value.as_str() {
                    #(Some(#names) => Ok(#ident::#idents),)*
                    _ => Err(#support::not_a_choice(value, &[#(#names),*])),
                }
            }
        }

        impl #support::Referable for #ident {
            type Refs = #support::Expr<Self>;
        }
    })
}
