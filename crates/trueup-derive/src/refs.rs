//! References to the parts of a struct in another resource's outputs.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::fields::{Field, Struct};

/// `NAMERefs`, with a method per field.
pub(crate) fn refs(of: &Struct) -> TokenStream {
    let Struct { ident, vis, .. } = of;
    let refs = format_ident!("{ident}Refs");
    let getters = of.fields.iter().map(|Field { ident, ty, name, doc, .. }| {
        let doc = if doc.is_empty() { format!("Refers to `{name}`.") } else { doc.clone() };
        quote! {
            #[doc = #doc]
            #vis fn #ident(&self) -> <#ty as ::trueup::derive_support::Referable>::Refs {
                self.whole.field::<#ty>(#name)
            }
        }
    });
    let refs_doc = format!("References to a [`{ident}`] of another resource, part by part.");
    let into = |target: TokenStream| {
        quote! {
            impl ::trueup::derive_support::IntoExpr<#target> for #refs {
                fn into_expr(self) -> ::trueup::derive_support::Expr<#target> {
                    ::trueup::derive_support::Expr::assume(self.whole.into_expression())
                }
            }
        }
    };
    let (into_whole, into_optional) = (into(quote!(#ident)), into(quote!(::std::option::Option<#ident>)));
    quote! {
        #[doc = #refs_doc]
        #[derive(Clone, Debug)]
        #vis struct #refs {
            whole: ::trueup::derive_support::Expr<#ident>,
        }

        #[allow(dead_code)]
        impl #refs {
            #(#getters)*
        }

        impl ::std::convert::From<::trueup::derive_support::Expr<#ident>> for #refs {
            fn from(whole: ::trueup::derive_support::Expr<#ident>) -> Self {
                #refs { whole }
            }
        }

        impl ::trueup::derive_support::Referable for #ident {
            type Refs = #refs;
        }

        #into_whole
        #into_optional
    }
}
