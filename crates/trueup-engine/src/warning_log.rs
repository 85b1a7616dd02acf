//! What providers warn of while they do as they are asked.

use std::sync::{Arc, Mutex, PoisonError};

use trueup_core::{Address, Diagnostic, Diagnostics};
use trueup_provider::WarningSink;

/// Gathers warnings from calls that go on at the same time.
#[derive(Clone, Debug, Default)]
pub(crate) struct WarningLog(Arc<Mutex<Vec<Diagnostic>>>);

impl WarningLog {
    /// Where the calls for a resource tell their warnings.
    pub(crate) fn of(&self, address: &Address) -> WarningSink {
        let (warned, address) = (self.clone(), address.clone());
        WarningSink::new(move |warning| warned.add(&address, warning))
    }

    /// Notes a warning about a resource.
    pub(crate) fn add(&self, address: &Address, warning: Diagnostic) {
        self.lock().push(warning.about(address.to_string()));
    }

    /// All so far, each once and in one order, whatever the order of the calls (PLAN-16).
    pub(crate) fn take(&self) -> Diagnostics {
        let mut all = std::mem::take(&mut *self.lock());
        all.sort_by(|left, right| (&left.subject, &left.summary).cmp(&(&right.subject, &right.summary)));
        all.dedup();
        let mut taken = Diagnostics::new();
        taken.extend(all);
        taken
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Diagnostic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
