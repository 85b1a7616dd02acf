//! What completes: addresses and stages, from the state of the folder the shell stands in, and profiles. Whatever goes wrong on the
//! way completes nothing, and says nothing: the line belongs to the user.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::Arc;

use clap_complete::engine::CompletionCandidate;
use trueup_core::escape_line;
use trueup_provider::RuntimeClock;
use trueup_state::{Scope, Store};
use trueup_store_sqlite::SqliteStore;

use crate::arguments::command_line;
use crate::settings::{Environment, FolderMemory, OWN_FOLDER, UserSettings};

/// The variable by which a shell asks for completions.
pub(crate) const VARIABLE: &str = "COMPLETE";

/// The addresses that are recorded here.
pub(crate) fn addresses(current: &OsStr) -> Vec<CompletionCandidate> {
    let found = recorded(|store, scopes| {
        Box::pin(async move {
            let mut found = BTreeSet::new();
            for scope in scopes {
                let snapshot = store.load(&scope).await.ok()?;
                found.extend(snapshot.records.iter().map(|(record, _)| record.address.to_string()));
            }
            Some(found)
        })
    });
    candidates(found, current)
}

/// The stages that are recorded here.
pub(crate) fn stages(current: &OsStr) -> Vec<CompletionCandidate> {
    let found = recorded(|_, scopes| {
        Box::pin(async move { Some(scopes.into_iter().map(|scope| scope.stage.to_string()).collect()) })
    });
    candidates(found, current)
}

/// The commands.
pub(crate) fn commands(current: &OsStr) -> Vec<CompletionCandidate> {
    let line = command_line("trueup", "");
    candidates(Some(line.get_subcommands().map(|command| command.get_name().to_owned()).collect()), current)
}

/// The profiles that the user's configuration has.
pub(crate) fn profiles(current: &OsStr) -> Vec<CompletionCandidate> {
    let file = Environment::of_process().config_file();
    let user = UserSettings::read(file.as_deref()).ok();
    candidates(user.map(|user| user.profile.into_keys().collect()), current)
}

type Asking<'s> = std::pin::Pin<Box<dyn Future<Output = Option<BTreeSet<String>>> + 's>>;

fn recorded(ask: impl for<'s> FnOnce(&'s dyn Store, Vec<Scope>) -> Asking<'s>) -> Option<BTreeSet<String>> {
    let folder = crate::entry::current_folder().ok()?;
    let environment = Environment::of_process();
    let path =
        environment.get("TRUEUP_STATE").map_or_else(|| format!("{OWN_FOLDER}/state.db"), str::to_owned);
    let path = folder.join(path);
    if !path.exists() {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        let store = SqliteStore::open(path, Arc::new(RuntimeClock::new())).await.ok()?;
        let mut scopes = store.scopes().await.ok()?;
        // A store may hold the stacks of other folders too.
        if let Some(stack) = FolderMemory::read(&folder).stack {
            scopes.retain(|scope| scope.stack == stack.as_str());
        }
        ask(&store, scopes).await
    })
}

fn candidates(found: Option<BTreeSet<String>>, current: &OsStr) -> Vec<CompletionCandidate> {
    let begun = current.to_string_lossy();
    let mut found: Vec<String> = found.unwrap_or_default().into_iter().collect();
    // A shell would show it as it is, and run what it says.
    let is_inert = |name: &str| matches!(escape_line(name), Cow::Borrowed(_)) && is_inert_in_shells(name);
    found.retain(|name| name.starts_with(&*begun) && is_inert(name));
    found.sort_by(|left, right| crate::render::natural::compare(left, right));
    found.into_iter().map(CompletionCandidate::new).collect()
}

/// Returns true for a name that a shell reads as a plain word. The quotes in an address are quotes to shells too; inside them
/// commands, variables and the history are put in all the same.
fn is_inert_in_shells(name: &str) -> bool {
    let mut is_quoted = false;
    let mut chars = name.chars();
    while let Some(char) = chars.next() {
        match char {
            '$' | '`' | '!' => return false,
            '\\' if is_quoted => drop(chars.next()),
            '"' => is_quoted = !is_quoted,
            _ if is_quoted || char.is_alphanumeric() || "_-.[]/:@".contains(char) => {}
            _ => return false,
        }
    }
    !is_quoted
}
