//! `validate`: is the text sound?

use clap::Args;
use serde_json::json;
use trueup_core::escape_line;
use trueup_front_end::Purpose;

use super::plan_options;
use crate::arguments::{JsonArgs, PlanArgs, StageArgs, VariableArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{counted, diagnostics_json};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Check the text: syntax, names, types, and what providers say of it; without state, and nothing is looked at
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup validate --chdir infra")]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ValidateArgs) -> CommandResult {
    match judge(session, args).await {
        Ok(Sound { stack, resources, warnings }) => {
            match args.json.json {
                true => session.ui.json(&json!({
                    "version": 1, "kind": "validation", "valid": true, "stack": stack, "resources": resources,
                    "diagnostics": warnings,
                })),
                false => session.ui.note(&format!(
                    "{} is sound: {}",
                    escape_line(&stack),
                    counted(resources, "resource")
                )),
            }
            Ok(Exit::Done)
        }
        Err(error @ CommandError::Wrong { .. }) if args.json.json => {
            let (diagnostics, sources) = error.diagnostics(session.name());
            let diagnostics = diagnostics_json(&diagnostics, &sources);
            session.ui.json(
                &json!({ "version": 1, "kind": "validation", "valid": false, "diagnostics": diagnostics }),
            );
            Ok(Exit::Error)
        }
        Err(error) => Err(error),
    }
}

/// A program that has no mistakes.
struct Sound {
    stack: String,
    resources: usize,
    /// For machines.
    warnings: serde_json::Value,
}

async fn judge(session: &Session<'_>, args: &ValidateArgs) -> CommandResult<Sound> {
    let stage = args.stage.stage.clone().unwrap_or_else(|| "validate".into());
    let workplace = Workplace::load(session, Some(&stage))?;
    workplace.check()?;
    let options = plan_options(&workplace, &PlanArgs::default())?;
    let store = workplace.store(Access::Read).await?;
    let reconciler = workplace.reconciler(store, trueup_engine::EventSink::new());
    let program = workplace.program(Purpose::Validate, &reconciler, &options).await?.program;
    let judged = reconciler.validate(&program, &options).await;
    judged.map_err(|error| CommandError::of_engine(error, &program))?;
    Ok(Sound {
        stack: workplace.stack.value.to_string(),
        resources: program.resources.len(),
        warnings: diagnostics_json(&workplace.warned(), &program.sources),
    })
}
