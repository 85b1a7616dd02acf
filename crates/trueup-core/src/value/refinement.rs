//! What is known of unknown values.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{Content, Entries, Kind, Value};
use crate::types::Type;

/// What is known of a value beside its type: it will not be null, and perhaps more. It is dropped wherever a value leaves
/// evaluation, and takes no part in equality.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refinement {
    /// How its text begins.
    pub prefix: SmolStr,
    /// The least it can be: of a collection the number of its elements, of a number the number itself.
    pub least: Option<usize>,
    /// The most it can be.
    pub most: Option<usize>,
}

impl Refinement {
    /// Of a text: how it begins.
    pub fn beginning(prefix: impl Into<SmolStr>) -> Self {
        Refinement { prefix: prefix.into(), ..Refinement::default() }
    }

    /// Of a collection or number: how large it is.
    pub fn bounds(least: usize, most: Option<usize>) -> Self {
        Refinement { least: Some(least), most, ..Refinement::default() }
    }

    /// The size, if only one is possible.
    fn exact_size(&self) -> Option<usize> {
        self.most.filter(|most| self.least == Some(*most))
    }
}

/// An unknown content of which something is known.
pub(super) struct Refined {
    pub(super) kind: Kind,
    refinement: Refinement,
}

impl Value {
    /// How many unknown elements stand for an unknown list of known length.
    const REFINED_LENGTH_MAX: usize = 10_000;

    /// A stand-in for a value of this type of which something is known. A list of known length is a list of unknown
    /// elements, and a number between equal bounds is known.
    pub fn refined(ty: Type, refinement: Refinement) -> Self {
        match (&ty, refinement.exact_size()) {
            (Type::List(element), Some(length)) if length <= Value::REFINED_LENGTH_MAX => {
                return Value::list((0..length).map(|_| Value::unknown((**element).clone())));
            }
            (Type::Set(_), Some(0)) => return Value::set([]),
            (Type::Map(_), Some(0)) => return Value::of(Kind::Map(Entries::default())),
            (Type::Number, Some(number)) => return Value::from(number),
            (Type::Any, _) => return Value::unknown(ty),
            _ => {}
        }
        let refined = Refined { kind: Kind::Unknown(ty), refinement };
        Value { content: Content::Refined(Arc::new(refined)), ..Value::NULL }
    }

    /// What is known of an unknown value.
    pub fn refinement(&self) -> Option<&Refinement> {
        match &self.content {
            Content::Plain(_) => None,
            Content::Refined(refined) => Some(&refined.refinement),
        }
    }

    /// Whether the value is known not to be null.
    pub fn is_never_null(&self) -> bool {
        match &self.content {
            Content::Plain(kind) => !matches!(kind, Kind::Null | Kind::Unknown(_)),
            Content::Refined(_) => true,
        }
    }

    /// The same value, known not to be null if it is unknown.
    #[must_use]
    pub fn never_null(self) -> Self {
        match &self.content {
            Content::Plain(Kind::Unknown(ty)) if *ty != Type::Any => {
                let refined = Value::refined(ty.clone(), Refinement::default());
                Value { content: refined.content, ..self }
            }
            _ => self,
        }
    }
}
