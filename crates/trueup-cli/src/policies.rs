//! The policies that plans are held against: where they are looked for, and what becomes of what they say.

use std::path::PathBuf;

use serde_json::{Value as Json, json};
use trueup_core::{Diagnostic, Diagnostics, Severity, SourceMap};
use trueup_policy::{Policies, PolicyError};

use crate::failure::{CommandError, CommandResult};
use crate::workplace::Workplace;

/// The folder beside a stack whose policies hold for it.
const OWN_POLICIES: &str = "policies";

/// All policies for a stack: those that were named, and those beside it.
pub(crate) fn gather(workplace: &Workplace<'_>, named: &[PathBuf]) -> CommandResult<Policies> {
    let session = workplace.session;
    let listed = session.environment.get("TRUEUP_POLICIES").unwrap_or_default();
    let of_environment = std::env::split_paths(listed).filter(|path| !path.as_os_str().is_empty());
    let beside = Some(PathBuf::from(OWN_POLICIES)).filter(|path| session.folder.join(path).is_dir());
    let paths =
        named.iter().cloned().chain(of_environment).chain(workplace.user.policies.clone()).chain(beside);
    let mut policies = Policies::default();
    for path in paths {
        policies.read(&session.folder.join(path)).map_err(|error| unreadable(&error))?;
    }
    Ok(policies)
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
pub(crate) fn obey(judged: &Diagnostics) -> CommandResult<()> {
    match judged.has_errors() {
        true => Err(CommandError::Wrong { diagnostics: judged.clone(), sources: SourceMap::new() }),
        false => Ok(()),
    }
}

/// What policies say, for machines.
pub(crate) fn policies_json(judged: &Diagnostics) -> Json {
    let one = |it: &Diagnostic| {
        let effect = if it.severity == Severity::Error { "deny" } else { "warn" };
        json!({ "effect": effect, "address": it.subject, "message": it.summary })
    };
    judged.iter().map(one).collect()
}
