//! What records keep of a node besides its object.

use trueup_core::Address;
use trueup_state::Metadata;

use super::Draft;
use crate::index::NodeIndex;

/// What the program says of a node besides its inputs.
pub(crate) fn metadata(draft: &Draft, at: NodeIndex) -> Metadata {
    let node = &draft.nodes[at];
    let addresses = |others: &mut dyn Iterator<Item = NodeIndex>| {
        let all = others.map(|other| draft.nodes[other].address.clone());
        let mut found: Vec<Address> = all.filter(|it| it.mode() == trueup_core::Mode::Resource).collect();
        found.sort();
        found
    };
    let dependencies = addresses(&mut draft.upstream(at));
    let circular = addresses(&mut draft.circular.get(&at).into_iter().flatten().copied());
    let options = node.declared().map(|declared| &declared.options);
    Metadata {
        provider: node.provider.clone(),
        dependencies,
        circular,
        protect: options.is_some_and(|options| options.protect),
        retain: options.is_some_and(|options| options.retain),
        secret_sources: None,
    }
}
