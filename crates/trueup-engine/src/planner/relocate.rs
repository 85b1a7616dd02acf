//! Resources that have another address than before (MOVE-1, MOVE-2).
//!
//! Records take their new addresses before anything else looks at them, and so do the dependencies that other records
//! name. What they were before is kept, so that the executor can make the change durable.

use std::sync::Arc;

use indexmap::IndexMap;
use trueup_core::{Address, Diagnostic, Diagnostics};
use trueup_state::{Metadata, Record, RecordId, Snapshot};

use super::Sources;
use crate::plan::PlannedMove;

/// What moving came to.
#[derive(Default)]
pub(crate) struct Relocation {
    pub(crate) moves: Vec<PlannedMove>,
    /// Records as they are stored, where moving changed them.
    pub(crate) originals: IndexMap<RecordId, Original>,
}

/// What a record says in the store.
pub(crate) struct Original {
    pub(crate) address: Address,
    pub(crate) meta: Metadata,
}

impl Relocation {
    /// A record as it stands in the store.
    pub(crate) fn as_stored(&self, mut record: Arc<Record>) -> Arc<Record> {
        if let Some(original) = self.originals.get(&record.id) {
            let record = Arc::make_mut(&mut record);
            record.address = original.address.clone();
            record.meta = original.meta.clone();
        }
        record
    }
}

/// Gives records their new addresses.
pub(super) fn relocate(sources: &Sources<'_>, snapshot: &mut Snapshot) -> Result<Relocation, Diagnostics> {
    if sources.destroy {
        return Ok(Relocation::default());
    }
    let declared = declared_moves(sources)?;
    if declared.is_empty() {
        return Ok(Relocation::default());
    }
    let targets = targets(&declared, snapshot)?;
    let mut relocation = Relocation::default();
    for (record, _) in &mut snapshot.records {
        if names_any(record, &targets) {
            let original = Original { address: record.address.clone(), meta: record.meta.clone() };
            rewrite(Arc::make_mut(record), &targets);
            if record.address != original.address {
                let (from, to) = (original.address.clone(), record.address.clone());
                relocation.moves.push(PlannedMove { id: record.id, from, to });
            }
            relocation.originals.insert(record.id, original);
        }
    }
    relocation.moves.sort_by(|left, right| left.to.cmp(&right.to));
    Ok(relocation)
}

/// Whether a record names an address that changes.
fn names_any(record: &Record, targets: &IndexMap<Address, Address>) -> bool {
    let mut named = std::iter::once(&record.address).chain(&record.meta.dependencies);
    named.any(|address| targets.contains_key(address))
}

/// Puts new addresses into a record.
fn rewrite(record: &mut Record, targets: &IndexMap<Address, Address>) {
    for address in std::iter::once(&mut record.address).chain(&mut record.meta.dependencies) {
        if let Some(target) = targets.get(address) {
            *address = target.clone();
        }
    }
    record.meta.dependencies.sort();
}

/// All moves that the program declares, by where they come from.
fn declared_moves(sources: &Sources<'_>) -> Result<IndexMap<Address, Address>, Diagnostics> {
    let blocks = sources.program.moves.iter().map(|it| (it.from.clone(), it.to.clone()));
    let renames = sources.program.resources.iter();
    let renames = renames.filter_map(|it| Some((it.renamed_from.clone()?, it.address.clone())));
    let mut moves: IndexMap<Address, Address> = IndexMap::new();
    let mut diagnostics = Diagnostics::new();
    for (from, to) in blocks.chain(renames) {
        let mut refuse = |summary: String, hint: &str| {
            diagnostics.push(Diagnostic::error(summary).about(to.to_string()).hint(hint));
        };
        if from.type_name() != to.type_name() {
            refuse(
                format!("{from} cannot move to {to}: they are of different types"),
                "declare a new resource instead",
            );
        } else if moves.get(&from).is_some_and(|other| *other != to) {
            refuse(format!("{from} is said to move to two places"), "remove one of the moves");
        } else if moves.iter().any(|(other, target)| *target == to && *other != from) {
            refuse(format!("two resources are said to move to {to}"), "remove one of the moves");
        } else {
            moves.insert(from, to);
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(moves) }
}

/// Where each recorded address ends up, chains followed to their end.
fn targets(
    moves: &IndexMap<Address, Address>,
    snapshot: &Snapshot,
) -> Result<IndexMap<Address, Address>, Diagnostics> {
    let recorded: std::collections::BTreeSet<&Address> =
        snapshot.records.iter().map(|(record, _)| &record.address).collect();
    let mut targets = IndexMap::new();
    let mut diagnostics = Diagnostics::new();
    for from in moves.keys().filter(|from| recorded.contains(*from)) {
        let mut end = from;
        let mut steps = 0;
        while let Some(next) = moves.get(end) {
            end = next;
            steps += 1;
            if steps > moves.len() {
                let summary = format!("the moves of {from} go round in a circle");
                diagnostics
                    .push(Diagnostic::error(summary).hint("swap resources in two steps, by a third name"));
                break;
            }
        }
        if steps > moves.len() {
            continue;
        }
        if recorded.contains(end) {
            let summary = format!("{from} cannot move to {end}: there is a resource already");
            let hint = "remove one of them from state, or the move";
            diagnostics.push(Diagnostic::error(summary).about(end.to_string()).hint(hint));
            continue;
        }
        targets.insert(from.clone(), end.clone());
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(targets) }
}
