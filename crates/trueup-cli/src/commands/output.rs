//! `output`: what the stack gives.
//!
//! Its JSON is bare, for scripts: the values by name, or one value alone. [`OutputForm::Terraform`] is the form of
//! `terraform output -json`; an argument with one dash asks for it (see `arguments::normalise`).

use clap::{Args, ValueEnum};
use serde_json::{Value as Json, json};
use trueup_core::{Entries, JsonForm, Kind, Secrets, Type, Value};

use crate::arguments::StageArgs;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::output_lines;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Show what the stack gives, as the last deploy left it
///
/// Secret outputs are hidden, unless one is asked for by name with --raw or --json, or all of them with --show-secrets.
/// Control characters are escaped, except by --raw.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup output\n  curl \"$(trueup output --raw url)\"\n  trueup output --json | jq -r .url"
)]
pub(crate) struct OutputArgs {
    /// One output alone
    name: Option<String>,
    #[command(flatten)]
    stage: StageArgs,
    /// The bare value of one output, byte for byte, for scripts
    #[arg(long, requires = "name")]
    raw: bool,
    /// JSON on standard output: the values by name, or one value alone; `-json` means --json=terraform
    #[arg(
        long,
        value_name = "FORM",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "plain",
        conflicts_with = "raw"
    )]
    json: Option<OutputForm>,
    /// Show secrets as they are
    #[arg(long)]
    show_secrets: bool,
}

/// How outputs are written as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum OutputForm {
    /// The values alone
    Plain,
    /// As `terraform output -json` writes them: each with its type, and whether it is secret
    Terraform,
}

pub(super) async fn run(session: &Session<'_>, args: &OutputArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let mut outputs = workplace.recorded(Access::Look).await?.outputs;
    // Whoever names one output means to have it.
    let revealing = args.show_secrets || args.name.is_some() && (args.raw || args.json.is_some());
    let wanted = |outputs: &Value| match &args.name {
        Some(name) => outputs.get(name).cloned(),
        None => Some(outputs.clone()),
    };
    if revealing && outputs.as_ref().and_then(wanted).is_some_and(|value| value.contains_secret()) {
        outputs = workplace.snapshot(Access::Read).await?.outputs;
    }
    let outputs = match (outputs, &args.name) {
        (Some(outputs), _) => outputs,
        (None, None) if args.json.is_some() => Value::object::<&str>([]),
        (None, _) => {
            let hint = format!("`{} deploy` sets them", session.name());
            let summary = format!("stage {} has no outputs yet", workplace.stage.value);
            return Err(CommandError::new(summary, hint));
        }
    };
    let form = if revealing { JsonForm::BARE } else { JsonForm::PUBLIC };
    match (&args.name, args.json) {
        (None, Some(OutputForm::Plain)) => session.ui.json(&outputs.to_json_tree(form)),
        (None, Some(OutputForm::Terraform)) => session.ui.json(&as_terraform(&outputs, form)),
        (name, _) => {
            let outputs = if revealing { outputs.without_marks() } else { outputs };
            match name {
                Some(name) => one(session, args, name, &outputs)?,
                None => {
                    output_lines(&outputs, session.ui.out()).iter().for_each(|line| session.ui.data(line));
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn one(session: &Session<'_>, args: &OutputArgs, name: &str, outputs: &Value) -> CommandResult<()> {
    let Some(value) = outputs.get(name) else {
        let names = outputs.as_entries().into_iter().flat_map(Entries::keys).map(smol_str::SmolStr::as_str);
        let hint = match trueup_core::nearest(name, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("`{} output` lists them", session.name()),
        };
        return Err(CommandError::new(format!("there is no output `{name}`"), hint));
    };
    if args.json.is_some() {
        session.ui.json(&value.to_json_tree(JsonForm::BARE));
    } else if args.raw {
        let text = match value.kind() {
            Kind::String(text) => text.to_string(),
            Kind::Bool(_) | Kind::Number(_) => value.to_string(),
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

/// The outputs in the form of `terraform output -json`. Of a hidden one not even the type is told: it has keys and lengths.
fn as_terraform(outputs: &Value, form: JsonForm) -> Json {
    let entries = outputs.as_entries().into_iter().flat_map(Entries::iter);
    let told = entries.map(|(name, value)| {
        let sensitive = value.contains_secret();
        let told = match sensitive && form.secrets == Secrets::Redact {
            true => json!({ "sensitive": true, "type": Type::Any }),
            false => json!({
                "sensitive": sensitive,
                "type": Type::of_recorded(&value.without_marks()),
                "value": value.to_json_tree(JsonForm::BARE),
            }),
        };
        (name.to_string(), told)
    });
    Json::Object(told.collect())
}
