//! `man`: the manual pages.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::command_line;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::shown_path;
use crate::whole_file::{self, Readers};

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
    let mut command = command_line(session.name(), session.composition.version).disable_help_subcommand(true);
    command.build();
    for (name, page) in pages(command)? {
        let path = folder.join(name);
        whole_file::replace(&path, &page, Readers::Same)
            .map_err(|error| CommandError::file("write", &path, &error))?;
    }
    session.ui.note(&format!("wrote the manual pages to {}", shown_path(&folder)));
    Ok(Exit::Done)
}

/// The pages of a command and of all below it, each with the name of its file.
fn pages(command: clap::Command) -> CommandResult<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
        found.extend(pages(inner.clone())?);
    }
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)
        .map_err(|error| CommandError::plain(format!("cannot write a manual page: {error}")))?;
    found.push((page.get_filename(), text));
    Ok(found)
}
