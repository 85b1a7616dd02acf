//! INV-13: secret canaries appear nowhere.

use super::{Judged, require};
use crate::log::Happened;

/// What every secret of a simulation contains.
pub(crate) const CANARY: &str = "c4n4ry";

/// Neither plans nor events tell secrets.
pub(super) fn nothing_told_is_secret(happened: &Happened) -> Judged {
    match happened {
        Happened::Approved { plan, .. } => canaries_appear_nowhere("a plan", &plan.to_string()),
        Happened::Ended { how, .. } => canaries_appear_nowhere("the end of a run", how),
        Happened::Committed { lines, .. } => {
            lines.iter().try_for_each(|line| canaries_appear_nowhere("the history", line))
        }
        _ => Ok(()),
    }
}

/// A text does not tell a secret.
pub(crate) fn canaries_appear_nowhere(place: &str, text: &str) -> Judged {
    require(!text.contains(CANARY), "INV-13", || format!("a secret appears in {place}: {text}"))
}
