//! `drift`: what was changed outside.

use std::sync::Arc;

use clap::Args;
use trueup_core::{AddressRange, SourceMap};
use trueup_engine::{Plan, PlannedAction, Reason};
use trueup_front_end::Purpose;

use super::{deploy_options, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::policies;
use crate::render::{PlanView, counted, plan_json, render_actions};
use crate::running::{Approval, Course, Errand, Unchanged, header, set_up, uninterrupted};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Look for changes made outside; exit with 3 if there are any
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup drift --stage prod\n  trueup drift --repair")]
pub(crate) struct DriftArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// Bring what drifted back to what the program says
    #[arg(long)]
    repair: bool,
    /// Only this resource or module
    #[arg(long, value_name = "ADDRESS")]
    target: Vec<AddressRange>,
    /// How many operations run at a time
    #[arg(long, value_name = "COUNT")]
    parallelism: Option<usize>,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &DriftArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let question = format!("Repair drift in {}?", workplace.stage.value);
    let mut errand = errand(&workplace, args, &question)?;
    let access = if args.repair { Access::Write } else { Access::Read };
    let store = workplace.recorded_store(access).await?;
    let begun = session.clock.now();
    let setup = set_up(&workplace, &errand, store).await?;
    let looking = setup.reconciler.plan_before_run(&setup.program, &errand.options.plan);
    let plan = uninterrupted(&workplace, looking).await?;
    let plan = plan.map_err(|error| CommandError::of_engine(error, &setup.program))?;
    let took = session.clock.now().duration_since(begun).unwrap_or_default();
    let mut drifted = only_drift(&plan);
    drifted.warnings = workplace.warned();
    drifted.warnings.extend(plan.warnings.clone());
    // A repair shows its own plan, which says the same.
    if !args.repair || drifted.actions.is_empty() {
        show(&workplace, args, &drifted, &setup.program.sources, &header(&workplace, &plan, true, took));
    }
    if drifted.actions.is_empty() {
        session.ui.note("No drift: every object that can be read is as recorded.");
    }
    beside_drift(&plan, session.name()).iter().for_each(|line| session.ui.note(line));
    if drifted.actions.is_empty() {
        return Ok(Exit::Done);
    }
    if !args.repair {
        let count = counted(drifted.actions.len(), "resource");
        session.ui.note(&format!("\n{count} drifted. Repair with `{} drift --repair`.", session.name()));
        return Ok(Exit::Drift);
    }
    errand.options.plan.targets =
        drifted.actions.iter().map(|action| action.address.clone().into()).collect();
    Ok(setup.carry_out(&workplace, &errand).await?.0)
}

/// The run that repairs, or only the look at what drifted.
fn errand<'a>(workplace: &Workplace<'_>, args: &DriftArgs, question: &'a str) -> CommandResult<Errand<'a>> {
    let plan_args =
        PlanArgs { target: args.target.clone(), parallelism: args.parallelism, ..PlanArgs::default() };
    Ok(Errand {
        purpose: Purpose::Deploy,
        options: deploy_options(workplace, &plan_args, &args.run, !args.repair)?,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval: if args.run.yes { Approval::Given } else { Approval::Ask(question) },
        course: Course::Anew,
        policies: if args.repair { policies::gather(workplace, &[])? } else { Arc::default() },
    })
}

/// Shows what drifted.
fn show(workplace: &Workplace<'_>, args: &DriftArgs, drifted: &Plan, sources: &SourceMap, header: &str) {
    let ui = &workplace.session.ui;
    if args.view.json {
        ui.json(&plan_json(drifted, sources));
        return;
    }
    ui.data(header);
    if !drifted.actions.is_empty() {
        let view = PlanView::new(ui.out(), shown(args.view));
        ui.data(&format!("\n{}", render_actions(drifted, view)));
    }
}

/// Findings that are no drift and that nobody should miss: operations that never finished, and objects elsewhere than the
/// provider's configuration leads.
fn beside_drift(plan: &Plan, name: &str) -> Vec<String> {
    let told = |reason: Reason, what: &str| {
        let with_it = plan.actions.iter().filter(|it| it.reasons.contains(&reason));
        with_it.map(|it| format!("{}: {what}", it.address)).collect::<Vec<_>>()
    };
    let unfinished = format!("an earlier run did not finish it; `{name} deploy` does");
    let elsewhere =
        format!("it is where another provider configuration leads; `{name} plan` shows what follows");
    let mut lines = told(Reason::Recovered, &unfinished);
    lines.extend(told(Reason::ProviderChanged, &elsewhere));
    lines
}

/// The plan, as far as it comes from drift.
fn only_drift(plan: &Plan) -> Plan {
    let drifted =
        |action: &&PlannedAction| !action.drift.is_empty() || action.reasons.contains(&Reason::Gone);
    let actions = plan.actions.iter().filter(drifted).cloned().collect();
    let outputs = plan.recorded_outputs.clone();
    Plan { actions, moves: Vec::new(), left_out: Vec::new(), outputs, ..plan.clone() }
}
