//! Interrupts while a plan is made and while it is carried out.

use futures_util::future::{Either, select};
use trueup_engine::Cancellation;

use crate::failure::{CommandError, CommandResult};
use crate::interrupt::Handling;
use crate::progress::{Watcher, planning};
use crate::workplace::Workplace;

/// The outcome of something that changes nothing, unless it is interrupted.
pub(crate) async fn uninterrupted<T>(
    workplace: &Workplace<'_>,
    work: impl Future<Output = T>,
) -> CommandResult<T> {
    let _planning = planning(&workplace.session.ui, &workplace.session.clock, &workplace.looking);
    let first = std::pin::pin!(workplace.session.interrupts.first());
    match select(std::pin::pin!(work), first).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(CommandError::Interrupted),
    }
}

/// The outcome of a run; `None` if it was interrupted before it began. Afterwards the cancellation ends it.
pub(super) async fn raced<T>(
    workplace: &Workplace<'_>,
    cancellation: &Cancellation,
    watcher: &Watcher,
    run: impl Future<Output = T>,
) -> Option<T> {
    let first = std::pin::pin!(workplace.session.interrupts.first());
    match select(std::pin::pin!(run), first).await {
        Either::Left((done, _)) => Some(done),
        Either::Right((_, run)) if watcher.has_started() => {
            // The interrupt handler may have checked a moment earlier, before the run started.
            cancellation.finish();
            Some(run.await)
        }
        Either::Right(_) => None,
    }
}

/// Says what an interruption does, and does it (APPLY-11).
pub(super) fn handle_interrupts<'w>(
    workplace: &'w Workplace<'_>,
    cancellation: &Cancellation,
    watcher: &Watcher,
) -> Handling<'w> {
    let (cancellation, watcher, ui) = (cancellation.clone(), watcher.clone(), workplace.session.ui.clone());
    workplace.session.interrupts.handled_by(move |count| {
        if !watcher.has_started() {
            return;
        }
        // First of all, so that nothing begins while what is under way is looked up.
        if count > 1 {
            cancellation.cancel();
        } else {
            cancellation.finish();
        }
        let under_way = watcher.under_way();
        match (count > 1, under_way.len()) {
            (false, 0) => ui.note("Stopping: nothing is in flight."),
            (false, many) => {
                let operations =
                    if many == 1 { "1 operation".to_owned() } else { format!("{many} operations") };
                let listed = under_way.join(", ");
                ui.note(&format!("Finishing {operations}: {listed}. Again to stop waiting."));
            }
            (true, _) => {
                ui.note("Stopped waiting. The next run resolves what was in flight.");
            }
        }
    })
}
