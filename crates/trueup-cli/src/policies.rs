//! The policies that plans are held against: where they are looked for, and what becomes of what they say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use trueup_core::{Diagnostic, Diagnostics, Severity, SourceMap};
use trueup_engine::Reconciler;
use trueup_policy::{Judgement, Policies, PolicyAdmission, PolicyError, Undecided};

use crate::failure::{CommandError, CommandResult};
use crate::workplace::Workplace;

/// The folder beside a stack whose policies hold for it.
const OWN_POLICIES: &str = "policies";

/// All policies for a stack: those that were named, and those beside it.
pub(crate) fn gather(workplace: &Workplace<'_>, named: &[PathBuf]) -> CommandResult<Arc<Policies>> {
    let session = workplace.session;
    let listed = session.environment.get("TRUEUP_POLICIES").unwrap_or_default();
    let of_environment = std::env::split_paths(listed).filter(|path| !path.as_os_str().is_empty());
    let beside = Some(PathBuf::from(OWN_POLICIES)).filter(|path| is_meant(&session.folder.join(path)));
    let paths =
        named.iter().cloned().chain(of_environment).chain(workplace.user.policies.clone()).chain(beside);
    let mut policies = Policies::default();
    for path in paths {
        policies.read(&session.folder.join(path)).map_err(|error| unreadable(&error))?;
    }
    Ok(Arc::new(policies))
}

/// Whether something is in the place of the folder, readable or not. A dangling link was meant to lead to policies, and so
/// was what took the place of the folder.
fn is_meant(folder: &Path) -> bool {
    match std::fs::symlink_metadata(folder) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// The first line of the error says what is wrong and where; an excerpt may follow.
fn unreadable(error: &PolicyError) -> CommandError {
    let text = error.to_string();
    let (summary, excerpt) = text.split_once('\n').unwrap_or((&text, ""));
    let diagnostic = Diagnostic::error(format!("a policy cannot be read: {summary}"))
        .hint("fix the policy or name another; nothing is planned while a policy cannot be read");
    match excerpt.is_empty() {
        true => diagnostic.into(),
        false => diagnostic.detail(excerpt).into(),
    }
}

/// Fails if policies object.
pub(crate) fn obey(judged: &Judgement) -> CommandResult<()> {
    match judged.found.has_errors() {
        true => Err(CommandError::Wrong { diagnostics: judged.found.clone(), sources: SourceMap::new() }),
        false => Ok(()),
    }
}

/// Has the reconciler hold each change against the policies once more, on real values.
pub(crate) fn admitted_by(policies: &Arc<Policies>, reconciler: Reconciler) -> Reconciler {
    match policies.is_empty() {
        true => reconciler,
        false => reconciler.admitted_by(Arc::new(PolicyAdmission::new(policies.clone()))),
    }
}

/// The warnings of policies, unless they deny: then they are told with what denies.
pub(crate) fn warnings(judged: &Judgement) -> Diagnostics {
    let mut warnings = Diagnostics::new();
    if !judged.found.has_errors() {
        warnings.extend(judged.found.iter().filter(|it| it.severity == Severity::Warning).cloned());
    }
    warnings
}

/// A line for each policy that can't be decided yet.
pub(crate) fn undecided_lines(judged: &Judgement) -> Vec<String> {
    let mut by_policy: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for Undecided { policy, address } in &judged.undecided {
        by_policy.entry(policy).or_default().extend(address.as_deref());
    }
    let line = |(policy, addresses): (&str, Vec<&str>)| {
        let of = match addresses.as_slice() {
            [] => String::new(),
            [one] => format!(" for {one}"),
            [first, rest @ ..] => format!(" for {first} and {} more", rest.len()),
        };
        format!(
            "policy `{policy}` can't be decided yet{of}: it depends on unknown values. It is checked again at apply."
        )
    };
    by_policy.into_iter().map(line).collect()
}

/// What policies say, for machines.
pub(crate) fn policies_json(judged: &Judgement) -> Json {
    let one = |it: &Diagnostic| {
        let effect = if it.severity == Severity::Error { "deny" } else { "warn" };
        json!({ "effect": effect, "address": it.subject, "message": it.summary })
    };
    let open = |it: &Undecided| {
        let message = format!("policy `{}` is checked again at apply", it.policy);
        json!({ "effect": "undecided", "address": it.address, "message": message })
    };
    judged.found.iter().map(one).chain(judged.undecided.iter().map(open)).collect()
}
