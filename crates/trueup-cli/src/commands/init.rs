//! `init`: a new stack.

use clap::Args;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;

/// Write the files of a new stack into this folder
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup init && trueup plan")]
pub(crate) struct InitArgs {
    /// The name of the stack; else that of the folder
    name: Option<String>,
}

pub(super) fn run(session: &Session<'_>, args: &InitArgs) -> CommandResult {
    let folder = &session.folder;
    let own = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = args.name.clone().or(own).unwrap_or_else(|| "stack".to_owned());
    let files = session.composition.front_end.scaffold(&name);
    if files.is_empty() {
        return Err(CommandError::new(
            "this program brings its own stack",
            format!("look at it with `{} plan`", session.name()),
        ));
    }
    if session.composition.front_end.load(folder).found {
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
    for file in &files {
        let path = folder.join(&file.path);
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        written
            .and_then(|()| std::fs::write(&path, &file.text))
            .map_err(|error| CommandError::file("write", &path, &error))?;
        session.ui.note(&format!("wrote {}", file.path.display()));
    }
    session.ui.note(&format!("\nNext: {0} plan, then {0} deploy", session.name()));
    Ok(Exit::Done)
}
