//! Changes of all of a stage's state at once, under its lease.

use std::sync::Arc;

use trueup_core::{Diagnostics, escape_line};
use trueup_engine::{EngineError, LeaseReason, Reconciler};
use trueup_state::{Batch, HeldLease, Holder, Lease, Scope, Snapshot, Store};

use crate::failure::{CommandResult, note_unreleased};
use crate::running::by_hand;
use crate::session::Session;
use crate::workplace::Workplace;

/// The outcome of work on the state of a stage, while its lease is held and renewed. Reports a lease that could not be
/// released.
pub(in crate::commands) async fn under_lease<T>(
    workplace: &Workplace<'_>,
    store: &Arc<dyn Store>,
    reason: LeaseReason,
    work: impl AsyncFnOnce(&Lease) -> Result<T, EngineError>,
) -> CommandResult<T> {
    let (session, scope) = (workplace.session, workplace.scope());
    let (reconciler, _handling) = by_hand(workplace, store.clone());
    let (holder, mut wait) = (holder(session, reason), waiting(session, &scope));
    let (done, unreleased) = reconciler.with_lease(&scope, &holder, &mut wait, work).await?;
    note_unreleased(session, unreleased.as_ref());
    Ok(done)
}

/// Records a batch in a stage if `admit` accepts what is recorded by then. Reports a lease that could not be released.
pub(in crate::commands) async fn record(
    workplace: &Workplace<'_>,
    reconciler: &Reconciler,
    reason: LeaseReason,
    batch: &Batch,
    admit: &dyn Fn(&Snapshot) -> Result<(), Diagnostics>,
) -> CommandResult<()> {
    let (session, scope) = (workplace.session, workplace.scope());
    let (holder, mut wait) = (holder(session, reason), waiting(session, &scope));
    let unreleased = reconciler.record(&scope, batch, &holder, admit, &mut wait).await?;
    note_unreleased(session, unreleased.as_ref());
    Ok(())
}

/// The holder of a lease taken for this reason.
fn holder(session: &Session<'_>, reason: LeaseReason) -> Holder {
    let (who, reason) = (session.holder(), reason.name());
    let run = format!("{}-{}", reason.replace(' ', "-"), std::process::id());
    Holder { run, user: who.user, host: who.host, reason: reason.to_owned() }
}

/// Decides whether to wait for the current holder, and reports the wait once: state commands finish soon, and the lease of
/// one that was killed expires.
fn waiting(session: &Session<'_>, scope: &Scope) -> impl FnMut(&HeldLease) -> bool {
    let mut told = false;
    move |held| {
        let waits = LeaseReason::is_of_state_command(&held.holder.reason);
        if waits && !std::mem::replace(&mut told, true) {
            let (stage, holder) = (&scope.stage, escape_line(&held.holder.to_string()).into_owned());
            session.ui.note(&format!("Waiting: stage {stage} is held by {holder}."));
        }
        waits
    }
}
