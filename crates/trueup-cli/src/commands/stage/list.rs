//! `stage list`: the stages that the store keeps anything of.

use std::time::SystemTime;

use clap::Args;
use serde_json::json;
use smol_str::SmolStr;
use trueup_core::escape_line;
use trueup_state::{HeldLease, Scope, Store};

use crate::arguments::JsonArgs;
use crate::commands::history::{RunFacts, facts};
use crate::exit::Exit;
use crate::failure::CommandResult;
use crate::render::{counted, date, milliseconds};
use crate::session::Session;
use crate::ui::{padded, width};
use crate::workplace::{Access, Workplace};

/// List the stages of this stack, with their resources, last run and current holder
///
/// The one that commands work on unless --stage names another is marked with `*`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup stage list\n  trueup stage list --json")]
pub(super) struct ListArgs {
    #[command(flatten)]
    json: JsonArgs,
}

/// A stage as it is listed.
struct Stage {
    name: SmolStr,
    is_current: bool,
    records: usize,
    last_run: Option<LastRun>,
    held: Option<HeldLease>,
}

struct LastRun {
    run: String,
    started: SystemTime,
    facts: RunFacts,
}

pub(super) async fn run(session: &Session<'_>, args: &ListArgs) -> CommandResult {
    let workplace = Workplace::load_with_any_stage(session)?;
    workplace.check_something()?;
    let store = workplace.bare_store(Access::Look).await?;
    let mut stages = Vec::new();
    for name in workplace.stages(&*store).await? {
        stages.push(looked_up(&workplace, &*store, name).await?);
    }
    if args.json.json {
        let stages: Vec<_> = stages.iter().map(as_json).collect();
        let stack = &workplace.stack.value;
        session.ui.json(&json!({ "version": 1, "kind": "stages", "stack": stack, "stages": stages }));
        return Ok(Exit::Done);
    }
    if stages.is_empty() {
        let (stack, location) = (&workplace.stack.value, workplace.location());
        session.ui.note(&format!("{stack} has no stages in {location} yet."));
    }
    let column = stages.iter().map(|stage| width(&stage.name)).max().unwrap_or(0);
    stages.iter().for_each(|stage| session.ui.data(&line(stage, column)));
    Ok(Exit::Done)
}

async fn looked_up(workplace: &Workplace<'_>, store: &dyn Store, name: SmolStr) -> CommandResult<Stage> {
    let scope = Scope::new(workplace.stack.value.clone(), name.clone());
    let last_run = match store.runs(&scope).await?.into_iter().next() {
        None => None,
        Some(run) => {
            let facts = facts(&store.history(&scope, &run.run).await?);
            Some(LastRun { started: run.started, run: run.run, facts })
        }
    };
    Ok(Stage {
        is_current: name == workplace.stage.value,
        records: store.versions(&scope).await?.len(),
        last_run,
        held: store.held(&scope).await?,
        name,
    })
}

fn line(stage: &Stage, column: usize) -> String {
    let mark = if stage.is_current { "*" } else { " " };
    let records = counted(stage.records, "resource");
    let run = match &stage.last_run {
        Some(LastRun { started, facts, .. }) => {
            format!("{} {}, {}", facts.reason, date(*started), facts.ended)
        }
        None => "no run".to_owned(),
    };
    let run = escape_line(&run);
    let mut line = format!("{mark} {}  {records:<14}  {run}", padded(&stage.name, column));
    if let Some(held) = &stage.held {
        let held = match held.moved_to() {
            Some(place) => format!("moved to {place}"),
            None => format!("held by {}", held.holder),
        };
        line.push_str(&format!("\n  {}  {}", padded("", column), escape_line(&held)));
    }
    line
}

fn as_json(stage: &Stage) -> serde_json::Value {
    let last_run = stage.last_run.as_ref().map(|LastRun { run, started, facts }| {
        json!({
            "run": run, "started": date(*started), "started_ms": milliseconds(*started), "reason": facts.reason,
            "outcome": facts.outcome, "ended": facts.ended,
        })
    });
    let moved_to = stage.held.as_ref().and_then(HeldLease::moved_to);
    let holder = stage.held.as_ref().filter(|_| moved_to.is_none()).map(|held| &held.holder);
    json!({
        "stage": stage.name, "current": stage.is_current, "records": stage.records, "last_run": last_run,
        "holder": holder, "moved_to": moved_to,
    })
}

#[cfg(test)]
mod tests {
    use trueup_state::{FencingToken, Holder};

    use super::*;

    /// STATE-19: whoever holds a stage chooses what their name is, and not how many stages are listed.
    #[test]
    fn the_name_of_a_holder_stays_on_its_line() {
        let holder = Holder {
            run: "r".to_owned(),
            user: "eve\n* prod".to_owned(),
            host: "h".to_owned(),
            reason: "deploy".to_owned(),
        };
        let at = SystemTime::UNIX_EPOCH;
        let held = Some(HeldLease { holder, token: FencingToken(1), since: at, expires: at });
        let stage = Stage { name: "dev".into(), is_current: false, records: 0, last_run: None, held };
        let told = line(&stage, 3);
        assert!(told.lines().count() == 2 && told.contains("held by eve\\n* prod@h"), "{told}");
    }
}
