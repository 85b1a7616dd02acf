//! `import`: adopts an object by its id.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use trueup_core::{Address, Value};
use trueup_front_end::Purpose;
use trueup_program::ImportDeclaration;
use trueup_state::Record;

use super::{deploy_options, shown};
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs, ViewArgs};
use crate::completion;
use crate::failure::{CommandError, CommandResult};
use crate::policies;
use crate::running::{Approval, Course, Errand, Unchanged, carry_out_changed};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Take an object that exists into state, by its id
///
/// The resource must be declared. What the object has otherwise is then brought to what the program says.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup import std_file.index site/index.html")]
pub(crate) struct ImportArgs {
    /// The resource it becomes
    #[arg(add = ArgValueCompleter::new(completion::addresses))]
    address: Address,
    /// The id by which its provider knows it
    id: String,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    #[command(flatten)]
    run: RunArgs,
    #[command(flatten)]
    view: ViewArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ImportArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let recorded = workplace.snapshot(Access::Look).await?;
    // A create whose outcome nobody knows has no object yet: to import it is a way to settle that (CRASH-1).
    let holds = |record: &Record| record.current.as_ref().is_some_and(|current| !current.is_interrupted());
    if recorded.records.iter().any(|(record, _)| record.address == args.address && holds(record)) {
        let summary = format!("{} is recorded already", args.address);
        return Err(CommandError::new(
            summary,
            format!("`{} show {}` tells what is known of it", session.name(), args.address),
        ));
    }
    let plan = PlanArgs { target: vec![args.address.clone().into()], ..PlanArgs::default() };
    let question = format!("Import into {}?", workplace.stage.value);
    let errand = Errand {
        purpose: Purpose::Deploy,
        options: deploy_options(&workplace, &plan, &args.run, false)?,
        shown: shown(args.view),
        json: args.view.json,
        unchanged: Unchanged::Told,
        approval: if args.run.yes { Approval::Given } else { Approval::Ask(&question) },
        course: Course::Anew,
        policies: policies::gather(&workplace, &[])?,
    };
    let id = Value::from(args.id.as_str());
    let import = ImportDeclaration::new(args.address.clone(), id.into());
    let ended = carry_out_changed(&workplace, &errand, |program| program.imports.push(import)).await?;
    Ok(ended.0)
}
