//! Dependency graphs: compact adjacency, linear-time order, the path of a cycle.
//!
//! Nodes are numbers from 0; the graph knows nothing of what they stand for. Nothing here recurses, so a chain of a
//! million nodes is no deeper than a chain of two.

/// What each node depends on, and what depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    dependencies: Adjacency,
    dependents: Adjacency,
}

/// Lists of neighbours, end to end in one vector.
#[derive(Clone, Debug)]
struct Adjacency {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Adjacency {
    fn new(nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0u32; nodes + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0u32; edges.len()];
        for (from, to) in edges {
            let slot = &mut next[*from as usize];
            neighbours[*slot as usize] = *to;
            *slot += 1;
        }
        Adjacency { starts, neighbours }
    }

    fn of(&self, node: usize) -> &[u32] {
        &self.neighbours[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Graph {
    /// A graph of this many nodes; an edge leads from a node to one it depends on. Repeated edges count once.
    pub(crate) fn new(nodes: usize, mut edges: Vec<(u32, u32)>) -> Self {
        edges.sort_unstable();
        edges.dedup();
        let reversed: Vec<(u32, u32)> = edges.iter().map(|(from, to)| (*to, *from)).collect();
        Graph { dependencies: Adjacency::new(nodes, &edges), dependents: Adjacency::new(nodes, &reversed) }
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.dependencies.starts.len() - 1
    }

    /// What a node depends on.
    pub(crate) fn dependencies(&self, node: usize) -> impl Iterator<Item = usize> + Clone {
        self.dependencies.of(node).iter().map(|node| *node as usize)
    }

    /// What depends on a node.
    pub(crate) fn dependents(&self, node: usize) -> impl Iterator<Item = usize> + Clone {
        self.dependents.of(node).iter().map(|node| *node as usize)
    }

    /// The nodes in an order in which each comes after all it depends on, or the nodes of a cycle in order.
    pub(crate) fn order(&self) -> Result<Vec<usize>, Vec<usize>> {
        let mut waiting: Vec<usize> = (0..self.len()).map(|node| self.dependencies.of(node).len()).collect();
        let mut order: Vec<usize> = (0..self.len()).filter(|node| waiting[*node] == 0).collect();
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
    fn cycle(&self, waiting: &[usize]) -> Vec<usize> {
        let stuck = |node: usize| waiting[node] > 0;
        let mut seen_at = vec![usize::MAX; self.len()];
        let mut path = Vec::new();
        let mut next = (0..self.len()).find(|node| stuck(*node));
        while let Some(node) = next {
            if seen_at[node] != usize::MAX {
                return path.split_off(seen_at[node]);
            }
            seen_at[node] = path.len();
            path.push(node);
            next = self.dependencies(node).find(|node| stuck(*node));
        }
        path
    }

    /// Whether a node is another, or depends on it by any way.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.len()];
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
    pub(crate) fn levels(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut depth = vec![0usize; self.len()];
        let mut levels: Vec<Vec<usize>> = Vec::new();
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
    pub(crate) fn remaining(&self, order: &[usize]) -> Vec<u32> {
        let mut remaining = vec![0u32; self.len()];
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

    #[test]
    fn each_node_comes_after_what_it_depends_on() {
        let graph = Graph::new(4, vec![(0, 1), (1, 2), (0, 3), (3, 2), (0, 1)]);
        assert_eq!(graph.order(), Ok(vec![2, 1, 3, 0]));
        assert_eq!(graph.levels(&graph.order().unwrap()), [vec![2], vec![1, 3], vec![0]]);
        assert_eq!(graph.remaining(&graph.order().unwrap()), [0, 1, 2, 1]);
    }

    /// PLAN-13
    #[test]
    fn a_cycle_is_given_as_its_path() {
        let graph = Graph::new(5, vec![(0, 1), (1, 2), (2, 3), (3, 1), (4, 0)]);
        assert_eq!(graph.order(), Err(vec![1, 2, 3]));
        assert_eq!(Graph::new(1, vec![(0, 0)]).order(), Err(vec![0]));
    }

    #[test]
    fn a_chain_of_a_million_needs_no_stack() {
        let nodes = 1_000_000;
        let graph = Graph::new(nodes, (1..nodes as u32).map(|node| (node, node - 1)).collect());
        let order = graph.order().unwrap();
        assert_eq!((order[0], order[nodes - 1]), (0, nodes - 1));
        assert_eq!(graph.remaining(&order)[0], nodes as u32 - 1);
    }
}
