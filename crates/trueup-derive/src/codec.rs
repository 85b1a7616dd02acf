//! From struct to value and back.

use proc_macro2::TokenStream;
use quote::quote;

use crate::fields::{Field, Struct};
use crate::schema::default_value;

/// An expression for the value of `self`, inside a function that returns `Result<Value, FieldError>`.
pub(crate) fn encode(of: &Struct) -> TokenStream {
    let entries = of.fields.iter().map(|Field { ident, ty, name, attributes, .. }| {
        let secret = attributes
            .secret
            .is_present()
            .then(|| quote!(.map(::trueup::derive_support::Value::into_secret)));
        quote! {
            ::trueup::derive_support::entry(
                #name,
                <#ty as ::trueup::derive_support::FieldType>::encode(&self.#ident) #secret
            )?
        }
    });
    quote! {
        let entries: ::std::vec::Vec<::std::option::Option<(::trueup::derive_support::SmolStr, _)>> = vec![#(#entries),*];
        Ok(::trueup::derive_support::Value::object(entries.into_iter().flatten()))
    }
}

/// An expression for the struct from `value`, inside a function that returns `Result<_, FieldError>`.
pub(crate) fn decode(of: &Struct) -> TokenStream {
    let ident = &of.ident;
    let fields = of.fields.iter().map(|field| {
        let Field { ident, ty, name, attributes, .. } = field;
        let decode = quote!(<#ty as ::trueup::derive_support::FieldType>::decode(value));
        let decode = match &attributes.default {
            Some(default) => {
                let default = default_value(default, field);
                quote!(if value.is_null() { Ok(#default) } else { #decode })
            }
            None => decode,
        };
        quote!(#ident: ::trueup::derive_support::field(value, #name, |value| #decode)?)
    });
    let injected = of.injected.iter().map(|(ident, _)| quote!(#ident: injected));
    quote!(::trueup::derive_support::require_object(value)?; Ok(#ident { #(#fields,)* #(#injected,)* }))
}

/// The implementation of `FieldType` for a struct whose block `of` knows how to build.
pub(crate) fn field_type(of: &Struct, block: &TokenStream) -> TokenStream {
    let ident = &of.ident;
    let (encode, decode) = (encode(of), decode(of));
    quote! {
        impl ::trueup::derive_support::FieldType for #ident {
            fn field_schema() -> ::trueup::derive_support::FieldSchema {
                ::trueup::derive_support::nested_schema(#block)
            }

            fn encode(&self) -> ::std::result::Result<::trueup::derive_support::Value, ::trueup::derive_support::FieldError> {
                #encode
            }

            fn decode(
                value: &::trueup::derive_support::Value,
            ) -> ::std::result::Result<Self, ::trueup::derive_support::FieldError> {
                #decode
            }
        }
    }
}
