//! `output`: what the stack gives.

use clap::Args;
use serde_json::json;
use trueup_core::{JsonForm, Kind, Origins, Secrets, Value};

use crate::arguments::StageArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::output_lines;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Show what the stack gives, as the last deploy left it
///
/// Secret outputs are hidden, unless one is asked for by name with --raw or --json. Control characters are escaped, except
/// by --raw.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup output\n  curl \"$(trueup output --raw url)\"")]
pub(crate) struct OutputArgs {
    /// One output alone
    name: Option<String>,
    #[command(flatten)]
    stage: StageArgs,
    /// The bare value of one output, byte for byte, for scripts
    #[arg(long, requires = "name")]
    raw: bool,
    /// For machines: JSON on standard output
    #[arg(long, conflicts_with = "raw")]
    json: bool,
}

pub(super) async fn run(session: &Session<'_>, args: &OutputArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let mut outputs = workplace.snapshot(Access::Look).await?.outputs;
    let named = |outputs: &Value| args.name.as_ref().and_then(|name| outputs.get(name).cloned());
    if outputs.as_ref().and_then(named).is_some_and(|value| value.contains_secret()) {
        outputs = workplace.snapshot(Access::Read).await?.outputs;
    }
    let stage = &workplace.stage.value;
    let outputs = match (outputs, &args.name) {
        (Some(outputs), _) => outputs,
        (None, None) if args.json => Value::object::<&str>([]),
        (None, _) => {
            let hint = format!("`{} deploy` sets them", session.name());
            return Err(CommandError::new(format!("stage {stage} has no outputs yet"), hint));
        }
    };
    match &args.name {
        None if args.json => {
            let outputs = outputs.to_json_tree(JsonForm::PUBLIC);
            let told = json!({ "version": 1, "kind": "outputs", "stack": workplace.stack.value, "stage": stage, "outputs": outputs });
            session.ui.json(&told);
        }
        None => {
            for line in output_lines(&outputs, session.ui.out()) {
                session.ui.data(&line);
            }
        }
        Some(name) => one(session, args, name, &outputs)?,
    }
    Ok(Exit::Done)
}

fn one(session: &Session<'_>, args: &OutputArgs, name: &str, outputs: &Value) -> CommandResult<()> {
    let Some(value) = outputs.get(name) else {
        let names = outputs
            .as_entries()
            .into_iter()
            .flat_map(trueup_core::Entries::keys)
            .map(smol_str::SmolStr::as_str);
        let hint = match trueup_core::nearest(name, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("`{} output` lists them", session.name()),
        };
        return Err(CommandError::new(format!("there is no output `{name}`"), hint));
    };
    // Whoever names one output means to have it.
    let open = JsonForm { secrets: Secrets::Reveal, origins: Origins::Drop };
    if args.json {
        let value = revealed(value).to_json_tree(open);
        session.ui.json(&json!({ "version": 1, "kind": "output", "name": name, "value": value }));
    } else if args.raw {
        let text = match value.kind() {
            Kind::String(text) => text.to_string(),
            Kind::Bool(_) | Kind::Number(_) => value.clone().reveal().to_string(),
            Kind::Null | Kind::List(_) | Kind::Set(_) | Kind::Map(_) | Kind::Object(_) | Kind::Unknown(_) => {
                let summary = format!("the output `{name}` is {}, which has no bare form", value.kind_name());
                return Err(CommandError::new(summary, "use --json"));
            }
        };
        session.ui.raw(text.as_bytes());
    } else {
        for line in crate::render::lines(value, session.ui.out().columns) {
            session.ui.data(&line);
        }
    }
    Ok(())
}

/// The value without any secret marks, inside too.
fn revealed(value: &Value) -> Value {
    match value.kind() {
        Kind::List(items) => Value::list(items.iter().map(revealed)),
        Kind::Set(items) => Value::list(items.iter().map(revealed)),
        Kind::Map(entries) | Kind::Object(entries) => {
            Value::object(entries.iter().map(|(name, value)| (name.clone(), revealed(value))))
        }
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) | Kind::Unknown(_) => {
            value.clone().reveal()
        }
    }
}
