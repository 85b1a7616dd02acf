//! Carrying a plan out, as `deploy`, `destroy`, `dev` and `drift --repair` do: plan, show, ask, run with progress, tell
//! how it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, join, select};
use trueup_core::{Address, escape_line};
use trueup_engine::{Cancellation, DeployOptions, Deployed, Plan, Reconciler, RunReport, SavedPlan};
use trueup_front_end::{BuiltProgram, Purpose};
use trueup_policy::{Judgement, Policies};
use trueup_program::Program;

use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::plan_files::{check_premises, plan_to_save, save};
use crate::policies::{admitted_by, obey, policies_json, undecided_lines, warnings};
use crate::progress::{Mode, Progress, Watcher, planning};
use crate::render::{
    Defaults, PlanView, RunView, Shown, duration, output_lines, plan_json, render_diagnostics, render_plan,
    render_run, run_json,
};
use crate::ui::{Answer, Meaning, Ui, shown_path, width};
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

/// Where a plan comes from, and goes.
#[derive(Clone, Copy)]
pub(crate) enum Course<'a> {
    /// It is made, and carried out.
    Anew,
    /// It is made, and saved in this file.
    Saved(&'a Path),
    /// It was saved before, and is carried out now.
    Following(&'a SavedPlan),
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
    let session = workplace.session;
    let store = workplace.store(if errand.options.dry_run { Access::Read } else { Access::Write }).await?;
    let following = |reconciler: Reconciler| match errand.course {
        Course::Anew => reconciler,
        Course::Saved(_) => reconciler.recording(),
        Course::Following(saved) => reconciler.following(saved),
    };
    let planner = following(workplace.reconciler(store.clone(), trueup_engine::EventSink::new()));
    if let Course::Following(saved) = errand.course {
        planner.check_saved(saved).await?;
    }
    let scope = workplace.scope();
    let (read, built) = {
        // The store reads on its own while the program is built here. What cannot be read is told when it is needed.
        let anew = matches!(errand.course, Course::Anew);
        let reading = async { if anew { store.load(&scope).await.ok() } else { None } };
        let building = workplace.program(errand.purpose, &planner, &errand.options.plan);
        uninterrupted(workplace, join(reading, building)).await?
    };
    let BuiltProgram { mut program, premises, .. } = built?;
    change(&mut program);
    match errand.course {
        Course::Anew => {}
        Course::Saved(path) => {
            let begun = session.clock.now();
            let defaults = Defaults::of(&program, &workplace.registry).await;
            let planning = plan_to_save(workplace, errand, &planner, &program, &premises);
            let saved = uninterrupted(workplace, planning).await??;
            let judged = errand.policies.judge(&saved.plan);
            show(workplace, errand, &saved.plan, &judged, &Showing { program: &program, defaults, begun });
            obey(&judged)?;
            save(workplace, &saved, path).await?;
            let shown = shown_path(path.strip_prefix(&session.folder).unwrap_or(path));
            session.ui.note(&format!("\nSaved. To carry it out: {} deploy {shown}", session.name()));
            return Ok((Exit::Done, Ended::Planned { changes: !saved.plan.is_empty() }));
        }
        Course::Following(saved) => {
            check_premises(workplace, saved, &premises)?;
            obey(&errand.policies.judge(&saved.plan))?;
            workplace.remember()?;
        }
    }
    let mode = mode(errand.json, &session.ui);
    let usual = errand.options.plan.retry.attempts_max;
    let mut progress = Progress::start(&session.ui, mode, &session.clock, usual, attempts(&program));
    let reconciler = admitted_by(&errand.policies, workplace.reconciler(store, progress.sink()));
    let mut reconciler = following(reconciler);
    if let Some(read) = read {
        reconciler = reconciler.having_read(scope, read);
    }
    let cancellation = Cancellation::new();
    let watcher = progress.watcher();
    let handling = handle_interrupts(workplace, &cancellation, &watcher);
    let begun = session.clock.now();
    let showing =
        Showing { program: &program, defaults: Defaults::of(&program, &workplace.registry).await, begun };
    let mut answer = Asked::Approved;
    let mut run_began = begun;
    let mut planning = planning(&session.ui, &session.clock, &workplace.looking);
    let deployed = {
        let mut approve = |plan: &Plan| {
            drop(planning.take());
            let judged = errand.policies.judge(plan);
            show(workplace, errand, plan, &judged, &showing);
            if let Err(denied) = obey(&judged) {
                answer = Asked::Refused(denied);
                return false;
            }
            answer = match asked(workplace, errand, plan) {
                // What a folder is about is remembered once something was done there.
                Asked::Approved => workplace.remember().map_or_else(Asked::Refused, |()| Asked::Approved),
                other => other,
            };
            if matches!(answer, Asked::Approved) {
                if mode == Mode::Live && !plan.is_empty() {
                    session.ui.note("");
                }
                run_began = session.clock.now();
                progress.begin(plan);
            }
            matches!(answer, Asked::Approved)
        };
        let running = async {
            match (errand.purpose, errand.course) {
                (_, Course::Following(saved)) => {
                    let mut begun = |plan: &Plan| {
                        approve(plan);
                    };
                    let deploying =
                        reconciler.deploy_saved(&program, saved, &errand.options, &cancellation, &mut begun);
                    deploying.await.map(|report| Deployed::Ran(Box::new(report)))
                }
                (Purpose::Destroy, _) => {
                    reconciler.destroy_approved(&program, &errand.options, &cancellation, &mut approve).await
                }
                (Purpose::Deploy | Purpose::Validate, _) => {
                    reconciler.deploy_approved(&program, &errand.options, &cancellation, &mut approve).await
                }
            }
        };
        raced(workplace, &cancellation, &watcher, running).await
    };
    drop(planning);
    progress.finish();
    drop(handling);
    let Some(deployed) = deployed else { return Err(CommandError::Interrupted) };
    let deployed = deployed.map_err(|error| CommandError::of_engine(error, &program))?;
    match (deployed, answer) {
        (Deployed::Ran(report), _) => {
            if report.succeeded() {
                workplace.registry.acknowledge();
            }
            let took = session.clock.now().duration_since(run_began).unwrap_or_default();
            let exit = tell(workplace, errand, &report, &program, took);
            Ok((exit, Ended::Ran))
        }
        (Deployed::Planned(_), Asked::Refused(error)) => Err(error),
        (Deployed::Planned(_), Asked::Declined) => {
            session.ui.note("Nothing was changed.");
            Ok((Exit::Done, Ended::Declined))
        }
        (Deployed::Planned(plan), Asked::Approved) => {
            let judged = errand.policies.judge(&plan);
            show(workplace, errand, &plan, &judged, &showing);
            obey(&judged)?;
            Ok((Exit::Done, Ended::Planned { changes: !plan.is_empty() }))
        }
    }
}

/// How the plan was taken.
enum Asked {
    Approved,
    Declined,
    Refused(CommandError),
}

fn mode(json: bool, ui: &Ui) -> Mode {
    match (json, ui.is_live()) {
        (true, _) => Mode::Json,
        (false, true) => Mode::Live,
        (false, false) => Mode::Plain,
    }
}

/// The resources that are tried more or less often than usual.
fn attempts(program: &Program) -> BTreeMap<Address, u32> {
    let own =
        program.resources.iter().filter_map(|it| Some((it.address.clone(), it.options.retry?.attempts_max)));
    own.collect()
}

/// What a plan is shown with.
struct Showing<'a> {
    program: &'a Program,
    defaults: Defaults,
    /// When planning began.
    begun: std::time::SystemTime,
}

