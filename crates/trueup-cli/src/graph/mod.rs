//! The dependencies of a program as a picture: `dot` and `mermaid` for other tools, `svg` on its own.

mod layout;
mod svg;
mod text;

use std::collections::BTreeMap;

use trueup_core::{Address, Mode};
use trueup_program::Program;

pub(crate) use svg::svg;
pub(crate) use text::{dot, json, mermaid};

use crate::render::natural::sort_by_address;

/// Resources and what they depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct DependencyGraph {
    /// The resources and data sources, in natural order.
    pub nodes: Vec<Address>,
    /// Who depends, on whom; by number, sorted.
    pub edges: Vec<(usize, usize)>,
}

impl DependencyGraph {
    /// What a program declares. Dependencies come from references, `depends_on` and bindings.
    pub(crate) fn of(program: &Program) -> Self {
        let mut needs: BTreeMap<&Address, Vec<&Address>> = BTreeMap::new();
        for declared in &program.resources {
            let own = needs.entry(&declared.address).or_default();
            own.extend(declared.inputs.references().into_iter().map(|reference| &reference.address));
            own.extend(&declared.depends_on);
            for binding in &declared.bindings {
                own.extend(binding.payload.references().into_iter().map(|reference| &reference.address));
            }
        }
        for declared in &program.data {
            let own = needs.entry(&declared.address).or_default();
            own.extend(declared.inputs.references().into_iter().map(|reference| &reference.address));
            own.extend(&declared.depends_on);
        }
        let mut nodes: Vec<Address> = needs.keys().map(|address| (*address).clone()).collect();
        sort_by_address(&mut nodes, |node| node);
        let places: BTreeMap<&Address, usize> =
            nodes.iter().enumerate().map(|(at, node)| (node, at)).collect();
        let mut edges: Vec<(usize, usize)> = needs
            .iter()
            .flat_map(|(from, to)| to.iter().map(move |to| (*from, *to)))
            .filter_map(|(from, to)| Some((*places.get(from)?, *places.get(to)?)))
            .collect();
        edges.sort_unstable();
        edges.dedup();
        DependencyGraph { nodes, edges }
    }

    fn is_data(&self, node: usize) -> bool {
        self.nodes[node].mode() == Mode::Data
    }
}
