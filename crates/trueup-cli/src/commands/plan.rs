//! `plan`: what a deploy would do.

use std::path::PathBuf;

use clap::Args;
use trueup_front_end::Purpose;

use super::{deploy_options, refuse_protected, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs};
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::policies;
use crate::refreshing::{RefreshView, refresh};
use crate::running::{Approval, Course, Ended, Errand, Unchanged, carry_out};
use crate::session::Session;
use crate::workplace::Workplace;

/// Show what a deploy would do, and change nothing
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup plan\n  trueup plan --stage prod --target module.net --detailed-exitcode\n  \
                  trueup plan --stage prod --out prod.plan"
)]
pub(crate) struct PlanCommandArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// Show what a destroy would do instead
    #[arg(long)]
    destroy: bool,
    /// Exit with 2 if there is something to do
    #[arg(long)]
    detailed_exitcode: bool,
    /// Save the plan in this file, for `deploy FILE`
    #[arg(long, value_name = "FILE", conflicts_with = "refresh_only")]
    out: Option<PathBuf>,
    /// Show what records would take over from what is observed, instead
    #[arg(long, conflicts_with_all = ["destroy", "force", "adopt", "replace", "no_drift"])]
    refresh_only: bool,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &PlanCommandArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    if !args.destroy {
        workplace.check()?;
    }
    if args.refresh_only {
        let options = deploy_options(&workplace, &args.plan, &RunArgs::default(), true)?;
        let view = RefreshView { dry_run: true, yes: false, json: args.view.json };
        let (exit, changes) = refresh(&workplace, &options, view).await?;
        return Ok(if args.detailed_exitcode && changes { Exit::Changes } else { exit });
    }
    let out = args.out.as_ref().map(|path| session.folder.join(path));
    if out.is_some() && args.destroy {
        refuse_protected(&workplace)?;
    }
    let errand = Errand {
        purpose: if args.destroy { Purpose::Destroy } else { Purpose::Deploy },
        options: deploy_options(&workplace, &args.plan, &RunArgs::default(), true)?,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval: Approval::Given,
        course: out.as_deref().map_or(Course::Anew, Course::Saved),
        policies: policies::gather(&workplace, &args.plan.policy)?,
    };
    let (exit, ended) = carry_out(&workplace, &errand).await?;
    let changes = matches!(ended, Ended::Planned { changes: true });
    Ok(if args.detailed_exitcode && changes { Exit::Changes } else { exit })
}
