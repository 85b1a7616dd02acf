//! `deploy`: brings everything to what the program declares.

use std::path::{Path, PathBuf};

use clap::Args;
use trueup_front_end::Purpose;

use super::{deploy_options, refuse_protected, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs, is_assignment};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::plan_files::{PlanFile, check_texts};
use crate::policies;
use crate::refreshing::{RefreshView, refresh};
use crate::running::{Approval, Course, Ended, Errand, Unchanged, carry_out};
use crate::session::Session;
use crate::workplace::Workplace;

/// Plan, ask for approval, and apply
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup deploy\n  trueup deploy --stage prod --yes --fail-fast\n  trueup deploy prod.plan"
)]
pub(crate) struct DeployArgs {
    /// A plan that `plan --out` saved: it is carried out as it is, without asking, or refused
    #[arg(
        value_name = "FILE",
        conflicts_with_all = [
            "dry_run", "refresh_only", "target", "exclude", "replace", "force", "adopt", "no_drift",
        ]
    )]
    file: Option<PathBuf>,
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
    /// Update state to match reality; change no resource
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
    if let Some(file) = &args.file {
        refuse_assignment(file)?;
        return follow(session, args, &session.folder.join(file)).await;
    }
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
        course: Course::Anew,
        policies: policies::gather(&workplace, &args.plan.policy)?,
    };
    let (exit, ended) = carry_out(&workplace, &errand).await?;
    let changes = matches!(ended, Ended::Planned { changes: true });
    Ok(if args.detailed_exitcode && changes { Exit::Changes } else { exit })
}

/// Refuses `NAME=VALUE` without `--var` where a file is expected, and does not quote the value: it may be secret.
fn refuse_assignment(file: &Path) -> CommandResult<()> {
    let text = file.to_string_lossy();
    match text.split_once('=').filter(|_| is_assignment(&text) && !file.exists()) {
        Some((name, _)) => Err(CommandError::new(
            format!("there is no plan file `{name}=…`"),
            format!("set a variable with `--var {name}=…`"),
        )),
        None => Ok(()),
    }
}

/// Carries a saved plan out (PLANFILE-1).
async fn follow(session: &Session<'_>, args: &DeployArgs, path: &Path) -> CommandResult {
    let file = PlanFile::read(path)?;
    let planned = &file.header.stage;
    if let Some(stage) = args.stage.stage.as_ref().filter(|stage| *stage != planned) {
        let summary = format!("{} is for the stage {planned}, and --stage says {stage}", path.display());
        return Err(CommandError::new(summary, "leave --stage out: the plan says where it belongs"));
    }
    let mut workplace = Workplace::load(session, Some(planned))?;
    file.check(&workplace)?;
    let saved = file.open(&workplace).await?;
    workplace.plan_time = saved.made_at;
    if saved.kind.is_destroy() {
        refuse_protected(&workplace)?;
    }
    check_texts(&workplace, &saved)?;
    if !saved.kind.is_destroy() {
        workplace.check()?;
    }
    let mut options = deploy_options(&workplace, &args.plan, &args.run, false)?;
    options.plan = saved.options.over(&options.plan);
    let errand = Errand {
        purpose: if saved.kind.is_destroy() { Purpose::Destroy } else { Purpose::Deploy },
        options,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval: Approval::Given,
        course: Course::Following(&saved, path),
        policies: policies::gather(&workplace, &args.plan.policy)?,
    };
    Ok(carry_out(&workplace, &errand).await?.0)
}
