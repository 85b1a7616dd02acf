//! `providers lock`: the lock file for more platforms than this one.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value as Json, json};
use trueup_terraform_find::{LockedFor, MethodKind, lock_for};

use super::{Asked, PlatformArgs};
use crate::arguments::JsonArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::terraform::{shown, wrong};

/// Write the checksums of the providers for several platforms to the lock file
///
/// Packages are fetched from the registries of their providers, whatever Terraform's CLI configuration says, checked, and
/// not kept. Versions are those of the lock file; for providers that it does not have, the newest that will do.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup providers lock --platform linux_amd64 --platform darwin_arm64")]
pub(crate) struct LockArgs {
    #[command(flatten)]
    platforms: PlatformArgs,
    /// Take packages from a mirror in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "net_mirror")]
    fs_mirror: Option<PathBuf>,
    /// Take packages from a mirror on a server
    #[arg(long, value_name = "URL")]
    net_mirror: Option<String>,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &LockArgs) -> CommandResult {
    let Asked { loaded, required, settings } = super::asked(session)?;
    let platforms = args.platforms.named();
    let from = match (&args.fs_mirror, &args.net_mirror) {
        (Some(folder), _) => MethodKind::FilesystemMirror(session.folder.join(folder)),
        (None, Some(url)) => MethodKind::NetworkMirror(url.clone()),
        (None, None) => MethodKind::Direct,
    };
    let locking = shown(session, async |watch| lock_for(&required, &settings, &platforms, from, watch).await);
    let locked = tokio::select! {
        locked = locking => locked.map_err(|problems| wrong(&problems, &loaded))?,
        () = session.interrupts.first() => return Err(CommandError::Interrupted),
    };
    if args.json.json {
        let providers: Vec<Json> = locked.iter().map(locked_json).collect();
        session.ui.json(&json!({ "version": 1, "kind": "providers-lock", "providers": providers }));
        return Ok(Exit::Done);
    }
    for LockedFor { address, version, added } in &locked {
        let news = match added {
            0 => "nothing new".to_owned(),
            1 => "1 checksum more".to_owned(),
            more => format!("{more} checksums more"),
        };
        session.ui.note(&format!("{} {version}  {news}", address.name()));
    }
    match locked.iter().any(|it| it.added > 0) {
        true => session.ui.note("\nWrote .terraform.lock.hcl. Commit it."),
        false => session.ui.note("\nThe lock file has all of it already."),
    }
    Ok(Exit::Done)
}

fn locked_json(LockedFor { address, version, added }: &LockedFor) -> Json {
    json!({ "address": address.to_string(), "version": version.to_string(), "checksums_added": added })
}
