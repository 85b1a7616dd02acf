//! The attributes of nodes as references see them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use indexmap::IndexMap;
use smol_str::SmolStr;
use trueup_core::schema::{Block, ResourceSchema};
use trueup_core::{Address, KnownSecrets, Path, Step, Value};
use trueup_program::{FunctionAnswer, FunctionAnswers, FunctionCall, Reference, Scope};
use trueup_provider::{DataHandler, ResourceHandler};

use super::node::Node;
use crate::index::{NodeIndex, PerNode};

/// What references see of a node: its outputs, and its inputs where no output has that name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    inputs: Value,
    outputs: Value,
    /// Both as one value, made when the first reference asks for it: all that ask share it.
    whole: OnceLock<Value>,
}

impl Attributes {
    pub(crate) fn new(inputs: Value, outputs: Value) -> Self {
        Attributes { inputs, outputs, whole: OnceLock::new() }
    }

    pub(crate) fn inputs(&self) -> &Value {
        &self.inputs
    }

    pub(crate) fn outputs(&self) -> &Value {
        &self.outputs
    }
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.inputs == other.inputs && self.outputs == other.outputs
    }
}

/// The outputs of nodes, as far as they are known.
pub(crate) struct NodeScope<'a> {
    pub(crate) index: &'a IndexMap<Address, NodeIndex>,
    pub(crate) nodes: &'a PerNode<Node<'a>>,
    pub(crate) attributes: &'a PerNode<Option<Attributes>>,
    pub(crate) applying: bool,
    pub(crate) answers: &'a FunctionAnswers,
    pub(crate) secrets: &'a KnownSecrets,
}

impl Scope for NodeScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        let at = *self.index.get(&reference.address)?;
        let found = attribute(self.nodes[at].blocks(), self.attributes[at].as_ref(), &reference.path);
        found.map(|value| value.with_marks(reference.address.mode().marks()))
    }

    fn is_final(&self) -> bool {
        self.applying
    }

    fn report_sources(&self, values: &[Value]) {
        self.secrets.learn(values);
    }

    fn answer(&self, call: &FunctionCall) -> Option<FunctionAnswer> {
        self.answers.answer(call)
    }
}

/// What a reference sees of a node with these outputs and inputs; `None` if the node has no such attribute.
pub(crate) fn attribute(blocks: [&Block; 2], attributes: Option<&Attributes>, path: &Path) -> Option<Value> {
    let Some(Attributes { inputs, outputs, whole }) = attributes else {
        return Some(Value::unknown(trueup_core::Type::Any));
    };
    if path.steps().is_empty() {
        return Some(whole.get_or_init(|| whole_of(blocks, inputs, outputs)).clone());
    }
    let found = outputs.at(path).or_else(|| inputs.at(path));
    found.or_else(|| {
        // An attribute that the schema knows and nobody set is null; any other is a mistake.
        let name = path.first_key()?;
        let known = blocks.into_iter().flat_map(Block::names).any(|own| own == name);
        (known && path.steps().len() == 1).then_some(Value::NULL)
    })
}

/// A whole node: every attribute that its schema knows, null where nobody set it.
fn whole_of(blocks: [&Block; 2], inputs: &Value, outputs: &Value) -> Value {
    let names = blocks.into_iter().flat_map(Block::names);
    let attribute = |name: &str| {
        let path = Path::ROOT.join(Step::Key(name.into()));
        let found = outputs.at(&path).or_else(|| inputs.at(&path));
        (SmolStr::new(name), found.unwrap_or_default())
    };
    // A name that is both an input and an output is one attribute.
    let entries: BTreeMap<SmolStr, Value> = names.map(attribute).collect();
    Value::object(entries)
}

/// The outputs and inputs of a resource type.
pub(crate) fn resource_blocks(handler: &dyn ResourceHandler) -> [&Block; 2] {
    let ResourceSchema { inputs, outputs, .. } = handler.schema();
    [outputs, inputs]
}

/// The outputs and inputs of a data source type.
pub(crate) fn data_blocks(handler: &dyn DataHandler) -> [&Block; 2] {
    [handler.outputs(), handler.inputs()]
}
