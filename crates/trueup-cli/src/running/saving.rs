//! Saving a plan in a file, to be carried out later.

use std::path::Path;

use trueup_engine::Reconciler;
use trueup_front_end::Premises;
use trueup_program::Program;

use super::showing::{Showing, show};
use super::{Ended, Errand, uninterrupted};
use crate::advised::deploy_saved;
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::plan_files::{plan_to_save, save};
use crate::policies::obey;
use crate::render::Defaults;
use crate::workplace::Workplace;

/// Plans, shows the plan and saves it in this file.
pub(super) async fn plan_and_save(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    reconciler: &Reconciler,
    program: &Program,
    premises: &Premises,
    path: &Path,
) -> CommandResult<(Exit, Ended)> {
    let session = workplace.session;
    let begun = session.clock.now();
    let defaults = Defaults::of(program, &workplace.registry).await;
    let planning = plan_to_save(workplace, errand, reconciler, program, premises);
    let saved = uninterrupted(workplace, planning).await??;
    let judged = errand.policies.judge(&saved.plan);
    show(workplace, errand, &saved.plan, &judged, &Showing { program, defaults, begun });
    obey(&judged)?;
    save(workplace, &saved, path).await?;
    session.ui.note(&format!("\nSaved. To carry it out: {}", deploy_saved(session, path)));
    Ok((Exit::Done, Ended::Planned { changes: !saved.plan.is_empty() }))
}
