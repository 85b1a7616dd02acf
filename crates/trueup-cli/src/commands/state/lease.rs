//! The lease for what changes all of a stage's state at once.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use trueup_core::escape_line;
use trueup_engine::LeaseReason;
use trueup_state::{Acquired, HeldLease, Holder, Lease, Scope, Store};

use crate::failure::{CommandError, CommandResult};
use crate::session::Session;

/// How long it lasts; no single write takes longer.
const TERM: Duration = Duration::from_secs(60);

/// How often a command asks again that waits for another.
const POLL: Duration = Duration::from_secs(1);

/// Takes the lease, or says which run has it. Another command like this is over soon, and the lease of one that was killed
/// ends with its term: those are waited for.
pub(in crate::commands) async fn take_lease(
    session: &Session<'_>,
    store: &dyn Store,
    scope: &Scope,
    reason: LeaseReason,
) -> CommandResult<Lease> {
    let holder = holder(session, reason);
    let mut wait = waiting(session, scope);
    loop {
        match store.acquire(scope, &holder, TERM).await? {
            Acquired::Lease(lease) => return Ok(lease),
            Acquired::Held(held) if wait(&held) => {
                let interrupted = pin!(session.interrupts.first());
                if let Either::Right(_) = select(session.clock.sleep(POLL), interrupted).await {
                    return Err(CommandError::Interrupted);
                }
            }
            Acquired::Held(held) => return Err(trueup_engine::EngineError::Held(Box::new(held)).into()),
        }
    }
}

/// The holder of a lease taken for this reason.
pub(in crate::commands) fn holder(session: &Session<'_>, reason: LeaseReason) -> Holder {
    let (who, reason) = (session.holder(), reason.name());
    let run = format!("{}-{}", reason.replace(' ', "-"), std::process::id());
    Holder { run, user: who.user, host: who.host, reason: reason.to_owned() }
}

/// Decides whether to wait for the current holder, and reports the wait once: state commands finish soon.
pub(in crate::commands) fn waiting(session: &Session<'_>, scope: &Scope) -> impl FnMut(&HeldLease) -> bool {
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
