//! `show`: what is known of a resource, or what a plan file says.

use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use trueup_core::{Address, AddressRange, SourceMap, escape_line};
use trueup_engine::{PlanHeader, SavedPlan};
use trueup_state::{Record, Snapshot};

use crate::arguments::{StageArgs, ViewArgs};
use crate::completion;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::plan_files::PlanFile;
use crate::render::{
    Defaults, PlanView, date, natural, plan_json, plan_markdown, record_json, record_lines,
    render_diagnostics, render_plan,
};
use crate::session::Session;
use crate::ui::Meaning;
use crate::workplace::{Access, Workplace};

/// Show what is recorded of a resource (inputs, outputs, what it depends on and what needs it), or a saved plan
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup show std_file.index\n  trueup show module.net --json\n  \
                  trueup show prod.plan --markdown")]
pub(crate) struct ShowArgs {
    /// A resource, all instances of one, a module, or a file that `plan --out` wrote
    #[arg(value_name = "ADDRESS|FILE", add = ArgValueCompleter::new(completion::addresses))]
    what: String,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    view: ViewArgs,
    /// For pull requests: a saved plan as Markdown
    #[arg(long, conflicts_with_all = ["json", "full"])]
    markdown: bool,
}

pub(super) async fn run(session: &Session<'_>, args: &ShowArgs) -> CommandResult {
    let path = session.folder.join(&args.what);
    let address = match args.what.parse::<AddressRange>() {
        // A file may have the name of a resource; it is meant if it is a plan.
        Ok(address) if !PlanFile::is_one(&path) => address,
        Err(error) if !path.exists() => {
            let summary = format!("`{}` is neither an address nor a file: {error}", args.what);
            return Err(CommandError::new(summary, "name a resource like `std_file.index`, or a plan file"));
        }
        _ => return show_plan(session, args, &path).await,
    };
    if args.markdown {
        return Err(CommandError::new(
            "only a saved plan is shown as Markdown",
            "name a file that `trueup plan --out FILE` wrote",
        ));
    }
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let snapshot = workplace.recorded(Access::Look).await?;
    let records = covered(&snapshot, &address, session.name())?;
    if args.view.json {
        let records: Vec<_> = records.iter().map(|record| record_json(record)).collect();
        session.ui.json(&json!({ "version": 2, "kind": "records", "records": records }));
        return Ok(Exit::Done);
    }
    for (at, record) in records.iter().enumerate() {
        if at > 0 {
            session.ui.data("");
        }
        session.ui.data(
            &record_lines(record, &dependents(&snapshot, &record.address), session.ui.out()).join("\n"),
        );
    }
    Ok(Exit::Done)
}

/// Tells what a plan file says: what `plan` said when it wrote it.
async fn show_plan(session: &Session<'_>, args: &ShowArgs, path: &Path) -> CommandResult {
    let file = PlanFile::read(path)?;
    let workplace = Workplace::load(session, Some(&file.header.stage))?;
    let SavedPlan { plan, made_at, .. } = file.look(&workplace).await?;
    let defaults = Defaults::of_plan(&plan, &workplace.registry).await;
    if args.view.json {
        session.ui.json(&plan_json(&plan, &SourceMap::new()));
        return Ok(Exit::Done);
    }
    if args.markdown {
        session.ui.data(plan_markdown(&defaults.left_out_of(&plan)).trim_end());
        return Ok(Exit::Done);
    }
    let look = session.ui.out();
    let view = PlanView::new(look, super::shown(args.view));
    let body = match view.shown.unchanged {
        true => render_plan(&plan, view),
        false => render_plan(&defaults.left_out_of(&plan), view),
    };
    let PlanHeader { stack, stage, store, .. } = &file.header;
    let facts = [
        look.paint(Meaning::Strong, stack),
        format!("stage {}", escape_line(stage)),
        escape_line(store).into_owned(),
        format!("planned {}", date(made_at)),
    ];
    session.ui.data(&format!("{}\n\n{body}", look.facts(&facts)));
    if !plan.warnings.is_empty() {
        session.ui.note(&render_diagnostics(&plan.warnings, &SourceMap::new(), session.ui.err()));
    }
    Ok(Exit::Done)
}

/// The records of a range, in natural order; fails if there are none.
pub(super) fn covered<'s>(
    snapshot: &'s Snapshot,
    range: &AddressRange,
    name: &str,
) -> CommandResult<Vec<&'s Record>> {
    let records = snapshot.records.iter().map(|(record, _)| &**record);
    let mut found: Vec<&Record> = records.filter(|record| range.covers(&record.address)).collect();
    if found.is_empty() {
        let known: Vec<String> =
            snapshot.records.iter().map(|(record, _)| record.address.to_string()).collect();
        let hint = match trueup_core::nearest(&range.to_string(), known.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("`{name} state list` tells what is recorded"),
        };
        return Err(CommandError::new(format!("nothing is recorded of {range}"), hint));
    }
    natural::sort_by_address(&mut found, |it| &it.address);
    Ok(found)
}

/// Who needs a resource, by what is recorded.
pub(super) fn dependents<'s>(snapshot: &'s Snapshot, address: &Address) -> Vec<&'s Address> {
    let records = snapshot.records.iter().map(|(record, _)| &**record);
    let mut found: Vec<&Address> = records
        .filter(|record| record.meta.dependencies.contains(address))
        .map(|record| &record.address)
        .collect();
    natural::sort_by_address(&mut found, |it| it);
    found
}
