//! What the derives implement: inputs, outputs, and the view of inputs that plan hooks see.

use trueup_core::schema::Block;
use trueup_core::{Address, FieldError, FieldType, Path, Value};
use trueup_program::{Expr, Expression, Node, Referable, Reference};

/// The inputs of a resource type or data source, or the configuration of a provider. Derived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not derive `Inputs`",
    label = "these are no inputs",
    note = "add `#[derive(Inputs)]` to the struct `{Self}`"
)]
pub trait Inputs: Sized + Send + Sync + 'static {
    /// The names of its fields in programs.
    const NAMES: &'static [&'static str];
    /// What the constructor supplies for the field marked `inject`: `()` if there is none.
    type Injected: Send + 'static;
    /// The inputs at plan, field by field known or not.
    type View: Send + Sync;

    /// The schema.
    fn block() -> Block;
    /// The struct from a checked value.
    fn decode(value: &Value, injected: Self::Injected) -> Result<Self, FieldError>;
    /// The value of the struct.
    fn encode(&self) -> Result<Value, FieldError>;
    /// The view of a value that may have unknown parts.
    fn view(value: &Value) -> Result<Self::View, FieldError>;
}

/// The builder with which programs set inputs. Derived, as `NAMEArgs`; `NAME::args()` makes an empty one.
pub trait Args {
    /// The inputs.
    type Of: Inputs;

    /// The object that the fields make up.
    fn into_expression(self) -> Expression;
}

/// What the constructor of a type without an injected field supplies.
#[diagnostic::on_unimplemented(
    message = "nothing supplies the injected field, a `{Self}`",
    label = "the type has an injected field of the type `{Self}`",
    note = "register it with `crud_with`, `converge_with` or `data_with`, and a function that returns a `{Self}`"
)]
pub trait NothingInjected {
    /// Nothing.
    fn nothing() -> Self;
}

impl NothingInjected for () {
    fn nothing() -> Self {}
}

/// The outputs of a resource type or data source. Derived.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not derive `Outputs`",
    label = "these are no outputs",
    note = "add `#[derive(Outputs)]` to the struct `{Self}`"
)]
pub trait Outputs: FieldType + Referable + Send + Sync + 'static {
    /// The names of the outputs that mirror an input, each with that input's.
    const MIRRORS: &'static [(&'static str, &'static str)];

    /// The schema.
    fn block() -> Block;

    /// References to the outputs of the resource at an address.
    fn refs(address: Address) -> Self::Refs {
        Expr::assume(Expression::new(Node::Reference(Reference { address, path: Path::ROOT }))).into()
    }
}

/// A field at plan: known, or not known until apply.
#[derive(Clone, Debug)]
pub enum Planned<T> {
    /// Its value is settled.
    Known(T),
    /// Apply will tell.
    Unknown,
}

impl<T> Planned<T> {
    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Planned::Known(value) => Some(value),
            Planned::Unknown => None,
        }
    }
}

impl<T: FieldType> Planned<T> {
    /// Reads a field that may be unknown, wholly or in part.
    pub fn decode(value: &Value) -> Result<Self, FieldError> {
        if value.is_wholly_known() { T::decode(value).map(Planned::Known) } else { Ok(Planned::Unknown) }
    }
}

/// An unknown value equals nothing.
impl<T: PartialEq> PartialEq<T> for Planned<T> {
    fn eq(&self, other: &T) -> bool {
        self.known().is_some_and(|known| known == other)
    }
}

/// Whether a decoded value differs from its prior one (CRUD-5). What is not known yet counts as changed.
pub fn changed<A: ?Sized, B: PartialEq<A> + ?Sized>(prior: &A, current: &B) -> bool {
    current != prior
}
