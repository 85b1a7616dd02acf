//! What each derive puts together.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, parse_macro_input};

use crate::fields::{Side, Struct};
use crate::{args, choice, codec, names, refs, schema, view};

/// Runs a derive; mistakes become compile errors, all at once.
pub(crate) fn expand(
    input: proc_macro::TokenStream,
    derive: fn(DeriveInput) -> darling::Result<TokenStream>,
) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    derive(input).unwrap_or_else(darling::Error::write_errors).into()
}

pub(crate) fn inputs(input: DeriveInput) -> darling::Result<TokenStream> {
    let of = Struct::parse(input, Side::Inputs)?;
    let ident = &of.ident;
    let view_ident = format_ident!("{ident}View");
    let block = schema::block(&of)?;
    let (encode, decode, view, view_decode) =
        (codec::encode(&of), codec::decode(&of), view::view(&of), view::decode(&of));
    let args = args::args(&of);
    let (injected, injected_name) = match &of.injected {
        Some((_, ty)) => (quote!(#ty), quote!(injected)),
        None => (quote!(()), quote!(_injected)),
    };
    let support = quote!(::trueup::derive_support);
    let (names, fields) = (names::names(&of), names::fields(&of));
    Ok(quote! {
        impl #support::Inputs for #ident {
            const NAMES: &'static [&'static str] = #names;

            type Injected = #injected;
            type View = #view_ident;

            fn block() -> #support::Block {
                #block
            }

            fn decode(
                value: &#support::Value,
                #injected_name: Self::Injected,
            ) -> ::std::result::Result<Self, #support::FieldError> {
                #decode
            }

            fn encode(&self) -> ::std::result::Result<#support::Value, #support::FieldError> {
                #encode
            }

            fn view(value: &#support::Value) -> ::std::result::Result<Self::View, #support::FieldError> {
                #view_decode
            }
        }

        #view
        #args
        #fields
    })
}

pub(crate) fn outputs(input: DeriveInput) -> darling::Result<TokenStream> {
    let of = Struct::parse(input, Side::Outputs)?;
    let ident = &of.ident;
    let block = schema::block(&of)?;
    let field_type = codec::field_type(&of, &quote!(<Self as ::trueup::derive_support::Outputs>::block()));
    let refs = refs::refs(&of);
    let (mirrors, fields) = (names::mirrors(&of), names::fields(&of));
    Ok(quote! {
        impl ::trueup::derive_support::Outputs for #ident {
            const MIRRORS: &'static [(&'static str, &'static str)] = #mirrors;

            fn block() -> ::trueup::derive_support::Block {
                #block
            }
        }

        #field_type
        #refs
        #fields
    })
}

pub(crate) fn field_type(input: DeriveInput) -> darling::Result<TokenStream> {
    if let Data::Enum(data) = &input.data {
        return choice::choice(&input, data);
    }
    let of = Struct::parse(input, Side::Nested)?;
    let field_type = codec::field_type(&of, &schema::block(&of)?);
    let (args, refs) = (args::args(&of), refs::refs(&of));
    Ok(quote!(#field_type #args #refs))
}
