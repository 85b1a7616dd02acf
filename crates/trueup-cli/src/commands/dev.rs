//! `dev`: plans and applies at every change of the text.

use clap::Args;
use trueup_front_end::Purpose;

use super::deploy_options;
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::policies;
use crate::render::{Shown, clock};
use crate::running::{Approval, Course, Ended, Errand, Unchanged, carry_out};
use crate::session::Session;
use crate::ui::{Answer, Meaning};
use crate::watch::Watch;
use crate::workplace::Workplace;

/// Deploy again at every change of the text, until Ctrl-C
///
/// Mistakes in the text and failed runs are told, and the next change is waited for.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  trueup dev --yes")]
pub(crate) struct DevArgs {
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &DevArgs) -> CommandResult {
    let first = Workplace::load(session, args.stage.stage.as_ref())?;
    if first.loaded.files.is_empty() {
        let hint = format!("use `{} deploy`", session.name());
        return match first.loaded.found {
            true => Err(CommandError::new("this program is compiled: there is no text to watch", hint)),
            false => first.check().map(|()| Exit::Done),
        };
    }
    if !args.run.yes {
        approve(session, &first)?;
    }
    let stage = first.stage.value.clone();
    let mut watch = Watch::new(&session.folder).map_err(|error| {
        CommandError::plain(format!("cannot watch {}: {error}", session.folder.display()))
    })?;
    let mut is_first = true;
    loop {
        let files = round(session, args, &stage, is_first).await;
        is_first = false;
        watch.also(&files);
        if session.interrupts.any() {
            break;
        }
        let look = session.ui.err();
        let waiting = format!("watching {} for changes (Ctrl-C ends)", session.folder.display());
        session.ui.note(&look.paint(Meaning::Quiet, &waiting));
        tokio::select! {
            changed = watch.changed() => if !changed { break },
            () = session.interrupts.first() => break,
        }
    }
    session.ui.note("Stopped watching; what was deployed stays.");
    Ok(Exit::Done)
}

/// Asks once, for all rounds.
fn approve(session: &Session<'_>, workplace: &Workplace<'_>) -> CommandResult<()> {
    if !session.ui.is_interactive() {
        return Err(CommandError::new(
            "someone has to approve the changes to come, and there is no terminal to ask in",
            "add --yes",
        ));
    }
    let question = format!("Deploy to {} at every change, without asking again?", workplace.stage.value);
    match session.ui.ask(&question, &|| session.interrupts.any()) {
        Answer::Yes => Ok(()),
        Answer::No => Err(CommandError::Told(Exit::Done)),
        Answer::Interrupted => Err(CommandError::Interrupted),
    }
}

/// One round. Whatever goes wrong is told and ends the round alone; the files that matter.
async fn round(
    session: &Session<'_>,
    args: &DevArgs,
    stage: &smol_str::SmolStr,
    first: bool,
) -> Vec<std::path::PathBuf> {
    session.ui.note(&format!("\n{} planning", clock(session.clock.now())));
    let workplace = match Workplace::load(session, Some(stage)) {
        Ok(workplace) => workplace,
        Err(error) => {
            error.tell(&session.ui, session.name());
            return Vec::new();
        }
    };
    let files = workplace.loaded.files.clone();
    let done = async {
        workplace.check()?;
        let errand = Errand {
            purpose: Purpose::Deploy,
            options: deploy_options(&workplace, &args.plan, &args.run, false)?,
            shown: Shown::Brief,
            json: false,
            unchanged: if first { Unchanged::Told } else { Unchanged::Noted },
            approval: Approval::Given,
            course: Course::Anew,
            policies: policies::gather(&workplace, &args.plan.policy)?,
        };
        carry_out(&workplace, &errand).await
    };
    match done.await {
        Ok((_, Ended::Ran | Ended::Planned { .. } | Ended::Declined)) => {}
        Err(CommandError::Interrupted) => {}
        Err(error) => {
            error.tell(&session.ui, session.name());
        }
    }
    files
}
