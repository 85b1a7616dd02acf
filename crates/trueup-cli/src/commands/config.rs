//! `config`: each setting, and where it comes from.

use clap::Args;
use serde_json::json;

use crate::arguments::{JsonArgs, StageArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::settings;
use crate::ui::{padded, width};
use crate::workplace::Workplace;

/// Show each setting and where it comes from
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup config --stage prod")]
pub(crate) struct ConfigArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) fn run(session: &Session<'_>, args: &ConfigArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let defaults = trueup_engine::PlanOptions::new(workplace.stage.value.clone());
    let (environment, stack) = (&session.environment, &workplace.loaded.settings);
    let parallelism = settings::parallelism(None, environment, stack, workplace.user, defaults.parallelism);
    let parallelism =
        parallelism.map_err(|wrong| CommandError::new(wrong, "set it to a number such as 10"))?;
    let key = settings::key(&session.key_service_setup(), workplace.user);
    let profile = match &session.profile {
        Some(profile) => (profile.told(), profile.name.from.to_string()),
        None => ("(none)".to_owned(), "default".to_owned()),
    };
    let file = environment.config_file();
    let there = file.as_ref().is_some_and(|file| file.exists());
    let shown = file.map_or("(none)".to_owned(), |file| file.display().to_string());
    let rows = [
        ("folder", session.folder.display().to_string(), "working folder".to_owned()),
        ("stack", workplace.stack.value.to_string(), workplace.stack.from.to_string()),
        ("stage", workplace.stage.value.to_string(), workplace.stage.from.to_string()),
        (
            "state",
            format!("{} {}", workplace.state.value.kind, workplace.location()),
            workplace.state.from.to_string(),
        ),
        ("profile", profile.0, profile.1),
        ("key", crate::keys::told(&key.value), key.from.to_string()),
        ("parallelism", parallelism.value.to_string(), parallelism.from.to_string()),
        ("user configuration", shown, if there { "read" } else { "not there" }.to_owned()),
    ];
    if args.json.json {
        let settings: serde_json::Map<_, _> = rows
            .iter()
            .map(|(name, value, from)| ((*name).to_owned(), json!({ "value": value, "from": from })))
            .collect();
        session.ui.json(&json!({ "version": 1, "kind": "config", "settings": settings }));
        return Ok(Exit::Done);
    }
    let names = rows.iter().map(|row| width(row.0)).max().unwrap_or(0);
    let sources = rows.iter().map(|row| width(&row.2)).max().unwrap_or(0);
    let look = session.ui.out();
    let room = if look.whole { usize::MAX } else { look.columns.saturating_sub(names + sources + 4) };
    // A long path does not push the others' sources aside: its own goes to the next line.
    let values = rows.iter().map(|row| width(&row.1)).filter(|width| *width <= room).max().unwrap_or(0);
    for (name, value, from) in &rows {
        let head = format!("{}  {}", padded(name, names), padded(value, values));
        match width(value) <= values {
            true => session.ui.data(&format!("{head}  {from}")),
            false => session.ui.data(&format!("{head}\n{}{from}", " ".repeat(names + values + 4))),
        }
    }
    Ok(Exit::Done)
}
