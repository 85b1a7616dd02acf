//! Nothing in the cloud is forgotten, whenever a run is cut off.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use trueup_state::{Record, Status};

use crate::laws::cases;
use crate::laws::course::{Course, id, owner};
use crate::laws::sketch::{scenario, scenario_without_retain};

proptest! {
    #![proptest_config(cases())]

    /// INV-1, INV-11
    #[test]
    fn every_object_is_in_a_record(scenario in scenario(12)) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            course.deploy(&edited.sketch);
            expect_held(&course);
        }
    }

    /// INV-1, INV-2, INV-11, CRASH-7
    #[test]
    fn every_object_is_in_a_record_or_an_open_intent_after_a_cut(
        scenario in scenario_without_retain(12),
        waits in 0..80usize,
    ) {
        let mut course = Course::new(&scenario);
        for edits in &scenario.rounds {
            let edited = course.edit(edits);
            if course.plan(&edited.sketch).is_some() {
                course.bench.deploy_cut_off(&edited.sketch.program(), waits);
                expect_held(&course);
                course.deploy(&edited.sketch).expect("it was accepted before");
                expect_held(&course);
            }
        }
    }
}

fn expect_held(course: &Course) {
    let records = course.bench.records();
    records.values().for_each(expect_distinct);
    let known: BTreeSet<u64> =
        records.values().flat_map(|record| record.generations().filter_map(id)).collect();
    let cloud = course.bench.world.cloud();
    let mut generations = BTreeSet::new();
    for (id, thing) in cloud.things.iter().filter(|(id, _)| !course.left.contains(*id)) {
        let (own, generation) = (owner(&thing.tags), thing.tags["trueup:generation"].clone());
        let held = known.contains(id) || is_intended(&records, &own, &generation);
        assert!(held, "thing {id} of {own}, generation {generation}, is nowhere in {records:#?}");
        assert!(generations.insert((own, generation)), "made twice: {:#?}", cloud.things);
    }
}

/// Generations beside one another differ in number and name, and the current one is the newest.
fn expect_distinct(record: &Record) {
    let numbers: Vec<_> = record.generations().map(|generation| generation.number).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{record:#?}");
    let slots: BTreeSet<_> = record.generations().map(|generation| generation.slot).collect();
    assert_eq!(slots.len(), numbers.len(), "{record:#?}");
}

fn is_intended(records: &BTreeMap<String, Record>, own: &str, generation: &str) -> bool {
    let current = records.get(own).and_then(|record| record.current.as_ref());
    current.is_some_and(|current| {
        matches!(current.status, Status::Creating(_))
            && current.object.is_none()
            && current.number.to_string() == generation
    })
}
