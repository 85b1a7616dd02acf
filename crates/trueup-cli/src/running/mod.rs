//! Carrying a plan out, as `deploy`, `destroy`, `dev` and `drift --repair` do.
//!
//! Control flows top down: build the program ([`set_up`]), then either save its plan ([`saving`]) or execute it
//! ([`execution`]): plan, show ([`showing`]), ask ([`approval`]), run with progress until it ends or is interrupted
//! ([`interruption`]), and report ([`report`]). One reconciler does all of it, and what a command looks at first.

mod approval;
mod by_hand;
mod execution;
mod interruption;
mod report;
mod saving;
mod showing;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::join;
use trueup_core::Address;
use trueup_engine::{DeployOptions, EventSink, Plan, Reconciler, RunKind, SavedPlan};
use trueup_front_end::{BuiltProgram, Premises, Purpose};
use trueup_policy::Policies;
use trueup_program::Program;
use trueup_state::Store;

pub(crate) use self::by_hand::by_hand;
use self::execution::Execution;
pub(crate) use self::interruption::uninterrupted;
pub(crate) use self::showing::header;
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::plan_files::check_premises;
use crate::policies::{admitted_by, obey};
use crate::progress::{Mode, Progress, logged};
use crate::render::Shown;
use crate::workplace::{Access, Workplace};

/// What is to be carried out, and how.
pub(crate) struct Errand<'a> {
    /// What the program is for: deploying or destroying.
    pub purpose: Purpose,
    /// What the run is told.
    pub options: DeployOptions,
    /// How its plan is shown.
    pub shown: Shown,
    /// Whether everything is told as JSON.
    pub json: bool,
    /// How it is told that there is nothing to do.
    pub unchanged: Unchanged,
    /// How it is approved.
    pub approval: Approval<'a>,
    /// Where the plan comes from, and goes.
    pub course: Course<'a>,
    /// What its plan must not do.
    pub policies: Arc<Policies>,
}

impl Errand<'_> {
    /// The kind of run that carries it out.
    pub(crate) fn run_kind(&self) -> RunKind {
        match self.purpose {
            Purpose::Destroy => RunKind::Destroy,
            Purpose::Deploy | Purpose::Validate => RunKind::Deploy,
        }
    }
}

/// Where a plan comes from, and goes.
#[derive(Clone, Copy)]
pub(crate) enum Course<'a> {
    /// It is made, and carried out.
    Anew,
    /// It is made, and saved in this file.
    Saved(&'a Path),
    /// It was saved before, in this file, and is carried out now.
    Following(&'a SavedPlan, &'a Path),
}

/// How it is told that there is nothing to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unchanged {
    /// Like any other plan and run.
    Told,
    /// In a word: nobody asked, and it is often the run's own doing that something was looked at again.
    Noted,
}

