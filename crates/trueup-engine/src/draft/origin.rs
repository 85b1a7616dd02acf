//! Which address the physical names of a resource follow from, where no record tells (RECONCILE-4).

use std::collections::{BTreeMap, BTreeSet};

use trueup_core::{Address, AddressRange, InstanceKey};
use trueup_program::Program;

use crate::mutations::planted;

/// More moves in a row than this are followed no further.
const PREDECESSORS_MAX: usize = 16;

/// The address that the names of a new resource follow from: its own, unless the names of one that moved away from there
/// still do. Then it is one that no resource has.
pub(super) fn fresh_origin(moved_away: &BTreeSet<Address>, address: &Address) -> Address {
    let is_free = |candidate: &Address| !moved_away.contains(candidate);
    if is_free(address) || planted!(ShareNames) {
        return address.clone();
    }
    let key = match address.key() {
        None => String::new(),
        Some(InstanceKey::Index(index)) => index.to_string(),
        Some(InstanceKey::Key(key)) => key.to_string(),
    };
    let other = |number: u64| address.with_key(Some(InstanceKey::Key(format!("{key}~{number}").into())));
    (2..).map(other).find(is_free).unwrap_or_else(|| address.clone())
}

/// The addresses that resources were renamed from, by their new ones, as their declarations tell.
pub(crate) fn renamed(program: &Program) -> BTreeMap<Address, Address> {
    let renamed = program.resources.iter().rev();
    renamed.filter_map(|it| Some((it.address.clone(), it.renamed_from.clone()?))).collect()
}

/// The addresses that a resource had before, as the program tells: the latest first.
pub(super) fn predecessors(
    program: &Program,
    renamed: &BTreeMap<Address, Address>,
    address: &Address,
) -> Vec<Address> {
    let mut found: Vec<Address> = Vec::new();
    let mut latest = address.clone();
    while let Some(before) = predecessor(program, renamed, &latest) {
        if before == *address || found.contains(&before) || found.len() == PREDECESSORS_MAX {
            break;
        }
        found.push(before.clone());
        latest = before;
    }
    found
}

fn predecessor(
    program: &Program,
    renamed: &BTreeMap<Address, Address>,
    address: &Address,
) -> Option<Address> {
    if let Some(before) = renamed.get(address) {
        return Some(before.clone());
    }
    program.moves.iter().find_map(|moved| {
        let (from, to): (&AddressRange, &AddressRange) = (&moved.from, &moved.to);
        to.rebase(from, address)
    })
}
