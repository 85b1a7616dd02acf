//! `destroy`: deletes everything that is recorded.

use clap::Args;
use smol_str::SmolStr;
use trueup_front_end::Purpose;

use super::{deploy_options, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs, stage_name};
use crate::failure::{CommandError, CommandResult};
use crate::policies;
use crate::running::{Approval, Course, Errand, Unchanged, carry_out};
use crate::session::Session;
use crate::workplace::Workplace;

/// Delete everything that is recorded in a stage
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup destroy\n  trueup destroy --stage preview-17 --yes")]
pub(crate) struct DestroyArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
    /// The name of a protected stage, to confirm its destruction where there is no terminal
    #[arg(long, value_name = "STAGE", value_parser = stage_name)]
    confirm: Option<SmolStr>,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &DestroyArgs) -> CommandResult {
    // What is wrong with the text does not stand in the way of what is recorded (DELETE-8).
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check_something()?;
    let stage = &workplace.stage.value;
    if let Some(confirmed) = args.confirm.as_ref().filter(|confirmed| *confirmed != stage) {
        let summary = format!("--confirm names the stage {confirmed}, and this is {stage}");
        return Err(CommandError::new(summary, "name the stage that is meant with --stage"));
    }
    let protected = workplace.loaded.settings.protected_stages.contains(stage);
    let question = match protected {
        true => format!("Stage {stage} is protected. Type its name to destroy it:"),
        false => format!("Destroy {stage}?"),
    };
    let approval = match (protected, args.run.yes, args.confirm.is_some()) {
        (true, true, true) | (false, true, _) => Approval::Given,
        (true, _, _) => Approval::AskName(&question),
        (false, false, _) => Approval::Ask(&question),
    };
    let errand = Errand {
        purpose: Purpose::Destroy,
        options: deploy_options(&workplace, &args.plan, &args.run, args.dry_run)?,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval,
        course: Course::Anew,
        policies: policies::gather(&workplace, &args.plan.policy)?,
    };
    Ok(carry_out(&workplace, &errand).await?.0)
}
