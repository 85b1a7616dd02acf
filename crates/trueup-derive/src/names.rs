//! The names of fields: as constants that the compiler compares, and as fields of a struct of their own, so that code
//! names them without texts.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::fields::{Field, Struct};

/// All names.
pub(crate) fn names(of: &Struct) -> TokenStream {
    let names = of.fields.iter().map(|field| &field.name);
    quote!(&[#(#names),*])
}

/// The outputs that mirror an input, each with the input's name.
pub(crate) fn mirrors(of: &Struct) -> TokenStream {
    let mirrors = of.fields.iter().filter_map(|Field { name, attributes, .. }| {
        let input = attributes.mirrors.as_ref()?;
        Some(quote!((#name, #input)))
    });
    quote!(&[#(#mirrors),*])
}

/// `NAMEFields`, and `NAME::FIELDS`, which has a name for each field.
pub(crate) fn fields(of: &Struct) -> TokenStream {
    let Struct { ident, vis, .. } = of;
    let fields = format_ident!("{ident}Fields");
    let field = quote!(::trueup::derive_support::Field);
    let declared = of.fields.iter().map(|Field { ident: name, name: written, .. }| {
        let doc = format!("`{written}`");
        quote!(#[doc = #doc] #vis #name: #field<#ident>)
    });
    let named =
        of.fields.iter().map(|Field { ident: name, name: written, .. }| quote!(#name: #field::new(#written)));
    let doc = format!("The names of the fields of [`{ident}`].");
    quote! {
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        #[allow(dead_code)]
        #vis struct #fields {
            #(#declared,)*
        }

        #[allow(dead_code)]
        impl #ident {
            /// The names of its fields, for hooks and errors: a slip in one does not compile.
            #vis const FIELDS: #fields = #fields { #(#named,)* };
        }
    }
}
