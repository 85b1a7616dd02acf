//! The stages of a stack: those that its store keeps anything of. Commands about what is recorded refuse any other, so
//! that a slip of the pen is no stage that happens to be empty.

use std::sync::Arc;

use smol_str::SmolStr;
use trueup_core::{Diagnostic, nearest};
use trueup_state::{Snapshot, Store};

use crate::failure::CommandResult;
use crate::render::natural;
use crate::settings::Source;
use crate::workplace::{Access, Workplace};

/// How many stages an error lists.
const LISTED_MAX: usize = 10;

impl Workplace<'_> {
    /// The stages of the stack that this store keeps anything of, in natural order.
    pub(crate) async fn stages(&self, store: &dyn Store) -> CommandResult<Vec<SmolStr>> {
        let mut scopes = store.scopes().await?;
        scopes.retain(|scope| scope.stack == self.stack.value);
        let mut stages: Vec<SmolStr> = scopes.into_iter().map(|scope| scope.stage).collect();
        stages.sort_by(|left, right| natural::compare(left, right));
        Ok(stages)
    }

    /// Opens the store for a command about what is recorded in the stage.
    pub(crate) async fn recorded_store(&self, access: Access) -> CommandResult<Arc<dyn Store>> {
        let store = self.store(access).await?;
        self.check_stage(&*store).await?;
        Ok(store)
    }

    /// What is recorded in the stage.
    pub(crate) async fn recorded(&self, access: Access) -> CommandResult<Snapshot> {
        Ok(self.recorded_store(access).await?.load(&self.scope()).await?)
    }

    /// Fails if the store keeps nothing of the stage (STATE-20). Where it keeps nothing of the stack at all, a stage that
    /// nobody named is simply empty.
    pub(crate) async fn check_stage(&self, store: &dyn Store) -> CommandResult<()> {
        // Most stages have records, and looking through the others may take many requests.
        if !store.versions(&self.scope()).await?.is_empty() {
            return Ok(());
        }
        let stages = self.stages(store).await?;
        let is_named = matches!(self.stage.from, Source::Flag(_) | Source::Environment(_));
        if stages.contains(&self.stage.value) || (stages.is_empty() && !is_named) {
            return Ok(());
        }
        Err(self.unknown_stage(&stages).into())
    }

    /// The error for a stage that is not one of these.
    pub(crate) fn unknown_stage(&self, stages: &[SmolStr]) -> Diagnostic {
        let (stack, stage) = (&self.stack.value, &self.stage.value);
        let error = Diagnostic::error(format!("{stack} has no stage `{stage}` in {}", self.location()));
        if stages.is_empty() {
            return error.hint("nothing is recorded in it yet: `trueup deploy` creates a stage");
        }
        let error = match nearest(stage, stages.iter().map(SmolStr::as_str)) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        };
        let mut listed: Vec<String> = stages.iter().take(LISTED_MAX).map(|it| format!("`{it}`")).collect();
        if stages.len() > LISTED_MAX {
            listed.push(format!("{} more (`trueup stage list`)", stages.len() - LISTED_MAX));
        }
        let error = error.hint(format!("it has {}", listed.join(", ")));
        match self.stage.from {
            Source::Flag(_) => error,
            ref from => error.hint(format!("`{stage}` is from: {from}")),
        }
    }
}
