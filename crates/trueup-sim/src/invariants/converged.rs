//! INV-4 and INV-5: deploys converge, and where to does not depend on what happened on the way.

use std::collections::{BTreeMap, BTreeSet};

use trueup_engine::Plan;
use trueup_state::Status;

use super::model::{Watch, object_of};
use super::{Judged, Violation, require};
use crate::cloud::{Kind, ObjectId, Spec};
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
    require(watch.records.len() == sketch.items.len(), "INV-5", || {
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
            note: item.note.map(|of| format!("{}/{}", ids[&of], sketch.items[&of].size)),
            secret: item.secret.map(|secret| Sketch::secret(*number, secret)),
        };
        let found = truth.get(id).map(|(_, _, spec)| spec);
        require(found == Some(&wanted), "INV-5", || {
            format!("{} should be {wanted:?}, and is {found:?}", sketch.address(*number))
        })?;
    }
    let left = watch
        .live()
        .find(|(id, known)| known.made_for.is_some() && !known.forgotten && !expected.contains(id));
    require(left.is_none(), "INV-5", || format!("{:?} is left over", left.map(|(id, _)| id)))
}

/// What a program comes to, up to ids, for comparing two ends.
pub(crate) fn shown(sketch: &Sketch) -> Vec<String> {
    sketch.to_string().lines().map(str::to_owned).collect()
}
