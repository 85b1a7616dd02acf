//! `version`: which program this is.

use clap::Args;
use serde_json::json;

use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::session::Session;

/// Show the version
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup version --json")]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    json: JsonArgs,
}

#[expect(clippy::unnecessary_wraps, reason = "all commands have one form")]
pub(super) fn run(session: &Session<'_>, args: &VersionArgs) -> CommandResult {
    let (name, version) = (session.name(), session.composition.version);
    match args.json.json {
        true => {
            session.ui.json(&json!({ "version": 1, "kind": "version", "name": name, "release": version }));
        }
        false => session.ui.data(&format!("{name} {version}")),
    }
    Ok(Exit::Done)
}
