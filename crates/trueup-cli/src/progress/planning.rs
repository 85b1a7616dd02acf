//! What is told while a plan is made.

use std::sync::Arc;

use trueup_engine::Looking;
use trueup_provider::Clock;

use super::Waiting;
use crate::ui::Ui;

/// As long as what is returned lives, it is told that a plan is made, and how far that is.
pub(crate) fn planning(ui: &Ui, clock: &Arc<dyn Clock>, looking: &Arc<Looking>) -> Option<Waiting> {
    let looking = looking.clone();
    Waiting::start(ui, clock, move |seconds| Some(told(looking.counts(), seconds)))
}

/// What is going on: once there is something to look at, how far that is.
fn told((done, wanted): (usize, usize), seconds: u64) -> String {
    match wanted {
        0 => format!("planning {seconds} s"),
        _ => format!("planning {seconds} s · looked at {done} of {wanted}"),
    }
}
