//! What a saved plan stands on: the records it acts on, what they depend on, and who depends on what goes (PLANFILE-2).
//! All else in the stack may change without a word.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use trueup_core::{Address, Diagnostic, Diagnostics, Mode};
use trueup_program::Program;
use trueup_state::{RecordId, Snapshot, Version};

use super::PLAN_AGAIN;
use crate::draft::Draft;
use crate::draft::node::Sight;
use crate::executor::main_tasks;
use crate::index::NodeIndex;
use crate::plan::{Action, Plan};

/// What a saved plan stands on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reach {
    /// What is planned again when it is carried out: what it acts on, its upstream, the dependents of what goes, and
    /// data sources.
    pub(crate) addresses: BTreeSet<Address>,
    /// The records that must be as they were.
    records: Vec<Footing>,
    /// Where nothing may be recorded.
    absent: BTreeSet<Address>,
    /// Who depends on what is deleted or replaced, by what is recorded.
    dependents: BTreeMap<Address, BTreeSet<RecordId>>,
}

/// A record that must be as it was.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Footing {
    id: RecordId,
    address: Address,
    version: Version,
}

impl Reach {
    /// What this plan of a program stands on.
    pub(crate) fn of(program: &Program, draft: &Draft<'_>, plan: &Plan) -> Self {
        let acted = acted_on(draft);
        let mut standing = acted.clone();
        standing.extend(referred_by_outputs(program, draft, plan));
        let providers: BTreeSet<&str> = acted.iter().map(|at| draft.nodes[*at].provider.as_str()).collect();
        let configured = program.providers.iter().filter(|it| providers.contains(it.name.as_str()));
        let referred = configured.flat_map(|provider| provider.config.references());
        standing.extend(referred.filter_map(|it| draft.index.get(&it.address).copied()));
        let mut reached: Vec<NodeIndex> = standing.iter().copied().collect();
        while let Some(at) = reached.pop() {
            reached.extend(draft.upstream(at).filter(|other| standing.insert(*other)));
        }
        let mut reach = Reach::default();
        for &at in &standing {
            let node = &draft.nodes[at];
            match &node.record {
                Some((record, version)) => {
                    let (id, address) = (record.id, node.address.clone());
                    reach.records.push(Footing { id, address, version: *version });
                }
                None if node.address.mode() == Mode::Resource => {
                    reach.absent.insert(node.address.clone());
                }
                None => {}
            }
            reach.addresses.insert(node.address.clone());
        }
        for at in acted.into_iter().filter(|at| goes(draft, *at)) {
            let recorded = draft.recorded_graph.dependents(at).filter(|other| *other != at);
            let ids = recorded.filter_map(|other| Some(draft.nodes[other].record.as_ref()?.0.id));
            reach.dependents.insert(draft.nodes[at].address.clone(), ids.collect());
            let all = draft.recorded_graph.dependents(at).chain(draft.downstream(at));
            reach.addresses.extend(all.map(|other| draft.nodes[other].address.clone()));
        }
        let data = draft.nodes.enumerate().filter(|(_, node)| node.address.mode() == Mode::Data);
        let data = data.filter(|(at, _)| draft.selection.contains(*at));
        reach.addresses.extend(data.map(|(_, node)| node.address.clone()));
        reach
    }

    /// The resources that must be as they were, rather than just still be there.
    pub(crate) fn standing(&self) -> BTreeSet<&Address> {
        self.absent.iter().chain(self.records.iter().map(|it| &it.address)).collect()
    }

    /// What has changed of it, by what is recorded now.
    pub(crate) fn changed(&self, snapshot: &Snapshot) -> Diagnostics {
        let recorded: BTreeMap<RecordId, Version> =
            snapshot.records.iter().map(|(record, version)| (record.id, *version)).collect();
        let mut changed = Diagnostics::new();
        for Footing { id, address, version } in &self.records {
            let why = match recorded.get(id) {
                None => "is no longer recorded",
                Some(now) if now != version => "was changed since the plan was made",
                Some(_) => continue,
            };
            changed.push(stale(address, why));
        }
        let own: BTreeSet<RecordId> = self.records.iter().map(|it| it.id).collect();
        for (record, _) in &snapshot.records {
            if self.absent.contains(&record.address) && !own.contains(&record.id) {
                changed.push(stale(&record.address, "was made since the plan was"));
            }
        }
        changed
    }

    /// Whose dependents are others than they were, in what the same plan stands on now.
    pub(crate) fn changed_dependents(&self, now: &Reach) -> Diagnostics {
        let mut changed = Diagnostics::new();
        for (address, dependents) in &self.dependents {
            if now.dependents.get(address) != Some(dependents) {
                changed.push(stale(address, "has other dependents than when the plan was made"));
            }
        }
        changed
    }
}

fn stale(address: &Address, why: &str) -> Diagnostic {
    Diagnostic::error(format!("{address} {why}")).about(address.to_string()).hint(PLAN_AGAIN)
}

/// The nodes of which something is done or recorded.
fn acted_on(draft: &Draft<'_>) -> BTreeSet<NodeIndex> {
    let mut acted: BTreeSet<NodeIndex> = main_tasks(draft).tasks.iter().map(|task| task.node()).collect();
    for (at, node) in draft.nodes.enumerate().filter(|(at, _)| draft.selection.contains(*at)) {
        let written = node.record.as_ref().is_some_and(|(record, _)| {
            !record.deposed.is_empty() || draft.relocation.originals.contains_key(&record.id)
        });
        if written || node.decision.action != Action::NoOp {
            acted.insert(at);
        }
    }
    acted
}

/// Whether an object of a node goes, or may.
fn goes(draft: &Draft<'_>, at: NodeIndex) -> bool {
    let node = &draft.nodes[at];
    let deposed = node.record.as_ref().is_some_and(|(record, _)| !record.deposed.is_empty());
    deposed
        || matches!(
            node.decision.action,
            Action::Delete | Action::Forget | Action::Replace | Action::MayReplace
        )
}

/// What those outputs refer to that change, or follow from objects that are not as recorded.
fn referred_by_outputs(program: &Program, draft: &Draft<'_>, plan: &Plan) -> Vec<NodeIndex> {
    let changes = plan.output_changes();
    let changing = |name: &str| changes.iter().any(|change| change.path.first_key() == Some(name));
    let drifted = |at: &NodeIndex| matches!(draft.nodes[*at].sight, Sight::Present(_));
    let mut found = Vec::new();
    for output in &program.outputs {
        let references = output.value.references();
        let known = references.iter().filter_map(|reference| draft.index.get(&reference.address).copied());
        let referred: Vec<NodeIndex> = known.collect();
        if changing(&output.name) || referred.iter().any(drifted) {
            found.extend(referred);
        }
    }
    found
}
