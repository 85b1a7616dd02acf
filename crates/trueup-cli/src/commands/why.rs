//! `why`: why a resource would change.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use trueup_core::Address;
use trueup_engine::{Action, EventSink, Plan, PlannedAction};
use trueup_front_end::Purpose;

use super::plan_options;
use crate::arguments::{JsonArgs, PlanArgs, StageArgs, VariableArgs};
use crate::completion;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{PlanView, Shown, action_json, natural, render_action};
use crate::running::uninterrupted;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Say why a resource would change, what it depends on, and what depends on it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup why std_file.index")]
pub(crate) struct WhyArgs {
    /// The resource
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: Address,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &WhyArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let options = plan_options(&workplace, &PlanArgs::default())?;
    let reconciler = workplace.reconciler(workplace.recorded_store(Access::Read).await?, EventSink::new());
    let planning = async {
        let program = workplace.program(Purpose::Deploy, &reconciler, &options).await?.program;
        let plan = reconciler.plan(&program, &options).await;
        plan.map_err(|error| CommandError::of_engine(error, &program))
    };
    let plan = uninterrupted(&workplace, planning).await??;
    let Some(action) = plan.actions.iter().find(|action| action.address == args.address) else {
        let known: Vec<String> = plan.actions.iter().map(|action| action.address.to_string()).collect();
        let hint = match trueup_core::nearest(&args.address.to_string(), known.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "name a resource that is declared or recorded".to_owned(),
        };
        return Err(CommandError::new(format!("there is no resource {}", args.address), hint));
    };
    let dependents = dependents(&plan, &action.address);
    if args.json.json {
        let names: Vec<&Address> = dependents.iter().map(|it| &it.address).collect();
        let told = json!({ "version": 2, "kind": "why", "action": action_json(action), "dependents": names });
        session.ui.json(&told);
        return Ok(Exit::Done);
    }
    let look = session.ui.out();
    if action.action == Action::NoOp && action.drift.is_empty() {
        session
            .ui
            .data(&format!("{} would not change: declared, recorded and observed agree.", action.address));
    } else {
        session.ui.data(&render_action(&plan, action, PlanView::new(look, Shown::CHANGES)));
    }
    tell(session, "depends on", &upstream(&plan, action));
    tell(session, "needed by", &dependents);
    Ok(Exit::Done)
}

fn upstream<'p>(plan: &'p Plan, action: &PlannedAction) -> Vec<&'p PlannedAction> {
    sorted(plan.actions.iter().filter(|other| action.dependencies.contains(&other.address)))
}

fn dependents<'p>(plan: &'p Plan, address: &Address) -> Vec<&'p PlannedAction> {
    sorted(plan.actions.iter().filter(|other| other.dependencies.contains(address)))
}

fn sorted<'p>(actions: impl Iterator<Item = &'p PlannedAction>) -> Vec<&'p PlannedAction> {
    let mut actions: Vec<&PlannedAction> = actions.collect();
    natural::sort_by_address(&mut actions, |it| &it.address);
    actions
}

fn tell(session: &Session<'_>, what: &str, actions: &[&PlannedAction]) {
    if actions.is_empty() {
        return;
    }
    session.ui.data(&format!("\n{what}:"));
    for action in actions {
        let does = match action.action {
            Action::NoOp => "unchanged",
            Action::Read => "read during the run",
            Action::MayUpdate => "may be updated",
            Action::Update => "is updated",
            Action::MayReplace => "may be replaced",
            Action::Replace => "is replaced",
            Action::Create => "is created",
            Action::Delete => "is deleted",
            Action::Forget => "is forgotten",
        };
        session.ui.data(&format!("  {}  {does}", action.address));
    }
}
