//! `key`: key files, made on purpose.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use trueup_state::sealing::KeySources;

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::keys::new_key_note;
use crate::session::Session;
use crate::settings;
use crate::stores::state_in_own_folder;
use crate::ui::shown_path;

/// Make a key file for the secrets in state
#[derive(Args, Debug)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

/// What to do with keys.
#[derive(Subcommand, Debug)]
enum KeyCommand {
    New(NewArgs),
}

/// Make a key file, for shared state or before the first deploy
///
/// Give it to your colleagues and to CI as you would any credential: TRUEUP_KEY_FILE names the file, TRUEUP_KEY holds what
/// stands in it. Changing the key of state that exists is `state rekey`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup key new\n  trueup key new team.key")]
struct NewArgs {
    /// The file; else the one that commands look for, which `config` shows
    file: Option<PathBuf>,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) fn run(session: &Session<'_>, args: &KeyArgs) -> CommandResult {
    match &args.command {
        KeyCommand::New(args) => make(session, args),
    }
}

fn make(session: &Session<'_>, args: &NewArgs) -> CommandResult {
    let sources = settings::key(&session.key_service_setup(), session.user()?).value;
    // Whoever names a file means it, wherever it is. The usual one is never made beside state.
    let sources = match &args.file {
        Some(file) => KeySources { file: Some(session.folder.join(file)), ..sources },
        None => session.key_sources(session.user()?, &state_in_own_folder()),
    };
    let made = sources.make_file().map_err(|error| CommandError::plain(error.to_string()))?;
    let path = sources.file.unwrap_or_default();
    if !made {
        let summary = format!("there is a key in {} already", shown_path(&path));
        return Err(CommandError::new(
            summary,
            "name another file, or change keys with `trueup state rekey`",
        ));
    }
    match args.json.json {
        true => session.ui.json(&json!({ "version": 1, "kind": "key-made", "file": path })),
        false => session.ui.note(&new_key_note(&path, &session.environment)),
    }
    Ok(Exit::Done)
}
