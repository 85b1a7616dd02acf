//! The lease for what changes all of a stage's state at once.

use std::time::Duration;

use trueup_core::escape_line;
use trueup_state::{Acquired, Holder, Lease, Scope, Store};

use crate::failure::CommandResult;
use crate::session::Session;

/// What the reasons of leases that are taken here begin with.
const STATE_COMMANDS: [&str; 2] = ["state ", "import-state"];

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
    reason: &str,
) -> CommandResult<Lease> {
    let who = session.holder();
    let run = format!("{}-{}", reason.replace(' ', "-"), std::process::id());
    let holder = Holder { run, user: who.user, host: who.host, reason: reason.to_owned() };
    let mut told = false;
    loop {
        match store.acquire(scope, &holder, TERM).await? {
            Acquired::Lease(lease) => return Ok(lease),
            Acquired::Held(held) if STATE_COMMANDS.iter().any(|it| held.holder.reason.starts_with(it)) => {
                if !std::mem::replace(&mut told, true) {
                    let (stage, holder) = (&scope.stage, escape_line(&held.holder.to_string()).into_owned());
                    session.ui.note(&format!("Waiting: stage {stage} is held by {holder}."));
                }
                session.clock.sleep(POLL).await;
            }
            Acquired::Held(held) => return Err(trueup_engine::EngineError::Held(Box::new(held)).into()),
        }
    }
}
