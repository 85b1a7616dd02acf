//! `init`: a new stack, or what the one that is there needs.

use clap::Args;
use serde_json::json;
use trueup_front_end::{GeneratedFile, LoadedProgram};

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::shown_path;
use crate::whole_file::{self, Readers};

/// Begin a stack in this folder, or install the providers that the one in it needs
///
/// Where there is no stack yet, the files of a new one are written. Where there is one, the Terraform providers that it
/// requires are found or fetched, checked, and noted in .terraform.lock.hcl. Running it again changes nothing.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup init && trueup plan\n  trueup init --upgrade")]
pub(crate) struct InitArgs {
    /// The name of a new stack; else that of the folder
    name: Option<String>,
    /// Choose the newest providers that will do, whatever the lock file says
    #[arg(long)]
    upgrade: bool,
    /// Fail rather than change the lock file, as in CI
    #[arg(long, conflicts_with = "upgrade")]
    locked: bool,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &InitArgs) -> CommandResult {
    let own = session.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.name.clone().or(own).unwrap_or_else(|| "stack".to_owned());
    let files = session.composition.front_end.scaffold(&name);
    if files.is_empty() {
        return Err(CommandError::new(
            "this program brings its own stack",
            format!("look at it with `{} plan`", session.name()),
        ));
    }
    let loaded = session.composition.front_end.load(&session.folder);
    match loaded.found && args.name.is_none() {
        true => prepare(session, loaded, args).await,
        false => begin(session, &loaded, &files, args.json.json),
    }
}

/// Installs what a stack needs.
async fn prepare(session: &Session<'_>, loaded: LoadedProgram, args: &InitArgs) -> CommandResult {
    if loaded.diagnostics.has_errors() {
        let LoadedProgram { diagnostics, sources, .. } = loaded;
        return Err(CommandError::Wrong { diagnostics, sources });
    }
    #[cfg(feature = "terraform")]
    {
        let options = trueup_terraform_find::InstallOptions { upgrade: args.upgrade, locked: args.locked };
        crate::terraform::install(session, &loaded, options, args.json.json).await
    }
    #[cfg(not(feature = "terraform"))]
    {
        if args.json.json {
            session.ui.json(&json!({ "version": 1, "kind": "init", "providers": [], "lock_changed": false }));
        }
        session.ui.note("There is a stack here already, and nothing to install.");
        Ok(Exit::Done)
    }
}

/// Writes the files of a new stack.
fn begin(
    session: &Session<'_>,
    loaded: &LoadedProgram,
    files: &[GeneratedFile],
    json: bool,
) -> CommandResult {
    let folder = &session.folder;
    if loaded.found {
        let summary = format!("there is a stack in {} already", folder.display());
        return Err(CommandError::new(summary, format!("look at it with `{} plan`", session.name())));
    }
    // Nothing is written over, and nothing at all if something would be.
    if let Some(there) = files.iter().find(|file| folder.join(&file.path).exists()) {
        return Err(CommandError::new(
            format!("{} exists already", there.path.display()),
            "begin in another folder, or move it away",
        ));
    }
    for file in files {
        let path = folder.join(&file.path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        written
            .and_then(|()| whole_file::create(&path, file.text.as_bytes(), Readers::Same))
            .map_err(|error| CommandError::file("write", &path, &error))?;
        session.ui.note(&format!("wrote {}", shown_path(&file.path)));
    }
    if json {
        let written: Vec<_> = files.iter().map(|file| file.path.to_string_lossy()).collect();
        session.ui.json(&json!({
            "version": 1, "kind": "init", "providers": [], "lock_changed": false, "files": written,
        }));
    }
    session.ui.note(&format!("\nNext: {0} plan, then {0} deploy", session.name()));
    Ok(Exit::Done)
}
