//! The builder with which programs set the fields of a struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::fields::{Field, Side, Struct};

/// `NAMEArgs`, with a method per field that takes a value, a reference or an expression.
pub(crate) fn args(of: &Struct) -> TokenStream {
    let Struct { ident, vis, .. } = of;
    let builder = format_ident!("{ident}Args");
    let setters = of.fields.iter().map(|Field { ident, ty, name, doc, attributes }| {
        let set = if attributes.secret.is_present() { quote!(set_secret) } else { quote!(set) };
        let doc = if doc.is_empty() { format!("Sets `{name}`.") } else { doc.clone() };
        quote! {
            #[doc = #doc]
            #[track_caller]
            #[must_use]
            #vis fn #ident(mut self, value: impl ::trueup::derive_support::IntoExpr<#ty>) -> Self {
                self.arguments.#set::<#ty>(#name, value);
                self
            }
        }
    });
    let conversion = match of.side {
        Side::Inputs => quote! {
            impl ::trueup::derive_support::Args for #builder {
                type Of = #ident;

                fn into_expression(self) -> ::trueup::derive_support::Expression {
                    self.arguments.into_expression()
                }
            }
        },
        Side::Outputs | Side::Nested => quote! {
            impl ::trueup::derive_support::IntoExpr<#ident> for #builder {
                fn into_expr(self) -> ::trueup::derive_support::Expr<#ident> {
                    ::trueup::derive_support::Expr::assume(self.arguments.into_expression())
                }
            }

            impl ::trueup::derive_support::IntoExpr<::std::option::Option<#ident>> for #builder {
                fn into_expr(self) -> ::trueup::derive_support::Expr<::std::option::Option<#ident>> {
                    ::trueup::derive_support::Expr::assume(self.arguments.into_expression())
                }
            }
        },
    };
    let builder_doc = format!(
        "What a program gives for [`{ident}`]: each field takes a value, a reference or an expression."
    );
    quote! {
        #[doc = #builder_doc]
        #[derive(Clone, Debug)]
        #vis struct #builder {
            arguments: ::trueup::derive_support::Arguments,
        }

        #[allow(dead_code)]
        impl #builder {
            #(#setters)*
        }

        #[allow(dead_code)]
        impl #ident {
            /// An empty builder, for programs.
            #[track_caller]
            #vis fn args() -> #builder {
                #builder { arguments: ::trueup::derive_support::Arguments::new() }
            }
        }

        #conversion
    }
}
