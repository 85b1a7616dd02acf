//! The commands, a file each: an args struct whose documentation is the help, and what it does.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod console;
pub(crate) mod deploy;
pub(crate) mod destroy;
pub(crate) mod dev;
pub(crate) mod drift;
#[cfg(feature = "terraform")]
pub(crate) mod export_state;
pub(crate) mod fmt;
pub(crate) mod graph;
pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod import;
#[cfg(feature = "terraform")]
pub(crate) mod import_state;
pub(crate) mod init;
pub(crate) mod key;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod output;
pub(crate) mod plan;
#[cfg(feature = "terraform")]
pub(crate) mod providers;
pub(crate) mod reference;
pub(crate) mod schema;
pub(crate) mod show;
pub(crate) mod stage;
pub(crate) mod state;
pub(crate) mod unlock;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod why;

use trueup_engine::{DeployOptions, PlanOptions};

use crate::arguments::{Command, PlanArgs, RunArgs, ViewArgs};
use crate::failure::{CommandError, CommandResult};
use crate::render::Shown;
use crate::session::Session;
use crate::settings;
use crate::workplace::Workplace;

/// Does what was asked.
pub(crate) async fn run(session: &Session<'_>, command: &Command) -> CommandResult {
    match command {
        Command::Init(args) => init::run(session, args).await,
        Command::New(args) => new::run(session, args),
        #[cfg(feature = "terraform")]
        Command::Providers(args) => providers::run(session, args).await,
        Command::Validate(args) => validate::run(session, args).await,
        Command::Fmt(args) => fmt::run(session, args),
        Command::Console(args) => console::run(session, args).await,
        Command::Plan(args) => plan::run(session, args).await,
        Command::Deploy(args) => deploy::run(session, args).await,
        Command::Destroy(args) => destroy::run(session, args).await,
        Command::Dev(args) => dev::run(session, args).await,
        Command::Drift(args) => drift::run(session, args).await,
        Command::Import(args) => import::run(session, args).await,
        #[cfg(feature = "terraform")]
        Command::ImportState(args) => import_state::run(session, args).await,
        #[cfg(feature = "terraform")]
        Command::ExportState(args) => export_state::run(session, args).await,
        Command::Output(args) => output::run(session, args).await,
        Command::Show(args) => show::run(session, args).await,
        Command::Why(args) => why::run(session, args).await,
        Command::Stage(args) => stage::run(session, args).await,
        Command::State(args) => state::run(session, args).await,
        Command::Key(args) => key::run(session, args),
        Command::History(args) => history::run(session, args).await,
        Command::Graph(args) => graph::run(session, args).await,
        Command::Schema(args) => schema::run(session, args).await,
        Command::Unlock(args) => unlock::run(session, args).await,
        Command::Config(args) => config::run(session, args),
        Command::Completions(args) => completions::run(session, args),
        Command::Man(args) => man::run(session, args),
        Command::Reference(args) => reference::run(session, args).await,
        Command::Help(args) => Ok(help::run(session, args)),
        Command::Version(args) => version::run(session, args),
    }
}

/// What planning is told.
fn plan_options(workplace: &Workplace<'_>, args: &PlanArgs) -> CommandResult<PlanOptions> {
    let defaults = PlanOptions::new(workplace.stage.value.clone());
    let parallelism = settings::parallelism(
        args.parallelism,
        &workplace.session.environment,
        &workplace.loaded.settings,
        workplace.user,
        defaults.parallelism,
    );
    let parallelism =
        parallelism.map_err(|wrong| CommandError::new(wrong, "set it to a number such as 10"))?;
    Ok(PlanOptions {
        drift: !args.no_drift,
        force: args.force,
        adopt: args.adopt,
        targets: args.target.clone(),
        excludes: args.exclude.clone(),
        replace: args.replace.clone(),
        parallelism: parallelism.value,
        retry: args.retry.unwrap_or_default().or(workplace.loaded.settings.retry),
        timeout: workplace.loaded.settings.timeout.unwrap_or(defaults.timeout),
        ..defaults
    })
}

/// What a run is told.
fn deploy_options(
    workplace: &Workplace<'_>,
    plan: &PlanArgs,
    run: &RunArgs,
    dry_run: bool,
) -> CommandResult<DeployOptions> {
    Ok(DeployOptions {
        plan: plan_options(workplace, plan)?,
        dry_run,
        fail_fast: run.fail_fast,
        holder: workplace.session.holder(),
        origin: workplace.session.run_origin(),
        wait: !run.no_wait,
        ..DeployOptions::new(workplace.stage.value.clone())
    })
}

/// A plan file is carried out without a question, and the destruction of a protected stage asks one.
fn refuse_protected(workplace: &Workplace<'_>) -> CommandResult<()> {
    let stage = &workplace.stage.value;
    match workplace.loaded.settings.protected_stages.contains(stage) {
        true => Err(CommandError::new(
            format!("stage {stage} is protected: its destruction is not saved for later"),
            format!("use `trueup destroy --stage {stage}`, which asks for its name"),
        )),
        false => Ok(()),
    }
}

/// How much of a plan is shown.
fn shown(view: ViewArgs) -> Shown {
    Shown { unchanged: view.unchanged, whole: view.full, ..Shown::CHANGES }
}
