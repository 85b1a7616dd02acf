//! `providers mirror`: a mirror of what the stack needs, in a folder.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};
use trueup_terraform_find::{Mirrored, mirror_to};

use super::{Asked, PlatformArgs};
use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::terraform::{shown, wrong};
use crate::ui::shown_path;

/// Put the packages of the providers into a folder, to install from where there is no network
///
/// They come from the registries of their providers, whatever Terraform's CLI configuration says. The folder can be named
/// as a `filesystem_mirror`, or be served as a `network_mirror`; what is in it already stays.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup providers mirror --platform linux_amd64 /srv/terraform-mirror")]
pub(crate) struct MirrorArgs {
    /// The folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    platforms: PlatformArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &MirrorArgs) -> CommandResult {
    let Asked { loaded, required, settings } = super::asked(session)?;
    let (platforms, folder) = (args.platforms.named(), session.folder.join(&args.folder));
    let mirroring =
        shown(session, async |watch| mirror_to(&required, &settings, &platforms, &folder, watch).await);
    let mirrored = tokio::select! {
        mirrored = mirroring => mirrored.map_err(|problems| wrong(&problems, &loaded))?,
        () = session.interrupts.first() => return Err(CommandError::Interrupted),
    };
    if args.json.json {
        let packages: Vec<Json> = mirrored.iter().map(mirrored_json).collect();
        session.ui.json(&json!({ "version": 1, "kind": "providers-mirror", "packages": packages }));
        return Ok(Exit::Done);
    }
    for Mirrored { address, version, platform, .. } in &mirrored {
        session.ui.note(&format!("{} {version}  {platform}", address.name()));
    }
    session.ui.note(&format!("\nThe mirror is {}.", shown_path(&folder)));
    Ok(Exit::Done)
}

fn mirrored_json(Mirrored { address, version, platform, path }: &Mirrored) -> Json {
    json!({
        "address": address.to_string(),
        "version": version.to_string(),
        "platform": platform.to_string(),
        "path": path.display().to_string(),
    })
}
