//! The question before a change that has no plan to be shown.

use crate::failure::{CommandError, CommandResult};
use crate::session::Session;
use crate::ui::Answer;

impl Session<'_> {
    /// Whether a person wants this. Machines say `--yes`: they are never asked.
    pub(crate) fn approved(&self, question: &str, yes: bool, json: bool) -> CommandResult<bool> {
        if yes {
            return Ok(true);
        }
        if !self.ui.is_interactive() || json {
            let summary = "this needs approval, and there is no terminal to ask in";
            return Err(CommandError::new(summary, "add --yes"));
        }
        self.check_shown()?;
        match self.ui.ask(question, &|| self.interrupts.any()) {
            Answer::Yes => Ok(true),
            Answer::No => {
                self.ui.note("Nothing was changed.");
                Ok(false)
            }
            Answer::Interrupted => Err(CommandError::Interrupted),
        }
    }

    /// Refuses to ask about something that could not be shown.
    pub(crate) fn check_shown(&self) -> CommandResult<()> {
        match self.ui.undelivered() {
            None => Ok(()),
            Some(_) => {
                Err(CommandError::plain("nobody can approve what could not be shown; nothing was changed"))
            }
        }
    }
}
