//! What plan hooks see of inputs: each field known or not.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::fields::{Field, Struct};

/// `NAMEView`, with the same fields.
pub(crate) fn view(of: &Struct) -> TokenStream {
    let Struct { ident, vis, .. } = of;
    let view = format_ident!("{ident}View");
    let declared = of.fields.iter().map(|Field { ident, ty, name, .. }| {
        let doc = format!("`{name}`, if it is known.");
        quote!(#[doc = #doc] #vis #ident: ::trueup::derive_support::Planned<#ty>)
    });
    let doc = format!("The inputs of [`{ident}`] at plan, each known or not.");
    quote! {
        #[doc = #doc]
        #[allow(dead_code)]
        #vis struct #view {
            #(#declared,)*
        }
    }
}

/// The body of `Inputs::view`.
pub(crate) fn decode(of: &Struct) -> TokenStream {
    let view = format_ident!("{}View", of.ident);
    let fields = of.fields.iter().map(|Field { ident, name, .. }| {
        quote!(#ident: ::trueup::derive_support::field(value, #name, ::trueup::derive_support::Planned::decode)?)
    });
    quote!(Ok(#view { #(#fields,)* }))
}
