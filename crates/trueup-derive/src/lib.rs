//! Derives for the structs of a resource type.
//!
//! - `Inputs`: what a program sets. Also makes `NAMEArgs`, the builder for programs, and `NAMEView`, what plan hooks see.
//! - `Outputs`: what a provider answers. Also makes `NAMERefs`, with a method per output, for references.
//! - `FieldType`: structs and enums inside the two.
//!
//! # On the struct: `#[trueup(…)]`
//! | attribute | meaning |
//! | --- | --- |
//! | `rename_all = "kebab-case"` | how field names are written; also `snake_case` (the default), `camelCase`, `PascalCase` |
//! | `exactly_one_of("a", "b")` | likewise `at_least_one_of`, `at_most_one_of`, `all_or_none` |
//! | `required_with("a", "b", …)` | where the first is set, the others are |
//!
//! # On a field: `#[trueup(…)]`
//! | attribute | where | meaning |
//! | --- | --- | --- |
//! | `rename = "name"` | both | another name |
//! | `secret` | both | never shown; a field of type `Secret<T>` has it by itself |
//! | `identity` | both | tells one object from another |
//! | `volatile`, `informational` | outputs | not compared; refreshed but never drift |
//! | `create_only` | outputs | known only from the create: a read never erases it |
//! | `stable` | outputs | an update keeps it |
//! | `mirrors = "input"` | outputs | repeats an input, so it is known as soon as that is |
//! | `replace` | inputs | a change forces a replacement |
//! | `computed` | inputs | the provider chooses where the program does not |
//! | `default`, `default = …` | inputs | stands in where the program says nothing |
//! | `one_of("a", "b")`, `pattern = "…"` | inputs | constraints; also `range(min = 1, max = 9)`, `length(min = 1)` |
//! | `empty_is_absent` | inputs | null, absent and empty are the same |
//! | `write_only` | inputs | sent to the provider, never recorded |
//! | `block` | inputs | written as a block rather than with `=`; takes `rename` and `default` beside it, nothing else |
//! | `deprecated = "…"` | inputs | what to use instead |
//! | `inject` | inputs | not an input: what the constructor at registration supplies |

mod args;
mod attributes;
mod choice;
mod codec;
mod expand;
mod fields;
mod names;
mod naming;
mod refs;
mod schema;
mod view;

use proc_macro::TokenStream;

/// Derives the inputs of a resource type, data source or provider configuration.
#[proc_macro_derive(Inputs, attributes(trueup))]
pub fn derive_inputs(input: TokenStream) -> TokenStream {
    expand::expand(input, expand::inputs)
}

/// Derives the outputs of a resource type or data source.
#[proc_macro_derive(Outputs, attributes(trueup))]
pub fn derive_outputs(input: TokenStream) -> TokenStream {
    expand::expand(input, expand::outputs)
}

/// Derives a struct or enum inside inputs or outputs.
#[proc_macro_derive(FieldType, attributes(trueup))]
pub fn derive_field_type(input: TokenStream) -> TokenStream {
    expand::expand(input, expand::field_type)
}
