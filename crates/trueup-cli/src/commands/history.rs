//! `history`: who ran what, when.

use clap::Args;
use serde_json::{Value as Json, json};
use trueup_core::escape_line;
use trueup_state::{HistoryLine, RunSummary};

use crate::arguments::{JsonArgs, StageArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::render::{clock, counted, date, milliseconds, short};
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// List the runs of a stage, or what happened in one
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  trueup history\n  trueup history 7d1f0c\n  trueup history --prune 50")]
pub(crate) struct HistoryArgs {
    /// The run, or how its id begins
    run: Option<String>,
    #[command(flatten)]
    stage: StageArgs,
    /// How many runs to list
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    last: usize,
    /// Forget all but the newest runs
    #[arg(long, value_name = "COUNT", conflicts_with = "run")]
    prune: Option<usize>,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &HistoryArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    let store = workplace.recorded_store(Access::Look).await?;
    let scope = workplace.scope();
    if let Some(keep) = args.prune {
        store.prune(&scope, keep).await?;
        session.ui.note(&format!("All but the newest {keep} runs are forgotten."));
        if !args.json.json {
            return Ok(Exit::Done);
        }
    }
    let runs = store.runs(&scope).await?;
    if let Some(begun) = &args.run {
        let run = chosen(&runs, begun)?;
        let lines = store.history(&scope, &run.run).await?;
        if !args.json.json {
            facts(&lines).told_origin().iter().for_each(|line| session.ui.data(line));
        }
        lines.iter().for_each(|line| tell_line(session, args, line));
        return Ok(Exit::Done);
    }
    let mut listed = Vec::new();
    for run in runs.iter().take(args.last) {
        let lines = store.history(&scope, &run.run).await?;
        let facts = facts(&lines);
        if !args.json.json {
            let short = short(&run.run);
            let reason = escape_line(&facts.reason);
            session.ui.data(&format!("{short}  {}  {reason:<8} {}", date(run.started), facts.ended));
            facts.told_origin().iter().for_each(|line| session.ui.data(&format!("              {line}")));
        }
        listed.push(json!({
            "run": run.run, "started": date(run.started), "started_ms": milliseconds(run.started),
            "reason": facts.reason, "outcome": facts.outcome, "ended": facts.ended, "operations": facts.operations,
            "user": facts.origin["user"], "host": facts.origin["host"], "command": facts.origin["command"],
            "ci": facts.origin["ci"],
        }));
    }
    if args.json.json {
        session.ui.json(&json!({ "version": 1, "kind": "history", "runs": listed }));
    } else if runs.is_empty() {
        session.ui.note(&format!("There were no runs in stage {}.", workplace.stage.value));
    } else if runs.len() > args.last {
        let (older, all) = (runs.len() - args.last, runs.len());
        session.ui.note(&format!("{}: --last {all}", counted(older, "older run")));
    }
    Ok(Exit::Done)
}

/// What the lines of a run say of it as a whole.
pub(super) struct RunFacts {
    pub(super) reason: String,
    /// What its first event says of who started it, and how; older runs say nothing.
    origin: Json,
    /// For machines: `succeeded`, `failed` or `unfinished`.
    pub(super) outcome: &'static str,
    pub(super) ended: String,
    pub(super) operations: usize,
}

pub(super) fn facts(lines: &[HistoryLine]) -> RunFacts {
    let mut facts = RunFacts {
        reason: "?".to_owned(),
        origin: Json::Null,
        outcome: "unfinished",
        ended: "did not finish".to_owned(),
        operations: 0,
    };
    for event in lines.iter().filter_map(|line| serde_json::from_str::<Json>(&line.event).ok()) {
        let name = event["event"].as_str().unwrap_or_default();
        match name {
            "reconciler.run.started" => {
                facts.reason = event["data"]["reason"].as_str().unwrap_or("?").to_owned();
                facts.origin = event["data"].clone();
            }
            "reconciler.run.finished" => {
                let succeeded = event["data"]["succeeded"].as_bool() == Some(true);
                facts.outcome = if succeeded { "succeeded" } else { "failed" };
                facts.ended = facts.outcome.to_owned();
            }
            _ if name.ends_with(".completed") => facts.operations += 1,
            _ => {}
        }
    }
    if facts.operations > 0 {
        let count = facts.operations;
        facts.ended.push_str(&format!(", {count} operation{}", if count == 1 { "" } else { "s" }));
    }
    facts
}

impl RunFacts {
    /// Who started the run, from where and how, on one line or two.
    fn told_origin(&self) -> Vec<String> {
        let text = |value: &Json| value.as_str().map(|text| escape_line(text).into_owned());
        let origin = &self.origin;
        let who =
            text(&origin["user"]).zip(text(&origin["host"])).map(|(user, host)| format!("{user}@{host}"));
        let started: Vec<String> = who.into_iter().chain(text(&origin["command"])).collect();
        let job = text(&origin["ci"]["service"]).zip(text(&origin["ci"]["job"])).map(|(service, job)| {
            let actor =
                text(&origin["ci"]["actor"]).map_or(String::new(), |actor| format!(", started by {actor}"));
            format!("{service}{actor}: {job}")
        });
        Some(started.join(": ")).filter(|line| !line.is_empty()).into_iter().chain(job).collect()
    }
}

fn chosen<'r>(runs: &'r [RunSummary], begun: &str) -> CommandResult<&'r RunSummary> {
    let mut matching = runs.iter().filter(|run| run.run.starts_with(begun));
    match (matching.next(), matching.next()) {
        (Some(run), None) => Ok(run),
        (None, _) => {
            Err(CommandError::new(format!("there is no run {begun}"), "`trueup history` lists them"))
        }
        (Some(_), Some(_)) => {
            Err(CommandError::new(format!("several runs begin with {begun}"), "write more of its id"))
        }
    }
}

fn tell_line(session: &Session<'_>, args: &HistoryArgs, line: &HistoryLine) {
    if args.json.json {
        // A line of ours has none of these; the store may have been written by others.
        session.ui.json(&line.event.replace(['\n', '\r'], " "));
        return;
    }
    let event: Json = serde_json::from_str(&line.event).unwrap_or_default();
    let name =
        event["event"].as_str().unwrap_or_default().trim_start_matches("reconciler.").replace('.', " ");
    let address = event["resource"]["address"].as_str().unwrap_or_default();
    let detail = match (&event["data"]["error"]["message"], &event["data"]["decision"]) {
        (Json::String(message), _) => message.clone(),
        (_, Json::String(decision)) => decision.clone(),
        _ => String::new(),
    };
    let text = format!("{}  {name:<22} {address} {}", clock(line.at), detail.trim());
    session.ui.data(&escape_line(text.trim_end()));
}
