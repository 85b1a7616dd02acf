//! Resources that have another address than before (MOVE-1, MOVE-2, MOVE-3).
//!
//! Records take their new addresses before anything else looks at them, and so do the dependencies that other records
//! name. What they were before is kept, so that the executor can make the change durable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use indexmap::IndexMap;
use trueup_core::{Address, AddressRange, Diagnostic, Diagnostics, InstanceKey};
use trueup_state::{Record, Snapshot};

use super::Sources;
use crate::draft::{Original, Relocation, rewrite_dependencies};
use crate::plan::PlannedMove;

/// Gives records their new addresses.
pub(super) async fn relocate(
    sources: &Sources<'_>,
    snapshot: &mut Snapshot,
) -> Result<Relocation, Diagnostics> {
    if sources.kind.is_destroy() {
        return Ok(Relocation::default());
    }
    let declared = Moves::declared(sources)?;
    if declared.0.is_empty() && !any_counted(sources, snapshot) {
        return Ok(Relocation::default());
    }
    let targets = declared.targets(sources, snapshot)?;
    if targets.is_empty() {
        return Ok(Relocation::default());
    }
    refuse_foreign_types(sources, snapshot, &targets).await?;
    let mut relocation = Relocation::default();
    for (record, _) in &mut snapshot.records {
        if names_any(record, &targets) {
            let original = record.clone();
            let relinked = rewrite(Arc::make_mut(record), &targets);
            if record.address != original.address {
                let (from, to) = (original.address.clone(), record.address.clone());
                relocation.moves.push(PlannedMove { id: record.id, from, to });
            }
            relocation.originals.insert(record.id, Original { record: original, relinked });
        }
    }
    relocation.moves.sort_by(|left, right| left.to.cmp(&right.to));
    Ok(relocation)
}

/// Whether a record names an address that changes.
fn names_any(record: &Record, targets: &IndexMap<Address, Address>) -> bool {
    let mut named = std::iter::once(&record.address).chain(record.dependencies());
    named.any(|address| targets.contains_key(address))
}

/// Puts new addresses into a record. Those of its dependencies that have moved, and where to.
fn rewrite(record: &mut Record, targets: &IndexMap<Address, Address>) -> Vec<(Address, Address)> {
    if let Some(target) = targets.get(&record.address) {
        record.address = target.clone();
    }
    rewrite_dependencies(record, targets)
}

/// The moves that the program declares, by where they come from.
#[derive(Default)]
struct Moves(IndexMap<AddressRange, AddressRange>);

impl Moves {
    fn declared(sources: &Sources<'_>) -> Result<Self, Diagnostics> {
        let blocks = sources.program.moves.iter().map(|it| (it.from.clone(), it.to.clone()));
        let renames = sources.program.resources.iter();
        let renames = renames.filter_map(|it| Some((it.renamed_from.clone()?, it.address.clone())));
        let renames = renames.map(|(from, to)| (from.into(), to.into()));
        let mut moves = Moves::default();
        let mut origins: BTreeMap<AddressRange, AddressRange> = BTreeMap::new();
        let mut diagnostics = Diagnostics::new();
        for (from, to) in blocks.chain(renames) {
            let wrong = match (&from, &to) {
                (AddressRange::Resource(_), AddressRange::Module(_))
                | (AddressRange::Module(_), AddressRange::Resource(_)) => Some((
                    format!("{from} cannot move to {to}: one is a resource, the other a module"),
                    "name two resources or two modules",
                )),
                _ if moves.0.get(&from).is_some_and(|other| *other != to) => {
                    Some((format!("{from} is said to move to two places"), "remove one of the moves"))
                }
                _ if origins.get(&to).is_some_and(|other| *other != from) => {
                    Some((format!("two resources are said to move to {to}"), "remove one of the moves"))
                }
                _ => None,
            };
            if let Some((summary, hint)) = wrong {
                diagnostics.push(Diagnostic::error(summary).about(to.to_string()).hint(hint));
                continue;
            }
            origins.insert(to.clone(), from.clone());
            moves.0.insert(from, to);
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(moves) }
    }

    /// Where an address lies after one move.
    fn next(&self, address: &Address) -> Option<Address> {
        let rebased = |from: AddressRange| from.rebase(self.0.get(&from)?, address);
        let resource = rebased(address.clone().into());
        let resource = resource.or_else(|| rebased(address.with_key(None).into()));
        resource.or_else(|| {
            // The innermost module that moved counts.
            let steps = address.module().steps();
            (1..=steps.len()).rev().find_map(|depth| {
                let mut steps = steps[..depth].to_vec();
                let exact = trueup_core::ModulePath::new(steps.clone()).ok()?;
                steps.last_mut()?.key = None;
                let whole = trueup_core::ModulePath::new(steps).ok()?;
                rebased(AddressRange::Module(exact)).or_else(|| rebased(AddressRange::Module(whole)))
            })
        })
    }

