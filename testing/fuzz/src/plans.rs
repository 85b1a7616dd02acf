//! Plan files (PLANFILE-4): bytes as a whole file, and as what stands in one whose frame is sound. What reads can be told,
//! and is written so that it reads as the same.

use futures_util::FutureExt;
use trueup_engine::{PlanFileError, SavedPlan, read_plan, write_plan};

/// What stands in a file.
pub(crate) const SEEDS: &[&str] = &[include_str!("../seeds/plans/plan.json")];

const HEAD: &str = "trueup-plan 2\n\
     {\"stack\":\"site\",\"stage\":\"dev\",\"store\":\"state.db\",\"made_by\":\"0\",\"protection\":\"digest\"}\n";

pub(crate) fn check(bytes: &[u8]) {
    // A digest keeps almost everything out, so that alone says little.
    let _ = read(bytes);
    let mut framed = [HEAD.as_bytes(), bytes].concat();
    let digest = blake3::hash(&framed);
    framed.extend(digest.as_bytes());
    let Ok(plan) = read(&framed) else { return };
    let _ = (plan.plan.to_string(), plan.plan.is_empty(), format!("{plan:?}"));
    let written = match write_plan(&plan, "state.db", "0", None).now_or_never().expect("no key to wait for") {
        Ok(written) => written,
        Err(PlanFileError::NoKey) => return,
        Err(error) => panic!("what was read cannot be written: {error}"),
    };
    let again = read(&written).expect("what was written reads");
    let twice = write_plan(&again, "state.db", "0", None).now_or_never().expect("no key to wait for");
    assert_eq!(twice.expect("it was written before"), written);
}

fn read(bytes: &[u8]) -> Result<SavedPlan, PlanFileError> {
    read_plan(bytes, None).now_or_never().expect("no key to wait for")
}