/// How a plan is approved.
#[derive(Clone, Copy)]
pub(crate) enum Approval<'a> {
    /// It was, beforehand.
    Given,
    /// By answering a question.
    Ask(&'a str),
    /// By typing the name of the stage.
    AskName(&'a str),
}

/// How an errand ended.
pub(crate) enum Ended {
    /// Only the plan was wanted.
    Planned {
        /// Whether it has anything to do.
        changes: bool,
    },
    /// It was not approved.
    Declined,
    /// It ran.
    Ran,
}

/// Carries an errand out and tells how it went.
pub(crate) async fn carry_out(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
) -> CommandResult<(Exit, Ended)> {
    carry_out_changed(workplace, errand, |_| {}).await
}

/// The same, with something added to the program.
pub(crate) async fn carry_out_changed(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    change: impl FnOnce(&mut Program),
) -> CommandResult<(Exit, Ended)> {
    let store = workplace.store(if errand.options.dry_run { Access::Read } else { Access::Write }).await?;
    if errand.purpose == Purpose::Destroy {
        workplace.check_stage(&*store).await?;
    }
    let mut setup = set_up(workplace, errand, store).await?;
    change(&mut setup.program);
    setup.carry_out(workplace, errand).await
}

/// Everything that an errand is carried out with.
pub(crate) struct Setup {
    /// Plans and executes.
    pub reconciler: Reconciler,
    /// The program.
    pub program: Program,
    premises: Premises,
    progress: Progress,
}

/// Makes the reconciler and builds the program.
pub(crate) async fn set_up(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    store: Arc<dyn Store>,
) -> CommandResult<Setup> {
    let session = workplace.session;
    let mode = Mode::of(&session.ui, errand.json);
    let attempts_usual = errand.options.plan.retry.policy().attempts_max;
    let progress = Progress::start(&session.ui, mode, &session.clock, attempts_usual);
    let carries_out = !errand.options.dry_run && !matches!(errand.course, Course::Saved(_));
    let sink = if carries_out { progress.sink() } else { logged() };
    let reconciler = reconciler(workplace, errand, store.clone(), sink);
    if let Course::Following(saved, _) = errand.course {
        reconciler.check_saved(saved).await?;
    }
    let BuiltProgram { program, premises, .. } = build(workplace, errand, &*store, &reconciler).await?;
    Ok(Setup { reconciler, program, premises, progress })
}

impl Setup {
    /// Carries the errand out and reports how it went.
    pub(crate) async fn carry_out(
        self,
        workplace: &Workplace<'_>,
        errand: &Errand<'_>,
    ) -> CommandResult<(Exit, Ended)> {
        let Setup { reconciler, program, premises, mut progress } = self;
        match errand.course {
            Course::Anew => {}
            Course::Saved(path) => {
                return saving::plan_and_save(workplace, errand, &reconciler, &program, &premises, path)
                    .await;
            }
            Course::Following(saved, _) => {
                check_premises(workplace, saved, &premises)?;
                obey(&errand.policies.judge(&saved.plan))?;
                workplace.remember_stack()?;
            }
        }
        progress.expect_attempts(attempts(&program));
        Execution { workplace, errand, program: &program, reconciler: &reconciler }.run(progress).await
    }
}

/// The reconciler that plans and executes.
fn reconciler(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    store: Arc<dyn Store>,
    sink: EventSink,
) -> Reconciler {
    let remember = workplace.stage_memory();
    let reconciler = workplace.reconciler(store, sink).on_start(move |plan: &Plan| {
        // In time for whoever has to run again after a crash.
        if !plan.is_empty() {
            remember();
        }
    });
    let reconciler = admitted_by(&errand.policies, reconciler);
    match errand.course {
        Course::Anew => reconciler,
        Course::Saved(_) => reconciler.recording(),
        Course::Following(saved, _) => reconciler.following(saved),
    }
}

/// Builds the program. Meanwhile the store reads the records for the plan.
async fn build(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    store: &dyn Store,
    reconciler: &Reconciler,
) -> CommandResult<BuiltProgram> {
    let scope = workplace.scope();
    let anew = matches!(errand.course, Course::Anew);
    // Records that cannot be read are reported when the plan needs them.
    let reading = async { if anew { store.load(&scope).await.ok() } else { None } };
    let building = workplace.program(errand.purpose, reconciler, &errand.options.plan);
    let (read, built) = uninterrupted(workplace, join(reading, building)).await?;
    // After all previews of the build: these read what is recorded by then.
    if let Some(snapshot) = read {
        reconciler.read_ahead(scope.clone(), snapshot);
    }
    built
}

/// The resources that are tried more or less often than usual.
fn attempts(program: &Program) -> BTreeMap<Address, u32> {
    let own = program.resources.iter().filter_map(|declared| {
        let of_type = program.type_retries.get(declared.address.type_name());
        let settings = declared.options.retry.or(of_type.copied().unwrap_or_default());
        Some((declared.address.clone(), settings.attempts_max?))
    });
    own.collect()
}
