//! `deploy`: brings everything to what the program declares.

use clap::Args;

use super::{deploy_options, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs};
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::front_end::Purpose;
use crate::refreshing::{RefreshView, refresh};
use crate::running::{Approval, Ended, Errand, Unchanged, carry_out};
use crate::session::Session;
use crate::workplace::Workplace;

/// Plan, ask, and make it so
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup deploy\n  trueup deploy --stage prod --yes --fail-fast")]
pub(crate) struct DeployArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
    /// Exit with 2 if there is something to do; for --dry-run
    #[arg(long, requires = "dry_run")]
    detailed_exitcode: bool,
    /// Let records take over what is observed, and change no object
    #[arg(long, conflicts_with_all = ["force", "adopt", "replace", "no_drift", "fail_fast"])]
    refresh_only: bool,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &DeployArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    if args.refresh_only {
        let options = deploy_options(&workplace, &args.plan, &args.run, args.dry_run)?;
        let view = RefreshView { dry_run: args.dry_run, yes: args.run.yes, json: args.view.json };
        let (exit, changes) = refresh(&workplace, &options, view).await?;
        return Ok(if args.detailed_exitcode && changes { Exit::Changes } else { exit });
    }
    let question = format!("Deploy to {}?", workplace.stage.value);
    let errand = Errand {
        purpose: Purpose::Deploy,
        options: deploy_options(&workplace, &args.plan, &args.run, args.dry_run)?,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval: if args.run.yes { Approval::Given } else { Approval::Ask(&question) },
    };
    let (exit, ended) = carry_out(&workplace, &errand).await?;
    let changes = matches!(ended, Ended::Planned { changes: true });
    Ok(if args.detailed_exitcode && changes { Exit::Changes } else { exit })
}
