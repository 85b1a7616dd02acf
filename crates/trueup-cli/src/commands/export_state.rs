//! `export-state`: what is recorded, as a state of Terraform.

use std::path::PathBuf;

use clap::Args;
use trueup_core::Value;
use trueup_engine::SystemRandom;
use trueup_state::Snapshot;

use crate::arguments::StageArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::terraform::{Left, leave};
use crate::ui::shown_path;
use crate::whole_file::{self, Readers};
use crate::workplace::{Access, Workplace};

/// Go back to Terraform: write all that is recorded as a state file of it
///
/// The providers that Terraform has too are written, and `terraform_data`; for others see --partial. Terraform keeps secrets
/// as they are, so the file holds them in the clear: it is readable by its owner alone.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup export-state --out terraform.tfstate --show-secrets")]
pub(crate) struct ExportStateArgs {
    /// The file to write; else standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write secrets as they are, where there are any
    #[arg(long)]
    show_secrets: bool,
    /// Leave out what no provider of Terraform manages
    #[arg(long)]
    partial: bool,
    #[command(flatten)]
    stage: StageArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ExportStateArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check_something()?;
    let snapshot = workplace.recorded(Access::Read).await?;
    if holds_secrets(&snapshot) && !args.show_secrets {
        return Err(CommandError::new(
            "there are secrets in what is recorded, and Terraform's states hold them in the clear",
            "add --show-secrets, and keep the file to yourself",
        ));
    }
    let Left { state, foreign } = leave(&snapshot, &workplace.registry, &SystemRandom).await?;
    if !foreign.is_empty() {
        let list: Vec<String> = foreign.iter().map(ToString::to_string).collect();
        let what = format!("no provider of Terraform manages {}", list.join(", "));
        if !args.partial {
            return Err(CommandError::new(what, "add --partial to leave them out of the state"));
        }
        session.ui.note(&format!("left out: {what}"));
    }
    let count: usize = state.resources.iter().map(|resource| resource.instances.len()).sum();
    let text = state.to_text();
    match &args.out {
        None => session.ui.json(&text.trim_end()),
        Some(path) => {
            let path = session.folder.join(path);
            let written = whole_file::create(&path, text.as_bytes(), Readers::Owner);
            written.map_err(|error| CommandError::file("write", &path, &error))?;
            let secrets = if args.show_secrets { "; secrets stand in it as they are" } else { "" };
            session.ui.note(&format!("{count} resources written to {}{secrets}", shown_path(&path)));
        }
    }
    Ok(Exit::Done)
}

fn holds_secrets(snapshot: &Snapshot) -> bool {
    let objects = snapshot.records.iter().flat_map(|(record, _)| record.generations());
    let objects = objects.filter_map(|generation| generation.object.as_ref());
    let mut values = objects.flat_map(|object| {
        let inputs = object.inputs.as_ref().map(|inputs| &inputs.effective);
        inputs.into_iter().chain([&object.outputs])
    });
    values.any(holds_secret) || snapshot.outputs.iter().any(holds_secret)
}

/// Whether there is a secret in a value; one that is not set hides nothing.
fn holds_secret(value: &Value) -> bool {
    (value.is_secret() && !value.is_null()) || value.children().any(holds_secret)
}