    /// Where each recorded address ends up, chains followed to their end.
    fn targets(
        &self,
        sources: &Sources<'_>,
        snapshot: &Snapshot,
    ) -> Result<IndexMap<Address, Address>, Diagnostics> {
        let recorded: BTreeSet<&Address> =
            snapshot.records.iter().map(|(record, _)| &record.address).collect();
        let mut targets = IndexMap::new();
        let mut diagnostics = Diagnostics::new();
        if !self.0.is_empty() {
            for from in &recorded {
                match self.end_of(from) {
                    Ok(Some(end)) => {
                        targets.insert((*from).clone(), end);
                    }
                    Ok(None) => {}
                    Err(circular) => diagnostics.push(circular),
                }
            }
        }
        implied(sources, &recorded, &mut targets);
        let mut taken: BTreeMap<&Address, &Address> = BTreeMap::new();
        for (from, end) in &targets {
            let settled = recorded.contains(end) && !targets.contains_key(end);
            let summary = match taken.insert(end, from) {
                Some(other) => format!("{from} and {other} would both move to {end}"),
                None if settled => format!("{from} cannot move to {end}: there is a resource already"),
                None => continue,
            };
            let hint = "remove one of them from state, or the move";
            diagnostics.push(Diagnostic::error(summary).about(end.to_string()).hint(hint));
        }
        if diagnostics.has_errors() { Err(diagnostics) } else { Ok(targets) }
    }

    /// Where an address ends up; `None` if it does not move.
    fn end_of(&self, from: &Address) -> Result<Option<Address>, Diagnostic> {
        let mut end = None;
        for _ in 0..=self.0.len() {
            match self.next(end.as_ref().unwrap_or(from)) {
                Some(next) => end = Some(next),
                None => return Ok(end),
            }
        }
        let summary = format!("the moves of {from} go round in a circle");
        Err(Diagnostic::error(summary).hint("swap resources in two steps, by a third name"))
    }
}

/// Whether any resource has or had a `count`. Most stacks have none, and then looking further would be in vain.
fn any_counted(sources: &Sources<'_>, snapshot: &Snapshot) -> bool {
    let first = Some(&InstanceKey::Index(0));
    sources.program.resources.iter().any(|declared| declared.address.key() == first)
        || snapshot.records.iter().any(|(record, _)| record.address.key() == first)
}

/// A resource that got or lost its `count`: the one object there was is the first of many, and the other way round.
fn implied(sources: &Sources<'_>, recorded: &BTreeSet<&Address>, targets: &mut IndexMap<Address, Address>) {
    let first = Some(InstanceKey::Index(0));
    let candidates = recorded.iter().filter(|address| match address.key() {
        None => true,
        Some(key) => Some(key) == first.as_ref(),
    });
    let candidates: Vec<_> = candidates.map(|address| (*address).clone()).collect();
    if candidates.is_empty() {
        return;
    }
    let declared: BTreeSet<&Address> = sources.program.resources.iter().map(|it| &it.address).collect();
    for address in candidates {
        if declared.contains(&address) || targets.contains_key(&address) {
            continue;
        }
        let other = address.with_key(if address.key().is_none() { first.clone() } else { None });
        if declared.contains(&other) && !recorded.contains(&other) {
            targets.insert(address, other);
        }
    }
}

/// What becomes of another type needs a type that can take it over, and an object with which nothing is under way
/// (PLAN-20).
async fn refuse_foreign_types(
    sources: &Sources<'_>,
    snapshot: &Snapshot,
    targets: &IndexMap<Address, Address>,
) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    for (record, _) in &snapshot.records {
        let from = &record.address;
        let Some(to) = targets.get(from).filter(|to| to.type_name() != from.type_name()) else { continue };
        let mut refuse = |summary: String, hint: &str| {
            diagnostics.push(Diagnostic::error(summary).about(to.to_string()).hint(hint));
        };
        let ready = |record: &Record| {
            record.deposed.is_empty()
                && record.current.as_ref().is_some_and(|it| it.status == trueup_state::Status::Ready)
        };
        let declared = sources.program.resources.iter().find(|declared| declared.address == *to);
        let named = declared.and_then(|declared| declared.provider.clone());
        let provider = sources.provider_name(named, to.type_name());
        match sources.calls.resource_type(&provider, to.type_name()).await {
            Ok(handler) if !handler.moves_from(from.type_name()) => refuse(
                format!("{from} cannot move to {to}: they are of different types"),
                "declare a new resource instead",
            ),
            Ok(_) if !ready(record) => refuse(
                format!("{from} cannot become a {} while an operation on it is unfinished", to.type_name()),
                "deploy once without the move, then with it",
            ),
            // A type that nobody has is told where it is declared (PLAN-11).
            Ok(_) | Err(_) => {}
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// What the pass did, for a trace.
pub(super) fn dump(relocation: &Relocation) -> String {
    relocation.moves.iter().map(|moved| format!("{} -> {}\n", moved.from, moved.to)).collect()
}
