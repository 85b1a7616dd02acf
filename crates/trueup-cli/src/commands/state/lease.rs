//! The lease for what changes all of a stage's state at once.

use std::time::Duration;

use trueup_state::{Acquired, Holder, Lease, Scope, Store};

use crate::failure::CommandResult;
use crate::session::Session;

/// How long it lasts; no single write takes longer.
const TERM: Duration = Duration::from_secs(60);

/// Takes the lease, or says who has it.
pub(in crate::commands) async fn take_lease(
    session: &Session<'_>,
    store: &dyn Store,
    scope: &Scope,
    reason: &str,
) -> CommandResult<Lease> {
    let who = session.holder();
    let run = format!("{}-{}", reason.replace(' ', "-"), std::process::id());
    let holder = Holder { run, user: who.user, host: who.host, reason: reason.to_owned() };
    match store.acquire(scope, &holder, TERM).await? {
        Acquired::Lease(lease) => Ok(lease),
        Acquired::Held(held) => Err(trueup_engine::EngineError::Held(Box::new(held)).into()),
    }
}
