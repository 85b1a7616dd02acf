//! Types as the language treats them: what several have in common, and how a program writes them.

mod constraint;
mod defaults;
mod unify;

pub use constraint::{TypeConstraint, parse_type, parse_type_expression};
pub use defaults::Defaults;
pub use unify::{convert_unified, unify};
