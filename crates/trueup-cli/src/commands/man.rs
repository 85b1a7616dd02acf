//! `man`: the manual pages.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::command_line;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::shown_path;

/// Write the manual pages into a folder
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup man ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The folder
    folder: PathBuf,
}

pub(super) fn run(session: &Session<'_>, args: &ManArgs) -> CommandResult {
    let folder = session.folder.join(&args.folder);
    std::fs::create_dir_all(&folder).map_err(|error| CommandError::file("make", &folder, &error))?;
    clap_mangen::generate_to(command_line(session.name()), &folder)
        .map_err(|error| CommandError::file("write in", &folder, &error))?;
    session.ui.note(&format!("wrote the manual pages to {}", shown_path(&folder)));
    Ok(Exit::Done)
}
