//! Approving a plan.

use trueup_engine::Plan;

use super::{Approval, Errand};
use crate::failure::CommandError;
use crate::ui::Answer;
use crate::workplace::Workplace;

/// The answer to a plan.
pub(super) enum Verdict {
    Approved,
    Declined,
    Refused(CommandError),
}

/// Asks, unless there is nothing to ask.
pub(super) fn ask(workplace: &Workplace<'_>, errand: &Errand<'_>, plan: &Plan) -> Verdict {
    let session = workplace.session;
    let interrupted = || session.interrupts.any();
    let unattended = |what: &str| {
        let hint = format!("run it in a terminal, or add {what}");
        Verdict::Refused(CommandError::new(
            "this plan needs approval, and there is no terminal to ask in",
            hint,
        ))
    };
    // With nothing to do, what is recorded besides is still brought up to date.
    if plan.is_empty() {
        return Verdict::Approved;
    }
    if !matches!(errand.approval, Approval::Given)
        && let Err(unseen) = session.check_shown()
    {
        return Verdict::Refused(unseen);
    }
    match errand.approval {
        Approval::Given => Verdict::Approved,
        Approval::Ask(_) if !session.ui.is_interactive() || errand.json => unattended("--yes"),
        Approval::Ask(question) => match session.ui.ask(question, &interrupted) {
            Answer::Yes => Verdict::Approved,
            Answer::No => Verdict::Declined,
            Answer::Interrupted => Verdict::Refused(CommandError::Interrupted),
        },
        Approval::AskName(_) if !session.ui.is_interactive() || errand.json => {
            unattended(&format!("--yes --confirm {}", workplace.stage.value))
        }
        Approval::AskName(question) => match session.ui.ask_text(question, &interrupted) {
            Some(typed) if typed.trim() == workplace.stage.value => Verdict::Approved,
            Some(_) => Verdict::Declined,
            None => Verdict::Refused(CommandError::Interrupted),
        },
    }
}
