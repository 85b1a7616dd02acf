//! INV-4 and INV-5: deploys converge, and where to does not depend on what happened on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trueup_engine::Plan;
use trueup_state::{Record, Status};

use super::model::{Known, Watch, object_of};
use super::{Judged, Violation, require};
use crate::cloud::{HOME, Kind, ObjectId, Spec, canonical};
use crate::run::Simulated;
use crate::scenario::{COLOURS, Sketch};

/// INV-4: after a deploy, nothing is left to do.
pub(crate) fn deploy_converges(plan: &Plan) -> Judged {
    require(plan.is_empty(), "INV-4", || format!("after a deploy there is something left to do:\n{plan}"))
}

/// INV-5: cloud and records are what the program says, as after an uninterrupted run, up to ids.
pub(crate) fn cloud_is_as_the_program_says(
    watch: &Watch,
    sketch: &Sketch,
    truth: &BTreeMap<ObjectId, (Kind, Option<String>, Spec)>,
) -> Judged {
    let mut ids: BTreeMap<u64, ObjectId> = BTreeMap::new();
    for number in sketch.items.keys() {
        let address = sketch.address(*number);
        let record = watch.record_at(&address);
        let current = record.and_then(|record| record.current.as_ref());
        let settled = record.is_some_and(|record| record.deposed.is_empty());
        let ready = current.is_some_and(|current| current.status == Status::Ready);
        let Some(id) = current.filter(|_| settled && ready).and_then(object_of) else {
            return Err(Violation {
                invariant: "INV-5",
                what: format!("{address} is not settled: {record:?}"),
            });
        };
        ids.insert(*number, id);
    }
    let declared = sketch.items.len() + usize::from(sketch.compass().is_some());
    require(watch.records.len() == declared, "INV-5", || {
        let recorded: Vec<String> = watch.records.values().map(|it| it.address.to_string()).collect();
        format!("these are recorded: {}", recorded.join(", "))
    })?;
    let mut expected: BTreeSet<&ObjectId> = BTreeSet::new();
    for (number, item) in &sketch.items {
        let id = &ids[number];
        expected.insert(id);
        let wanted = Spec {
            size: item.size,
            colour: COLOURS[item.colour].to_owned(),
            needs: sketch.needed(*number).map(|of| ids[&of].clone()),
            host: sketch.hosted(*number).map(|of| ids[&of].clone()),
            note: sketch.noted(*number).map(|of| format!("{}/{}", ids[&of], sketch.items[&of].size)),
            bound: sketch.bound(*number).map(|of| format!("{}/{}", ids[&of], sketch.items[&of].size)),
            secret: sketch.secret(*number).map(|secret| Sketch::bearer(*number, secret)),
        };
        let found = truth.get(id).map(|(_, _, spec)| spec);
        require(found == Some(&wanted), "INV-5", || {
            format!("{} should be {wanted:?}, and is {found:?}", sketch.address(*number))
        })?;
        let name = truth.get(id).and_then(|(_, name, _)| name.clone());
        let called = item.kind.is_named_by_program().then(|| canonical(item.kind, &item.name()));
        require(called.is_none() || called == name, "INV-5", || {
            format!("{} should be called {called:?}, and is {name:?}", sketch.address(*number))
        })?;
    }
    // What was lost with the state is found again by who declares it, and by nobody else.
    let unfindable = |known: &Known| {
        let origin = known.made_for.as_ref().map(|(origin, _)| origin.to_string());
        let mut declared = sketch.items.keys().flat_map(|number| sketch.origins(*number));
        known.lost && !declared.any(|address| Some(address.to_string()) == origin)
    };
    let left = watch.live().find(|(id, known)| {
        known.made_for.is_some() && !known.forgotten && !expected.contains(id) && !unfindable(known)
    });
    require(left.is_none(), "INV-5", || format!("{:?} is left over", left.map(|(id, _)| id)))
}

/// INV-5: all that is declared is where its provider leads.
pub(crate) fn objects_are_in_place(
    watch: &Watch,
    sketch: &Sketch,
    regions: &BTreeMap<ObjectId, u64>,
) -> Judged {
    let here = sketch.region.unwrap_or(HOME);
    let current = |record: &Arc<Record>| record.current.as_ref().and_then(object_of);
    let elsewhere = watch.records.values().filter_map(current).find(|id| regions.get(id) != Some(&here));
    require(elsewhere.is_none(), "INV-5", || format!("{elsewhere:?} is not in region {here}"))
}

/// INV-5: a scenario that was cut off ends as the same one that was not, and if only the cut was different, one rerun
/// was enough.
pub(crate) fn ends_alike(cut: &Simulated, uncut: &Simulated, one_rerun: bool) -> Judged {
    require(cut.end == uncut.end, "INV-5", || {
        format!("cut off, it ends so:\n{}\nand else so:\n{}", cut.end.join("\n"), uncut.end.join("\n"))
    })?;
    require(!one_rerun || cut.work_left == 0, "INV-5", || {
        format!("after one rerun {} changes are left to do", cut.work_left)
    })
}

/// What is in the cloud, up to ids, for comparing two ends: each object by the address that has it.
pub(crate) fn shown(watch: &Watch, truth: &BTreeMap<ObjectId, (Kind, Option<String>, Spec)>) -> Vec<String> {
    let current = |record: &Arc<Record>| record.current.as_ref().and_then(object_of);
    let owned = watch.records.values().filter_map(|it| Some((current(it)?, it.address.to_string())));
    let addresses: BTreeMap<ObjectId, String> = owned.collect();
    let told = |id: &str| addresses.get(id).cloned().unwrap_or_else(|| "?".to_owned());
    let mut shown: Vec<String> = addresses
        .iter()
        .map(|(id, address)| {
            let Some((_, _, spec)) = truth.get(id) else { return format!("{address} is not there") };
            let Spec { size, colour, needs, host, note, bound, secret: _ } = spec;
            let url = |url: &Option<String>| {
                let (of, size) = url.as_ref()?.split_once('/')?;
                Some(format!("{}/{size}", told(of)))
            };
            let links = [needs.as_deref().map(told), host.as_deref().map(told), url(note), url(bound)];
            format!("{address}: size {size}, {colour}, {links:?}")
        })
        .collect();
    shown.sort();
    shown
}
