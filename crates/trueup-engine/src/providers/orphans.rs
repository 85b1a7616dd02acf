//! Waiting for what a killed run left under way on this machine.

use std::collections::BTreeSet;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_state::{Generation, Record, Snapshot};

use crate::call::Caller;
use crate::mutations::planted;

/// Waits until nothing is under way any more of creates that were interrupted (CRASH-9), and returns whether it had to.
/// Before that, neither a run nor a person can tell whether their objects exist.
pub(crate) async fn wait_for_orphans(calls: &Caller<'_>, snapshot: &Snapshot) -> Result<bool, Diagnostics> {
    planted!(IgnoreOrphans => return Ok(false));
    let records = snapshot.records.iter().map(|(record, _)| &**record);
    let interrupted = records.filter(|record| record.generations().any(Generation::is_interrupted));
    let providers: BTreeSet<&str> = interrupted.map(provider_of).collect();
    let mut waited = false;
    for name in providers {
        // A provider that is gone is reported where its types are needed.
        let Some(provider) = calls.registry.configured(name) else { continue };
        let waiting = async || provider.wait_for_orphans(calls.clock.clone()).await;
        waited |= calls.of_provider(name, waiting).await.map_err(|failure| {
            let diagnostic = Diagnostic::error(failure.message);
            Diagnostics::from(failure.hints.into_iter().fold(diagnostic, Diagnostic::hint))
        })?;
    }
    Ok(waited)
}

fn provider_of(record: &Record) -> &str {
    &record.meta.provider
}
