//! Places for the nodes of a graph: layers from left to right by the longest way to what has no dependencies, and
//! within a layer an order that keeps edges short. Cycles are let be: an edge that closes one counts for no layer.

use super::DependencyGraph;

/// So often the order within layers is improved.
const SWEEPS: usize = 8;

/// For each layer its nodes, from top to bottom. What depends on nothing is in the first.
pub(super) fn layers(graph: &DependencyGraph) -> Vec<Vec<usize>> {
    let count = graph.nodes.len();
    let (mut needs, mut needed) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for &(from, to) in graph.edges.iter().filter(|(from, to)| from != to) {
        needs[from].push(to);
        needed[to].push(from);
    }
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for (node, layer) in depths(&needs, &needed).into_iter().enumerate() {
        if layers.len() <= layer {
            layers.resize(layer + 1, Vec::new());
        }
        layers[layer].push(node);
    }
    let mut places = vec![0.0; count];
    settle(&layers, &mut places);
    for sweep in 0..SWEEPS {
        let neighbours = if sweep % 2 == 0 { &needs } else { &needed };
        for layer in &mut layers {
            let middle = |node: &usize| {
                let near = &neighbours[*node];
                if near.is_empty() {
                    return places[*node];
                }
                near.iter().map(|other| places[*other]).sum::<f64>() / near.len() as f64
            };
            let mut wished: Vec<(f64, usize)> = layer.iter().map(|node| (middle(node), *node)).collect();
            wished.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
            *layer = wished.into_iter().map(|(_, node)| node).collect();
        }
        settle(&layers, &mut places);
    }
    layers
}

fn settle(layers: &[Vec<usize>], places: &mut [f64]) {
    for layer in layers {
        for (at, node) in layer.iter().enumerate() {
            places[*node] = at as f64 - layer.len() as f64 / 2.0;
        }
    }
}

/// The longest way from each node to what has no dependencies. Nodes of a cycle, which no order reaches, come last.
fn depths(needs: &[Vec<usize>], needed: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = needs.iter().map(Vec::len).collect();
    let mut depth = vec![0; needs.len()];
    let mut ready: Vec<usize> = (0..needs.len()).filter(|node| waiting[*node] == 0).collect();
    let mut reached = vec![false; needs.len()];
    while let Some(node) = ready.pop() {
        reached[node] = true;
        for &user in &needed[node] {
            depth[user] = depth[user].max(depth[node] + 1);
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.push(user);
            }
        }
    }
    let last = depth.iter().max().map_or(0, |deepest| deepest + 1);
    (0..needs.len()).map(|node| if reached[node] { depth[node] } else { last }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, edges: &[(usize, usize)]) -> DependencyGraph {
        let nodes = (0..count).map(|at| format!("x_y.n{at}").parse().unwrap()).collect();
        DependencyGraph { nodes, edges: edges.to_vec() }
    }

    #[test]
    fn each_node_lies_behind_what_it_depends_on() {
        let layers = layers(&graph(5, &[(1, 0), (2, 1), (3, 0), (2, 3)]));
        assert_eq!(layers, [vec![0, 4], vec![1, 3], vec![2]]);
    }

    #[test]
    fn nodes_stand_beside_what_they_depend_on() {
        let layers = layers(&graph(4, &[(2, 1), (3, 0)]));
        assert_eq!(layers, [[0, 1], [3, 2]]);
    }

    #[test]
    fn a_cycle_has_a_place() {
        let layers = layers(&graph(3, &[(0, 1), (1, 0), (2, 2)]));
        assert_eq!(layers, [vec![2], vec![0, 1]]);
    }
}
