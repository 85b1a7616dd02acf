//! `state export`: everything recorded, in one file.

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};
use trueup_core::Value;
use trueup_state::sealing::is_sealed_throughout;
use trueup_state::{Configurations, Record};

use crate::arguments::StageArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::shown_path;
use crate::whole_file::{self, Readers};
use crate::workplace::{Access, Workplace};

/// The version of the form. Older ones are read as well.
pub(super) const EXPORT_VERSION: u32 = 2;

/// Write everything that is recorded in a stage as JSON, for a copy or another store
///
/// Secrets stay sealed in it, with the keyring that opens them beside them: whoever has the key can import it.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup state export --to copy.json")]
pub(super) struct ExportArgs {
    /// The file to write; else standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Write secrets as they are: keep the file to yourself
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    stage: StageArgs,
}

/// All that is recorded in a stage, as it is written.
#[derive(Serialize, Deserialize)]
pub(super) struct Export {
    pub(super) version: u32,
    pub(super) kind: String,
    pub(super) stack: String,
    pub(super) stage: String,
    pub(super) records: Vec<Record>,
    #[serde(default, with = "trueup_core::recorded")]
    pub(super) outputs: Option<Value>,
    /// The configurations of providers that the objects were made with.
    #[serde(default, skip_serializing_if = "Configurations::is_empty")]
    pub(super) configurations: Configurations,
    /// What seals the secrets, itself sealed; `None` if they are open, or there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keyring: Option<String>,
}

pub(super) async fn run(session: &Session<'_>, args: &ExportArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let access = if args.show_secrets { Access::Read } else { Access::Look };
    let store = workplace.recorded_store(access).await?;
    let scope = workplace.scope();
    let snapshot = store.load(&scope).await?;
    if !args.show_secrets && !is_sealed_throughout(&scope, &snapshot) {
        return Err(CommandError::new(
            "some secrets are not sealed yet: they were recorded by an older program",
            "seal them with `trueup state rekey`, or add --show-secrets",
        ));
    }
    let keyring = if args.show_secrets { None } else { store.keyring(&scope).await? };
    let mut records: Vec<Record> = snapshot.records.iter().map(|(record, _)| Record::clone(record)).collect();
    records.sort_by(|left, right| left.address.cmp(&right.address));
    let count = records.len();
    let export = Export {
        version: EXPORT_VERSION,
        kind: "state".to_owned(),
        stack: workplace.stack.value.to_string(),
        stage: workplace.stage.value.to_string(),
        records,
        outputs: snapshot.outputs,
        configurations: snapshot.configurations,
        keyring,
    };
    let text = serde_json::to_string_pretty(&export);
    let text =
        text.map_err(|error| CommandError::plain(format!("cannot write the state as JSON: {error}")))?;
    match &args.to {
        None => session.ui.json(&text),
        Some(path) => {
            let path = session.folder.join(path);
            let written = whole_file::create(&path, format!("{text}\n").as_bytes(), Readers::Owner);
            written.map_err(|error| CommandError::file("write", &path, &error))?;
            let secrets =
                if args.show_secrets { "secrets stand in it as they are" } else { "secrets are sealed" };
            session.ui.note(&format!("{count} records written to {}; {secrets}", shown_path(&path)));
        }
    }
    Ok(Exit::Done)
}
