//! What plan hooks see of inputs: each field known or not.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::fields::{Field, Struct};
use crate::schema::default_value;

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
    let fields = of.fields.iter().map(|field| {
        let Field { ident, name, attributes, .. } = field;
        let planned = quote!(::trueup::derive_support::Planned);
        let decode = match &attributes.default {
            // Blocks that are left out get their default nowhere else.
            Some(default) => {
                let default = default_value(default, field);
                quote!(|value| if value.is_null() { Ok(#planned::Known(#default)) } else { #planned::decode(value) })
            }
            None => quote!(#planned::decode),
        };
        quote!(#ident: ::trueup::derive_support::field(value, #name, #decode)?)
    });
    quote!(Ok(#view { #(#fields,)* }))
}
