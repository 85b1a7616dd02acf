//! Installing the providers that a stack needs, with a line that says how far it is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value as Json, json};
use trueup_core::{Diagnostic, Diagnostics};
use trueup_front_end::LoadedProgram;
use trueup_terraform_find::{
    Found, InstallOptions, Installation, Installed, Place, Problem, Progress, Requirement, Settings, Vouched,
    Watch,
};

use super::{requirements, settings};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::progress::Waiting;
use crate::session::Session;
use crate::stores::state_in_own_folder;
use crate::ui::{Line, Mark, Meaning, padded, width};

/// Installs what the stack needs that is not built in.
pub(crate) async fn install(
    session: &Session<'_>,
    loaded: &LoadedProgram,
    options: InstallOptions,
    json: bool,
) -> CommandResult {
    let registry = session.registry(&state_in_own_folder(), &loaded.providers);
    let required = requirements(&loaded.providers, &registry);
    let wrong = |problems: &[Problem]| wrong(problems, loaded);
    let settings = settings(&session.folder, &session.environment);
    let settings = settings.map_err(|problem| wrong(&[problem]))?;
    for warning in &settings.warnings {
        session.ui.note(&format!("warning: {warning}"));
    }
    if required.iter().all(|it| it.address.is_builtin()) && !settings.lock_file().exists() {
        return Ok(nothing_to_install(session, json));
    }
    let installing = install_shown(session, &required, &settings, options);
    let installation = tokio::select! {
        installation = installing => installation.map_err(|problems| wrong(&problems))?,
        () = session.interrupts.first() => return Err(CommandError::Interrupted),
    };
    tell(session, &installation, json);
    Ok(Exit::Done)
}

/// What is wrong with providers, with the places where they are required.
pub(crate) fn wrong(problems: &[Problem], loaded: &LoadedProgram) -> CommandError {
    let mut diagnostics = Diagnostics::new();
    diagnostics.extend(problems.iter().map(Diagnostic::from));
    CommandError::Wrong { diagnostics, sources: loaded.sources.clone() }
}

fn nothing_to_install(session: &Session<'_>, json: bool) -> Exit {
    if json {
        session.ui.json(&json!({ "version": 1, "kind": "init", "providers": [], "lock_changed": false }));
    } else {
        session.ui.note("There is a stack here already, and nothing to install: its providers are built in.");
        session.ui.note(&format!("Next: {} plan", session.name()));
    }
    Exit::Done
}

async fn install_shown(
    session: &Session<'_>,
    required: &[Requirement],
    settings: &Settings,
    options: InstallOptions,
) -> Result<Installation, Vec<Problem>> {
    shown(session, async |watch| trueup_terraform_find::install(required, settings, options, watch).await)
        .await
}

/// Does something with a line that says how far it is.
pub(crate) async fn shown<T>(session: &Session<'_>, work: impl AsyncFnOnce(Watch<'_>) -> T) -> T {
    let current: Arc<Mutex<Option<String>>> = Arc::default();
    let drawn = current.clone();
    let waiting = Waiting::start(&session.ui, &session.clock, move |_| locked(&drawn).clone());
    let watch = |progress: Progress<'_>| {
        if let Progress::Retrying { what, .. } = progress {
            tracing::warn!("{what}; it is asked again");
        }
        *locked(&current) = told(progress);
    };
    let done = work(&watch).await;
    drop(waiting);
    done
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked left at worst an old line.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What there is to wait for.
fn told(progress: Progress<'_>) -> Option<String> {
    match progress {
        Progress::Choosing(address) => Some(format!("{}  choosing a version", address.name())),
        Progress::Fetching { address, version, received, total } => {
            let of = total.map(|total| format!(" of {}", megabytes(total))).unwrap_or_default();
            Some(format!("{} {version}  fetched {}{of}", address.name(), megabytes(received)))
        }
        Progress::Unpacking { address, version } => Some(format!("{} {version}  unpacking", address.name())),
        Progress::Retrying { what, wait } => Some(format!("{what}; again in {:.1} s", wait.as_secs_f32())),
        Progress::Ready(_) => None,
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
}

fn tell(session: &Session<'_>, installation: &Installation, json: bool) {
    let Installation { installed, lock_changed } = installation;
    if json {
        let providers: Vec<Json> = installed.iter().map(installed_json).collect();
        let told =
            json!({ "version": 1, "kind": "init", "providers": providers, "lock_changed": lock_changed });
        session.ui.json(&told);
        return;
    }
    let look = session.ui.err();
    let names = installed.iter().map(|it| width(&it.found.address.name())).max().unwrap_or(0);
    let versions = installed.iter().map(|it| width(&version(&it.found))).max().unwrap_or(0);
    for one in installed {
        let line = Line::new()
            .meaning(Meaning::Create, look.mark(Mark::Done))
            .text(format!(" {}  ", padded(&one.found.address.name(), names)))
            .text(format!("{}  ", padded(&version(&one.found), versions)))
            .meaning(Meaning::Quiet, vouched(one));
        session.ui.note(&line.render(look));
    }
    if *lock_changed {
        session.ui.note("\nWrote .terraform.lock.hcl. Commit it, so that everyone uses the same versions.");
    }
    session.ui.note(&format!("\nNext: {} plan", session.name()));
}

fn version(found: &Found) -> String {
    found.version.as_ref().map_or_else(|| "under development".to_owned(), ToString::to_string)
}

fn vouched(installed: &Installed) -> String {
    let how = if installed.fetched { "fetched" } else { "there already" };
    match &installed.vouched {
        Vouched::Lock => format!("{how}, as the lock file says"),
        Vouched::Signature(key) => format!("{how}, signed with the key {key}"),
        Vouched::Mirror => format!("{how}, from a mirror, not signed"),
        Vouched::Nobody => "from dev_overrides".to_owned(),
    }
}

fn installed_json(installed: &Installed) -> Json {
    let Installed { found, fetched, vouched } = installed;
    let (vouched, key) = match vouched {
        Vouched::Lock => ("lock", None),
        Vouched::Signature(key) => ("signature", Some(key)),
        Vouched::Mirror => ("mirror", None),
        Vouched::Nobody => ("nobody", None),
    };
    let mut told = found_json(found);
    told["fetched"] = json!(fetched);
    told["vouched_by"] = json!(vouched);
    if let Some(key) = key {
        told["key"] = json!(key);
    }
    told
}

/// A provider on this machine, for machines.
pub(crate) fn found_json(found: &Found) -> Json {
    json!({
        "address": found.address.to_string(),
        "version": found.version.as_ref().map(ToString::to_string),
        "program": found.program.display().to_string(),
        "place": place_kind(&found.place),
    })
}

fn place_kind(place: &Place) -> &'static str {
    match place {
        Place::Override => "dev_overrides",
        Place::Folder => "folder",
        Place::Cache => "cache",
        Place::Mirror(_) => "mirror",
    }
}
