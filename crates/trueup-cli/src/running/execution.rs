//! Planning, approving and executing.

use std::time::SystemTime;

use trueup_engine::{Cancellation, Deployed, EngineError, Plan, Reconciler};
use trueup_front_end::Purpose;
use trueup_program::Program;

use super::approval::{Verdict, ask};
use super::interruption::{handle_interrupts, raced};
use super::report::report;
use super::showing::{Showing, show};
use super::{Course, Ended, Errand};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::policies::obey;
use crate::progress::{Mode, Progress, Waiting, planning};
use crate::render::Defaults;
use crate::workplace::Workplace;

/// A program that is about to be carried out.
pub(super) struct Execution<'a> {
    pub(super) workplace: &'a Workplace<'a>,
    pub(super) errand: &'a Errand<'a>,
    pub(super) program: &'a Program,
    pub(super) reconciler: &'a Reconciler,
}

impl Execution<'_> {
    /// Plans, asks, runs and reports.
    pub(super) async fn run(&self, progress: Progress) -> CommandResult<(Exit, Ended)> {
        let Execution { workplace, program, .. } = *self;
        let session = workplace.session;
        let cancellation = Cancellation::new();
        let watcher = progress.watcher();
        let handling = handle_interrupts(workplace, &cancellation, &watcher);
        let begun = session.clock.now();
        let defaults = Defaults::of(program, &workplace.registry).await;
        let mut approver = Approver {
            execution: self,
            showing: Showing { program, defaults, begun },
            planning: planning(&session.ui, &session.clock, &workplace.looking),
            progress,
            verdict: Verdict::Approved,
            run_began: begun,
        };
        let running = self.reconcile(&cancellation, &mut approver);
        let deployed = raced(workplace, &cancellation, &watcher, running).await;
        let Approver { showing, planning, progress, verdict, run_began, .. } = approver;
        drop(planning);
        progress.finish();
        drop(handling);
        let Some(deployed) = deployed else { return Err(CommandError::Interrupted) };
        let deployed = deployed.map_err(|error| CommandError::of_engine(error, program))?;
        self.conclude(deployed, verdict, &showing, run_began)
    }

    async fn reconcile(
        &self,
        cancellation: &Cancellation,
        approver: &mut Approver<'_>,
    ) -> Result<Deployed, EngineError> {
        let Execution { errand, program, reconciler, .. } = *self;
        let options = &errand.options;
        match (errand.purpose, errand.course) {
            (_, Course::Following(saved, _)) => {
                let mut begun = |plan: &Plan| {
                    approver.approves(plan);
                };
                let deploying = reconciler.deploy_saved(program, saved, options, cancellation, &mut begun);
                deploying.await.map(|report| Deployed::Ran(Box::new(report)))
            }
            (Purpose::Destroy, _) => {
                let mut approve = |plan: &Plan| approver.approves(plan);
                reconciler.destroy_approved(program, options, cancellation, &mut approve).await
            }
            (Purpose::Deploy | Purpose::Validate, _) => {
                let mut approve = |plan: &Plan| approver.approves(plan);
                reconciler.deploy_approved(program, options, cancellation, &mut approve).await
            }
        }
    }

    fn conclude(
        &self,
        deployed: Deployed,
        verdict: Verdict,
        showing: &Showing<'_>,
        run_began: SystemTime,
    ) -> CommandResult<(Exit, Ended)> {
        let Execution { workplace, errand, program, .. } = *self;
        let session = workplace.session;
        match (deployed, verdict) {
            (Deployed::Ran(run), _) => {
                if run.succeeded() {
                    workplace.registry.acknowledge();
                    if errand.purpose != Purpose::Destroy {
                        workplace.remember_stage();
                    }
                }
                let took = session.clock.now().duration_since(run_began).unwrap_or_default();
                Ok((report(workplace, errand, &run, program, took), Ended::Ran))
            }
            (Deployed::Planned(_), Verdict::Refused(error)) => Err(error),
            (Deployed::Planned(_), Verdict::Declined) => {
                session.ui.note("Nothing was changed.");
                Ok((Exit::Done, Ended::Declined))
            }
            (Deployed::Planned(plan), Verdict::Approved) => {
                let judged = errand.policies.judge(&plan);
                show(workplace, errand, &plan, &judged, showing);
                obey(&judged)?;
                Ok((Exit::Done, Ended::Planned { changes: !plan.is_empty() }))
            }
        }
    }
}

/// Shows the plan and has it approved, then begins to show the run.
struct Approver<'a> {
    execution: &'a Execution<'a>,
    showing: Showing<'a>,
    /// The note that a plan is being made, until it is.
    planning: Option<Waiting>,
    progress: Progress,
    verdict: Verdict,
    run_began: SystemTime,
}

impl Approver<'_> {
    fn approves(&mut self, plan: &Plan) -> bool {
        let Execution { workplace, errand, .. } = *self.execution;
        drop(self.planning.take());
        let judged = errand.policies.judge(plan);
        show(workplace, errand, plan, &judged, &self.showing);
        self.verdict = match obey(&judged) {
            Err(denied) => Verdict::Refused(denied),
            Ok(()) => match ask(workplace, errand, plan) {
                // The folder remembers the stack once a plan was approved there, the stage once something is recorded.
                Verdict::Approved => {
                    workplace.remember_stack().map_or_else(Verdict::Refused, |()| Verdict::Approved)
                }
                other => other,
            },
        };
        let approved = matches!(self.verdict, Verdict::Approved);
        if approved {
            let session = workplace.session;
            if self.progress.mode() == Mode::Live && !plan.is_empty() {
                session.ui.note("");
            }
            self.run_began = session.clock.now();
            self.progress.begin(plan);
        }
        approved
    }
}
