//! `dev`: plans and applies at every change of the text.

use std::path::PathBuf;

use clap::Args;
use trueup_front_end::Purpose;

use super::deploy_options;
use crate::arguments::{PlanArgs, RunArgs, StageArgs, VariableArgs};
use crate::entry::start_anew;
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
/// Mistakes in the text and failed runs are told, and the next change is waited for. A stack in Rust is deployed whenever
/// it is built anew.
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
    if !first.loaded.found {
        return first.check().map(|()| Exit::Done);
    }
    // A compiled stack has no text: the program itself changes.
    let program = first.loaded.files.is_empty().then(own_program).transpose()?;
    if !args.run.yes {
        approve(session, &first)?;
    }
    let stage = first.stage.value.clone();
    let (watch, watched) = match &program {
        Some(program) => (Watch::of_file(program), program),
        None => (Watch::new(&session.folder, session.log_file.as_deref()), &session.folder),
    };
    let unwatched = |error| CommandError::plain(format!("cannot watch {}: {error}", watched.display()));
    let mut watch = watch.map_err(unwatched)?;
    let mut is_first = true;
    loop {
        let files = round(session, args, &stage, is_first).await;
        is_first = false;
        watch.also(&files);
        if session.interrupts.any() {
            break;
        }
        let look = session.ui.err();
        let waiting = match &program {
            Some(program) => format!("waiting for a new build of {} (Ctrl-C ends)", program.display()),
            None => format!("watching {} for changes (Ctrl-C ends)", watched.display()),
        };
        session.ui.note(&look.paint(Meaning::Quiet, &waiting));
        tokio::select! {
            changed = watch.changed() => if !changed { break },
            () = session.interrupts.first() => break,
        }
        if let Some(program) = program.as_ref().filter(|program| program.is_file()) {
            session.ui.note("it was built anew");
            // Whoever was asked has approved of all rounds.
            let approved = if args.run.yes { None } else { Some("--yes") };
            session.shut_down().await;
            // Returns only if the new one is not ready to run; then the next change is waited for.
            start_anew(program, approved).tell(&session.ui, session.name());
        }
    }
    session.ui.note("Stopped watching; what was deployed stays.");
    Ok(Exit::Done)
}

/// The file of this program.
fn own_program() -> CommandResult<PathBuf> {
    std::env::current_exe()
        .map_err(|error| CommandError::plain(format!("cannot find this program to watch it: {error}")))
}

/// Asks once, for all rounds.
fn approve(session: &Session<'_>, workplace: &Workplace<'_>) -> CommandResult<()> {
    if !session.ui.is_interactive() {
        return Err(CommandError::new(
            "the changes to come need approval, and there is no terminal to ask in",
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
) -> Vec<PathBuf> {
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
            shown: Shown::BRIEF,
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