/// Tells the plan, and what policies say of it short of objecting.
fn show(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    plan: &Plan,
    judged: &Judgement,
    showing: &Showing<'_>,
) {
    let session = workplace.session;
    if errand.unchanged == Unchanged::Noted && plan.is_empty() {
        session.ui.note("No changes");
        return;
    }
    if errand.json {
        let mut told = plan_json(plan);
        if !errand.policies.is_empty() {
            told["policies"] = policies_json(judged);
        }
        session.ui.json(&told);
        return;
    }
    let took = session.clock.now().duration_since(showing.begun).unwrap_or_default();
    let checked = errand.options.plan.drift && errand.purpose != Purpose::Destroy;
    let header = header(workplace, plan, checked, took);
    let look = session.ui.out();
    let view = PlanView { look, shown: errand.shown };
    let body = match errand.shown {
        Shown::Full => render_plan(plan, view),
        Shown::Changes | Shown::Brief => render_plan(&showing.defaults.left_out_of(plan), view),
    };
    session.ui.data(&format!("{header}\n\n{body}"));
    let mut found = plan.warnings.clone();
    found.extend(warnings(judged));
    if !found.is_empty() {
        session.ui.note(&render_diagnostics(&found, &showing.program.sources, session.ui.err()));
    }
    undecided_lines(judged).iter().for_each(|line| session.ui.note(line));
}

/// The first line: what this is about.
pub(crate) fn header(workplace: &Workplace<'_>, plan: &Plan, checked: bool, took: Duration) -> String {
    let look = workplace.session.ui.out();
    let stack = workplace.stack.value.as_str();
    let rest = [format!("stage {}", workplace.stage.value), escape_line(&workplace.location()).into_owned()];
    let facts = |stack: String, more: &[String]| look.facts(&[&[stack][..], &rest, more].concat());
    let painted = look.paint(Meaning::Strong, stack);
    let looked_at = plan.actions.iter().filter(|it| !it.prior_outputs.is_null() && !it.unreadable).count();
    if !checked || looked_at == 0 {
        return facts(painted, &[]);
    }
    let fact = format!("checked {looked_at} for drift in {}", duration(took));
    match width(&facts(stack.to_owned(), std::slice::from_ref(&fact))) <= look.columns {
        true => facts(painted, &[fact]),
        false => format!("{}\n{fact}", facts(painted, &[])),
    }
}

