//! What is known of resource types, and of their outputs before anything is planned.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::schema::{Attribute, Block, Shape};
use trueup_core::{Address, Mode, Path, Type, Value};
use trueup_program::{FunctionAnswer, FunctionAnswers, FunctionCall, Reference, Scope};
use trueup_provider::{DataHandler, EphemeralHandler, ResourceHandler};

/// The types that a program uses.
#[derive(Default)]
pub(crate) struct Types(pub(crate) BTreeMap<(Mode, SmolStr), TypeSchema>);

/// What a type takes and gives.
#[derive(Clone)]
pub(crate) enum TypeSchema {
    Resource(Arc<dyn ResourceHandler>),
    Data(Arc<dyn DataHandler>),
    Ephemeral(Arc<dyn EphemeralHandler>),
}

impl TypeSchema {
    /// What the program sets.
    pub(crate) fn inputs(&self) -> &Block {
        match self {
            TypeSchema::Resource(handler) => &handler.schema().inputs,
            TypeSchema::Data(handler) => handler.inputs(),
            TypeSchema::Ephemeral(handler) => handler.schema(),
        }
    }

    /// What the provider answers.
    pub(crate) fn outputs(&self) -> &Block {
        match self {
            TypeSchema::Resource(handler) => &handler.schema().outputs,
            TypeSchema::Data(handler) => handler.outputs(),
            TypeSchema::Ephemeral(handler) => handler.schema(),
        }
    }

    /// A value of an attribute, in which lists are tuples if it may be of any type.
    fn declared(&self, name: &str, value: Value) -> Value {
        let is_open = |block: &Block| block.attributes.get(name).is_some_and(Self::is_open);
        if is_open(self.outputs()) || is_open(self.inputs()) { value.with_tuples() } else { value }
    }

    fn has_open(&self) -> bool {
        [self.outputs(), self.inputs()].iter().any(|block| block.attributes.values().any(Self::is_open))
    }

    fn is_open(attribute: &Attribute) -> bool {
        matches!(attribute.shape, Shape::Plain(Type::Any))
    }

    /// The type of an attribute as references see it: outputs come before inputs.
    fn attribute(&self, name: &str) -> Option<Type> {
        [self.outputs(), self.inputs()].into_iter().find_map(|block| {
            let attribute = block.attributes.get(name).map(|it| it.shape.implied_type());
            attribute.or_else(|| block.blocks.get(name).map(|it| it.shape().implied_type()))
        })
    }
}

impl Types {
    pub(crate) fn get(&self, mode: Mode, type_name: &str) -> Option<&TypeSchema> {
        self.0.get(&(mode, SmolStr::new(type_name)))
    }

    /// A value that was answered under a path as references see it: where any type may stand, lists are tuples, since
    /// records do not tell them apart.
    pub(crate) fn as_declared(&self, address: &Address, path: &Path, value: Value) -> Value {
        // Most values that are referred to are plain.
        if value.as_items().is_none() && value.as_entries().is_none() {
            return value;
        }
        let Some(schema) = self.get(address.mode(), address.type_name()) else { return value };
        let Some(name) = path.first_key() else {
            let Some(entries) = value.as_entries().filter(|_| schema.has_open()) else { return value };
            let entries =
                entries.iter().map(|(name, item)| (name.clone(), schema.declared(name, item.clone())));
            let object = Value::object(entries).with_marks(value.marks());
            return match value.origin() {
                Some(origin) => object.with_origin(origin),
                None => object,
            };
        };
        schema.declared(name, value)
    }

    /// All attributes of a type, for suggestions.
    pub(crate) fn attribute_names(&self, mode: Mode, type_name: &str) -> Vec<String> {
        let Some(schema) = self.get(mode, type_name) else { return Vec::new() };
        let names = schema.outputs().names().chain(schema.inputs().names());
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// Outputs before anything is planned: unknown, but of a known type; or as far as an earlier preview knows them.
pub(crate) struct StaticScope<'a> {
    pub(crate) types: &'a Types,
    pub(crate) known: Option<&'a dyn Scope>,
    pub(crate) answers: &'a FunctionAnswers,
}

impl Scope for StaticScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        if let Some(value) = self.known.and_then(|known| known.resolve(reference)) {
            return Some(value);
        }
        let address = &reference.address;
        let marks = address.mode().marks();
        let Some(schema) = self.types.get(address.mode(), address.type_name()) else {
            // The type itself is unknown; that is told where it is declared.
            return Some(Value::unknown(Type::Any).with_marks(marks));
        };
        match reference.path.first_key() {
            Some(name) => schema.attribute(name).map(|ty| Value::unknown(ty).with_marks(marks)),
            None => {
                let names = schema.outputs().names().chain(schema.inputs().names());
                let attributes: BTreeMap<&str, Type> =
                    names.filter_map(|name| Some((name, schema.attribute(name)?))).collect();
                Some(Value::unknown(Type::object(attributes)).with_marks(marks))
            }
        }
    }

    fn answer(&self, call: &FunctionCall) -> Option<FunctionAnswer> {
        self.answers.answer(call)
    }
}
