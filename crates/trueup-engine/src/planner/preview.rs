//! What a plan knows of its nodes, for whoever wants that and no plan: it outlives the program it was planned from.

use std::sync::Arc;

use indexmap::IndexMap;
use trueup_core::schema::Block;
use trueup_core::{Address, Value};
use trueup_program::{Reference, Scope};
use trueup_provider::{DataHandler, EphemeralHandler, ResourceHandler};

use crate::draft::node::NodeKind;
use crate::draft::{Attributes, Draft, attribute, data_blocks, resource_blocks};

/// The outputs of a program's resources and data sources, as far as a plan knows them.
pub struct Preview {
    nodes: IndexMap<Address, (Type, Option<Attributes>)>,
}

enum Type {
    Resource(Arc<dyn ResourceHandler>),
    Data(Arc<dyn DataHandler>),
    Ephemeral(Arc<dyn EphemeralHandler>),
}

impl Type {
    fn blocks(&self) -> [&Block; 2] {
        match self {
            Type::Resource(handler) => resource_blocks(&**handler),
            Type::Data(handler) => data_blocks(&**handler),
            Type::Ephemeral(handler) => [handler.schema(), handler.schema()],
        }
    }
}

impl From<Draft<'_>> for Preview {
    fn from(draft: Draft<'_>) -> Self {
        let known = draft.nodes.into_iter().zip(draft.attributes).map(|(node, attributes)| {
            let of_type = match node.kind {
                NodeKind::Resource { handler, .. } => Type::Resource(handler),
                NodeKind::Data { handler, .. } => Type::Data(handler),
                NodeKind::Ephemeral { handler, .. } => Type::Ephemeral(handler),
            };
            (node.address, (of_type, attributes))
        });
        Preview { nodes: known.collect() }
    }
}

impl Scope for Preview {
    fn resolve(&self, reference: &Reference) -> Option<Value> {
        let (of_type, attributes) = self.nodes.get(&reference.address)?;
        let found = attribute(of_type.blocks(), attributes.as_ref(), &reference.path);
        found.map(|value| value.with_marks(reference.address.mode().marks()))
    }
}