/// Asks, unless there is nothing to ask.
fn asked(workplace: &Workplace<'_>, errand: &Errand<'_>, plan: &Plan) -> Asked {
    let session = workplace.session;
    let interrupted = || session.interrupts.any();
    let unattended = |what: &str| {
        let hint = format!("run it where there is one, or add {what}");
        Asked::Refused(CommandError::new(
            "someone has to approve this plan, and there is no terminal to ask in",
            hint,
        ))
    };
    // With nothing to do, what is recorded besides is still brought up to date.
    if plan.is_empty() {
        return Asked::Approved;
    }
    if !matches!(errand.approval, Approval::Given)
        && let Err(unseen) = session.check_shown()
    {
        return Asked::Refused(unseen);
    }
    match errand.approval {
        Approval::Given => Asked::Approved,
        Approval::Ask(_) if !session.ui.is_interactive() || errand.json => unattended("--yes"),
        Approval::Ask(question) => match session.ui.ask(question, &interrupted) {
            Answer::Yes => Asked::Approved,
            Answer::No => Asked::Declined,
            Answer::Interrupted => Asked::Refused(CommandError::Interrupted),
        },
        Approval::AskName(_) if !session.ui.is_interactive() || errand.json => {
            unattended(&format!("--yes --confirm {}", workplace.stage.value))
        }
        Approval::AskName(question) => match session.ui.ask_text(question, &interrupted) {
            Some(typed) if typed.trim() == workplace.stage.value => Asked::Approved,
            Some(_) => Asked::Declined,
            None => Asked::Refused(CommandError::Interrupted),
        },
    }
}

/// The outcome of something that changes nothing, unless it is interrupted.
pub(crate) async fn uninterrupted<T>(
    workplace: &Workplace<'_>,
    work: impl Future<Output = T>,
) -> CommandResult<T> {
    let _planning = planning(&workplace.session.ui, &workplace.session.clock, &workplace.looking);
    let first = std::pin::pin!(workplace.session.interrupts.first());
    match select(std::pin::pin!(work), first).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(CommandError::Interrupted),
    }
}

/// The outcome of a run; `None` if it was interrupted before it began. Afterwards the cancellation ends it.
async fn raced<T>(
    workplace: &Workplace<'_>,
    cancellation: &Cancellation,
    watcher: &Watcher,
    run: impl Future<Output = T>,
) -> Option<T> {
    let first = std::pin::pin!(workplace.session.interrupts.first());
    match select(std::pin::pin!(run), first).await {
        Either::Left((done, _)) => Some(done),
        Either::Right((_, run)) if watcher.has_started() => {
            // Who handles interrupts may have looked a moment earlier, when it had not.
            cancellation.finish();
            Some(run.await)
        }
        Either::Right(_) => None,
    }
}

/// Says what an interruption does, and does it (APPLY-11).
fn handle_interrupts<'w>(
    workplace: &'w Workplace<'_>,
    cancellation: &Cancellation,
    watcher: &Watcher,
) -> crate::interrupt::Handling<'w> {
    let (cancellation, watcher, ui) = (cancellation.clone(), watcher.clone(), workplace.session.ui.clone());
    workplace.session.interrupts.handled_by(move |count| {
        if !watcher.has_started() {
            return;
        }
        // First of all, so that nothing begins while what is under way is looked up.
        if count > 1 {
            cancellation.cancel();
        } else {
            cancellation.finish();
        }
        let under_way = watcher.under_way();
        match (count > 1, under_way.len()) {
            (false, 0) => ui.note("Stopping: nothing is under way."),
            (false, many) => {
                let operations =
                    if many == 1 { "1 operation".to_owned() } else { format!("{many} operations") };
                let listed = under_way.join(", ");
                ui.note(&format!("Finishing {operations}: {listed}. Again to stop waiting."));
            }
            (true, _) => {
                ui.note("Stopped waiting. The next run finds out what became of what was under way.");
            }
        }
    })
}

/// Tells how a run ended.
fn tell(
    workplace: &Workplace<'_>,
    errand: &Errand<'_>,
    report: &RunReport,
    program: &Program,
    took: Duration,
) -> Exit {
    let session = workplace.session;
    let interrupted = session.interrupts.any();
    let exit = match (interrupted, report.succeeded()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::Error,
    };
    if errand.unchanged == Unchanged::Noted && report.plan.is_empty() && exit == Exit::Done {
        return exit;
    }
    if errand.json {
        session.ui.json(&run_json(report, took, interrupted));
        return exit;
    }
    let command = if errand.purpose == Purpose::Destroy { "destroy" } else { "deploy" };
    let look = session.ui.err();
    let view = RunView { look, command, took, interrupted, again: &session.typed, program };
    for warning in &report.warnings {
        session.ui.note(&warning.trim_end().replace('\n', "\n  "));
    }
    session.ui.note(&format!("\n{}", render_run(report, &view)));
    if let Some(outputs) = report.outputs.as_ref().filter(|_| command == "deploy") {
        for line in output_lines(outputs, session.ui.out()) {
            session.ui.data(&line);
        }
    }
    exit
}
