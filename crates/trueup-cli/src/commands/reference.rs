//! `reference`: the commands and the types as pages of a book, and schemas of what commands write as JSON.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::reference;
use crate::session::Session;
use crate::stores::state_in_own_folder;
use crate::ui::shown_path;
use crate::whole_file::{self, Readers};

/// Write a reference of commands, resource types and data sources into a folder, in Markdown, and JSON Schemas
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup reference docs/reference")]
pub(crate) struct ReferenceArgs {
    /// The folder
    folder: PathBuf,
}

pub(super) async fn run(session: &Session<'_>, args: &ReferenceArgs) -> CommandResult {
    let folder = session.folder.join(&args.folder);
    // Which types there are does not depend on where state is kept.
    let registry = session.registry(&state_in_own_folder(), &[]);
    let mut pages = vec![reference::command_page(session.name(), session.composition.version)];
    pages.extend(reference::provider_pages(session.name(), &registry).await?);
    pages.extend(session.composition.front_end.reference());
    pages.extend(reference::schemas());
    for page in &pages {
        let path = folder.join(&page.path);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| whole_file::replace(&path, page.text.as_bytes(), Readers::Same))
            .map_err(|error| CommandError::file("write", &path, &error))?;
    }
    session.ui.note(&format!("wrote {} files to {}", pages.len(), shown_path(&folder)));
    Ok(Exit::Done)
}
