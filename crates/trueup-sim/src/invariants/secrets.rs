//! INV-13: secret canaries appear nowhere.

use trueup_state::Write;

use super::{Judged, require};
use crate::log::Happened;

/// What every secret of a simulation contains.
pub(crate) const CANARY: &str = "c4n4ry";

/// The same in hexadecimal digits.
const CANARY_DIGITS: &str = "63346e347279";

/// Neither plans nor events tell secrets.
pub(super) fn nothing_told_is_secret(happened: &Happened) -> Judged {
    match happened {
        Happened::Approved { plan, .. } => canaries_appear_nowhere("a plan", &plan.to_string()),
        Happened::Ended { how, .. } => canaries_appear_nowhere("the end of a run", how),
        Happened::Committed { lines, writes, .. } => {
            lines.iter().try_for_each(|line| canaries_appear_nowhere("the history", line))?;
            writes.iter().try_for_each(|write| canaries_appear_nowhere("a record", &open_part(write)))
        }
        _ => Ok(()),
    }
}

/// The outputs that a write records, without what is sealed in a store.
fn open_part(write: &Write) -> String {
    let records = write.record.iter();
    let generations = records.flat_map(|record| record.current.iter().chain(&record.deposed));
    let outputs = generations.filter_map(|it| it.object.as_ref()).map(|object| object.outputs.to_string());
    outputs.collect()
}

/// A text shows no secret, neither as it is nor in hexadecimal digits.
pub(crate) fn canaries_appear_nowhere(place: &str, text: &str) -> Judged {
    require(!text.contains(CANARY) && !text.contains(CANARY_DIGITS), "INV-13", || {
        format!("a secret appears in {place}: {text}")
    })
}
