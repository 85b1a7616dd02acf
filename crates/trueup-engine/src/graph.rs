//! Dependency graphs: compact adjacency, linear-time order, the path of a cycle.
//!
//! Nodes are indices of some kind; the graph knows nothing of what they stand for. Nothing here recurses, so a chain of
//! a million nodes is no deeper than a chain of two.

use crate::index::{Indexed, ItemIndex, indices};

/// What each node depends on, and what depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Graph<I> {
    dependencies: Adjacency<I>,
    dependents: Adjacency<I>,
}

/// Lists of neighbours, end to end in one vector.
#[derive(Clone, Debug)]
struct Adjacency<I> {
    starts: Vec<u32>,
    neighbours: Vec<I>,
}

impl<I: ItemIndex> Adjacency<I> {
    fn new(nodes: usize, edges: &[(I, I)]) -> Self {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges {
            starts[from.position() + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![I::new(0); edges.len()];
        for (from, to) in edges {
            let place = &mut next[from.position()];
            neighbours[*place as usize] = *to;
            *place += 1;
        }
        Adjacency { starts, neighbours }
    }

    fn of(&self, node: I) -> &[I] {
        let at = node.position();
        &self.neighbours[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl<I: ItemIndex> Graph<I> {
    /// A graph of this many nodes; an edge leads from a node to one it depends on. Repeated edges count once.
    pub(crate) fn new(nodes: usize, mut edges: Vec<(I, I)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let reversed: Vec<(I, I)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
        Graph { dependencies: Adjacency::new(nodes, &edges), dependents: Adjacency::new(nodes, &reversed) }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.dependencies.starts.len() - 1
    }

    fn nodes(&self) -> impl Iterator<Item = I> + use<I> {
        indices(self.len())
    }

    /// What a node depends on.
    pub(crate) fn dependencies(&self, node: I) -> impl Iterator<Item = I> + Clone {
        self.dependencies.of(node).iter().copied()
    }

    /// What depends on a node.
    pub(crate) fn dependents(&self, node: I) -> impl Iterator<Item = I> + Clone {
        self.dependents.of(node).iter().copied()
    }

    /// The nodes in an order in which each comes after all it depends on, or the nodes of a cycle in order.
    pub(crate) fn order(&self) -> Result<Vec<I>, Vec<I>> {
        let mut waiting: Indexed<I, usize> =
            self.nodes().map(|node| self.dependencies.of(node).len()).collect();
        let mut order: Vec<I> = self.nodes().filter(|node| waiting[*node] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for dependent in self.dependents(node) {
                waiting[dependent] -= 1;
                if waiting[dependent] == 0 {
                    order.push(dependent);
                }
            }
        }
        if order.len() == self.len() { Ok(order) } else { Err(self.cycle(&waiting)) }
    }

    /// A cycle among the nodes that still wait: each of them waits for another, so walking on must come round.
    fn cycle(&self, waiting: &Indexed<I, usize>) -> Vec<I> {
        let stuck = |node: I| waiting[node] > 0;
        let mut seen_at = Indexed::filled(None, self.len());
        let mut path = Vec::new();
        let mut next = self.nodes().find(|node| stuck(*node));
        while let Some(node) = next {
            if let Some(seen_at) = seen_at[node].replace(path.len()) {
                return path.split_off(seen_at);
            }
            path.push(node);
            next = self.dependencies(node).find(|node| stuck(*node));
        }
        path
    }

    /// Whether a node is another, or depends on it by any way.
    pub(crate) fn reaches(&self, from: I, to: I) -> bool {
        let mut seen = Indexed::filled(false, self.len());
        let mut reached = vec![from];
        while let Some(node) = reached.pop() {
            if node == to {
                return true;
            }
            if !std::mem::replace(&mut seen[node], true) {
                reached.extend(self.dependencies(node));
            }
        }
        false
    }

    /// The nodes by depth: each level needs only those before it.
    pub(crate) fn levels(&self, order: &[I]) -> Vec<Vec<I>> {
        let mut depth = Indexed::filled(0usize, self.len());
        let mut levels: Vec<Vec<I>> = Vec::new();
        for &node in order {
            depth[node] = self.dependencies(node).map(|dependency| depth[dependency] + 1).max().unwrap_or(0);
            if levels.len() <= depth[node] {
                levels.resize(depth[node] + 1, Vec::new());
            }
            levels[depth[node]].push(node);
        }
        levels
    }

    /// For each node, how long the longest chain of nodes is that waits for it: who should go first.
    pub(crate) fn remaining(&self, order: &[I]) -> Indexed<I, u32> {
        let mut remaining = Indexed::filled(0u32, self.len());
        for &node in order.iter().rev() {
            remaining[node] =
                self.dependents(node).map(|dependent| remaining[dependent] + 1).max().unwrap_or(0);
        }
        remaining
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::NodeIndex;

    fn graph(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> Graph<NodeIndex> {
        let edges = edges.into_iter().map(|(from, to)| (NodeIndex::new(from), NodeIndex::new(to)));
        Graph::new(nodes, edges.collect())
    }

    fn nodes<const COUNT: usize>(nodes: [u32; COUNT]) -> Vec<NodeIndex> {
        nodes.map(NodeIndex::new).to_vec()
    }

    #[test]
    fn each_node_comes_after_what_it_depends_on() {
        let graph = graph(4, [(0, 1), (1, 2), (0, 3), (3, 2), (0, 1)]);
        assert_eq!(graph.order(), Ok(nodes([2, 1, 3, 0])));
        assert_eq!(graph.levels(&graph.order().unwrap()), [nodes([2]), nodes([1, 3]), nodes([0])]);
        assert_eq!(graph.remaining(&graph.order().unwrap()), vec![0, 1, 2, 1].into());
    }

    /// PLAN-13
    #[test]
    fn a_cycle_is_given_as_its_path() {
        assert_eq!(graph(5, [(0, 1), (1, 2), (2, 3), (3, 1), (4, 0)]).order(), Err(nodes([1, 2, 3])));
        assert_eq!(graph(1, [(0, 0)]).order(), Err(nodes([0])));
    }

    #[test]
    fn a_chain_of_a_million_needs_no_stack() {
        let last = 999_999;
        let graph = graph(1_000_000, (1..=last).map(|node| (node, node - 1)));
        let order = graph.order().unwrap();
        assert_eq!([order[0], order[999_999]].to_vec(), nodes([0, last]));
        assert_eq!(graph.remaining(&order)[order[0]], last);
    }
}
