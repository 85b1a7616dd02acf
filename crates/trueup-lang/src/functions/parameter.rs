//! What a function declares about itself.

use trueup_core::{Kind, Type, Value};

use super::{Call, Outcome, Problem};
use crate::types::unify;

/// A function and what it declares.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
    /// What further arguments are, if there may be any.
    pub(crate) variadic: Option<Parameter>,
    pub(crate) returns: Returns,
    /// Whether it is called with arguments that are not wholly known.
    pub(crate) sees_unknown: bool,
    /// Whether it sees secret marks and places them itself.
    pub(crate) sees_secrets: bool,
    pub(crate) call: fn(&Call<'_>) -> Outcome,
}

impl Function {
    /// How it is called, by the names of its parameters.
    pub(crate) fn signature(&self) -> String {
        let named = self.parameters.iter().map(|parameter| parameter.name.to_owned());
        let further = self.variadic.iter().map(|parameter| format!("{}...", parameter.name));
        format!("{}({})", self.name, named.chain(further).collect::<Vec<_>>().join(", "))
    }
}

/// What an argument must be.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) wanted: Wanted,
    pub(crate) nullable: bool,
}

/// The type of an argument. Types themselves cannot stand in tables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    Number,
    Text,
    Bools,
    List,
    Texts,
    Set,
    MapOfTexts,
}

/// The type of a function's results.
#[derive(Clone, Copy)]
pub(crate) enum Returns {
    Any,
    Bool,
    Number,
    Text,
    Texts,
    Numbers,
    SetOfTexts,
    MapOfTexts,
    /// The type of an argument.
    Same(usize),
    /// The type of an argument's elements.
    Element(usize),
    /// The type that all arguments have in common.
    Common,
}

/// A function without variadic arguments that sees neither unknown nor secret values.
pub(crate) const fn function(
    name: &'static str,
    parameters: &'static [Parameter],
    returns: Returns,
    call: fn(&Call<'_>) -> Outcome,
) -> Function {
    Function { name, parameters, variadic: None, returns, sees_unknown: false, sees_secrets: false, call }
}

/// A parameter that must not be null.
pub(crate) const fn param(name: &'static str, wanted: Wanted) -> Parameter {
    Parameter { name, wanted, nullable: false }
}

/// A parameter of any type that must not be null.
pub(crate) const fn any(name: &'static str) -> Parameter {
    param(name, Wanted::Any)
}

/// A parameter of any type that may be null.
pub(crate) const fn nullable(name: &'static str) -> Parameter {
    Parameter { name, wanted: Wanted::Any, nullable: true }
}

impl Function {
    pub(crate) const fn more(mut self, parameter: Parameter) -> Self {
        self.variadic = Some(parameter);
        self
    }

    /// Called with arguments that are not wholly known.
    pub(crate) const fn with_unknown(mut self) -> Self {
        self.sees_unknown = true;
        self
    }

    /// Sees secret marks and places them itself.
    pub(crate) const fn with_secrets(mut self) -> Self {
        self.sees_secrets = true;
        self
    }

    /// Whether secrets inside its arguments may decide if it has a result. Those that place marks themselves look at the
    /// arguments as a whole, unless they evaluate a template.
    pub(crate) fn depends_on_content(&self) -> bool {
        !self.sees_secrets || self.renders_template()
    }

    /// Whether it evaluates a template in its turn.
    pub(crate) fn renders_template(&self) -> bool {
        matches!(self.name, "templatestring" | "templatefile")
    }

    pub(super) fn parameter(&self, at: usize) -> &Parameter {
        const REST: Parameter = any("argument");
        self.parameters.get(at).or(self.variadic.as_ref()).unwrap_or(&REST)
    }

    pub(super) fn check_count(&self, given: usize) -> Result<(), Problem> {
        let wanted = self.parameters.len();
        let fits = if self.variadic.is_some() { given >= wanted } else { given == wanted };
        if fits {
            return Ok(());
        }
        let names: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name).collect();
        let at_least = if self.variadic.is_some() { "at least " } else { "" };
        let expected = match wanted {
            0 => "no arguments".to_owned(),
            1 => format!("{at_least}1 argument ({})", names[0]),
            _ => format!("{at_least}{wanted} arguments ({})", names.join(", ")),
        };
        Err(Problem::new(format!("expected {expected}, found {given}")))
    }
}

impl Wanted {
    /// The type to convert to, unless everything is welcome as it is.
    pub(super) fn ty(self) -> Option<Type> {
        match self {
            Wanted::Any => None,
            Wanted::Number => Some(Type::Number),
            Wanted::Text => Some(Type::String),
            Wanted::Bools => Some(Type::list(Type::Bool)),
            Wanted::List => Some(Type::list(Type::Any)),
            Wanted::Texts => Some(Type::list(Type::String)),
            Wanted::Set => Some(Type::set(Type::Any)),
            Wanted::MapOfTexts => Some(Type::map(Type::list(Type::String))),
        }
    }
}

impl Returns {
    pub(super) fn ty(self, arguments: &[Value]) -> Type {
        match self {
            Returns::Any => Type::Any,
            Returns::Bool => Type::Bool,
            Returns::Number => Type::Number,
            Returns::Text => Type::String,
            Returns::Texts => Type::list(Type::String),
            Returns::Numbers => Type::list(Type::Number),
            Returns::SetOfTexts => Type::set(Type::String),
            Returns::MapOfTexts => Type::map(Type::list(Type::String)),
            Returns::Same(at) => match arguments.get(at).map(Value::kind) {
                Some(Kind::Unknown(ty)) => ty.clone(),
                _ => arguments.get(at).map_or(Type::Any, Type::of),
            },
            Returns::Common => {
                unify(&arguments.iter().map(Type::of).collect::<Vec<_>>()).unwrap_or(Type::Any)
            }
            Returns::Element(at) => match arguments.get(at).map(Value::kind) {
                Some(Kind::Unknown(Type::List(element) | Type::Set(element) | Type::Map(element))) => {
                    (**element).clone()
                }
                _ => Type::Any,
            },
        }
    }
}
