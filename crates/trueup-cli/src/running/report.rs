//! Reporting how a run ended.

use std::time::Duration;

use trueup_engine::RunReport;
use trueup_program::Program;

use super::{Course, Errand, Unchanged};
use crate::advised::plan_again;
use crate::exit::Exit;
use crate::render::{Next, RunView, output_lines, render_run, run_json, warnings};
use crate::workplace::Workplace;

/// Reports how a run ended.
pub(super) fn report(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    run: &RunReport,
    program: &Program,
    took: Duration,
) -> Exit {
    let session = workplace.session;
    let interrupted = session.interrupts.any();
    let exit = match (interrupted, run.succeeded()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::Error,
    };
    if errand.unchanged == Unchanged::Noted && run.plan.is_empty() && exit == Exit::Done {
        return exit;
    }
    let kind = errand.run_kind();
    let look = session.ui.err();
    let next = match errand.course {
        Course::Following(saved, path) => Next::Plan(plan_again(session, saved, path)),
        Course::Anew | Course::Saved(_) => Next::Run(session.typed.clone()),
    };
    let view = RunView { look, kind, took, interrupted, name: session.name(), next: &next, program };
    if errand.json {
        session.ui.json(&run_json(run, &view));
        return exit;
    }
    for warning in warnings(run) {
        session.ui.note(&warning.trim_end().replace('\n', "\n  "));
    }
    session.ui.note(&format!("\n{}", render_run(run, &view)));
    if let Some(outputs) = run.outputs.as_ref().filter(|_| !kind.is_destroy()) {
        for line in output_lines(outputs, session.ui.out()) {
            session.ui.data(&line);
        }
    }
    exit
}
