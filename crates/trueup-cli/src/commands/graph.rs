//! `graph`: what depends on what.

use clap::{Args, ValueEnum};
use trueup_engine::EventSink;
use trueup_front_end::Purpose;

use super::plan_options;
use crate::arguments::{PlanArgs, StageArgs, VariableArgs};
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::graph::{DependencyGraph, dot, json, mermaid, svg};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Draw what depends on what
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup graph --format svg > stack.svg\n  trueup graph | dot -Tpng > stack.png"
)]
pub(crate) struct GraphArgs {
    /// The form of the picture
    #[arg(long, value_enum, default_value = "dot")]
    format: Format,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    /// For machines: JSON on standard output
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The form of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Format {
    /// For Graphviz
    Dot,
    /// For Markdown and wikis
    Mermaid,
    /// A picture on its own
    Svg,
}

pub(super) async fn run(session: &Session<'_>, args: &GraphArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let options = plan_options(&workplace, &PlanArgs::default())?;
    let reconciler = workplace.reconciler(workplace.store(Access::Read).await?, EventSink::new());
    let program = workplace.program(Purpose::Deploy, &reconciler, &options).await?.program;
    let graph = DependencyGraph::of(&program);
    match (args.json, args.format) {
        (true, _) => session.ui.json(&json(&graph)),
        (false, Format::Dot) => session.ui.data(&dot(&graph)),
        (false, Format::Mermaid) => session.ui.data(&mermaid(&graph)),
        (false, Format::Svg) => session.ui.data(&svg(&graph)),
    }
    Ok(Exit::Done)
}
