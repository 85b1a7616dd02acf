//! Which premises of a saved plan changed, by name (PLANFILE-2).

use std::collections::BTreeMap;

use trueup_core::{Diagnostic, Diagnostics};
use trueup_program::{Premise, PremiseKind};

use super::PLAN_AGAIN;

/// The premises of a saved plan that no longer hold. Files may be read later than the program is built, so one that was
/// not read yet is no difference.
pub fn changed_premises(saved: &[Premise], now: &[Premise]) -> Diagnostics {
    let keyed = |premises: &[Premise]| -> BTreeMap<(PremiseKind, String), String> {
        premises.iter().map(|it| ((it.kind, it.name.clone()), it.digest.clone())).collect()
    };
    let (before, after) = (keyed(saved), keyed(now));
    let mut changed = Diagnostics::new();
    for (key, digest) in &before {
        match after.get(key) {
            Some(now) if now == digest => {}
            Some(now) => changed.push(told(key, Differs::Changed { before: digest, now })),
            None if key.0 == PremiseKind::Read => {}
            None => changed.push(told(key, Differs::Gone)),
        }
    }
    for key in after.keys().filter(|key| !before.contains_key(*key)) {
        changed.push(told(key, Differs::New));
    }
    changed
}

enum Differs<'a> {
    Changed { before: &'a str, now: &'a str },
    Gone,
    New,
}

fn told((kind, name): &(PremiseKind, String), differs: Differs<'_>) -> Diagnostic {
    let what = match kind {
        PremiseKind::Build | PremiseKind::Source | PremiseKind::Read => name.clone(),
        PremiseKind::Variable => format!("the variable `{name}`"),
        PremiseKind::Provider => format!("the provider `{name}`"),
        PremiseKind::Profile => format!("what the profile says of provider `{name}`"),
    };
    let summary = match (kind, differs) {
        (PremiseKind::Build | PremiseKind::Provider, Differs::Changed { before, now })
            if before.len() < 40 && now.len() < 40 =>
        {
            format!("the plan was made with {what} {before}, and this is {now}")
        }
        (PremiseKind::Build | PremiseKind::Provider, _) => {
            format!("the plan was made with another build of {what}")
        }
        (PremiseKind::Variable, Differs::Changed { .. }) => {
            format!("{what} has another value than when the plan was made")
        }
        (_, Differs::Changed { .. }) => format!("{what} changed since the plan was made"),
        (_, Differs::Gone) => format!("{what} is gone since the plan was made"),
        (_, Differs::New) => format!("{what} is new since the plan was made"),
    };
    let hint = match kind {
        PremiseKind::Variable => "give it the value that it had, or plan again",
        PremiseKind::Profile => "use the profile that it was planned with, or plan again",
        _ => PLAN_AGAIN,
    };
    Diagnostic::error(summary).hint(hint)
}
