//! `console`: the value of expressions.

use std::io::{BufRead, IsTerminal, Read};

use clap::Args;
use futures_util::future::{Either, select};
use trueup_core::{JsonForm, Value};
use trueup_engine::EventSink;
use trueup_front_end::{BuildRequest, Purpose};
use trueup_program::FunctionAnswers;
use trueup_state::Snapshot;

use super::plan_options;
use crate::arguments::{JsonArgs, PlanArgs, StageArgs, VariableArgs};
use crate::console::{Lines, Typed, Words};
use crate::entry::fail;
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::recorded_scope::RecordedScope;
use crate::render::lines;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Evaluate expressions against what is recorded
///
/// With an expression, its value. Without, one expression from each line of standard input. In a terminal, lines can be edited
/// and are remembered: Tab completes names, an open bracket continues on the next line, Ctrl-C clears the line and Ctrl-D ends.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  trueup console 'upper(var.name)'\n  echo 'std_file.index.sha256' | trueup console"
)]
pub(crate) struct ConsoleArgs {
    /// The expression
    expression: Option<String>,
    #[command(flatten)]
    stage: StageArgs,
    #[command(flatten)]
    variables: VariableArgs,
    #[command(flatten)]
    json: JsonArgs,
}

pub(super) async fn run(session: &Session<'_>, args: &ConsoleArgs) -> CommandResult {
    let workplace = Workplace::load(session, args.stage.stage.as_ref())?;
    workplace.check()?;
    let store = workplace.store(Access::Read).await?;
    let snapshot = store.load(&workplace.scope()).await?;
    let known = RecordedScope::new(&snapshot);
    let options = plan_options(&workplace, &PlanArgs::default())?;
    let reconciler = workplace.reconciler(store, EventSink::new());
    let answers = FunctionAnswers::default();
    let evaluate = async |text: &str| -> CommandResult<Value> {
        let variables = session.variables();
        let request = workplace.build_request(Purpose::Deploy, &variables, &answers);
        let request = BuildRequest { known: Some(&known), ..request };
        let evaluate = async || workplace.loaded.source.evaluate(text, request).await;
        Ok(reconciler.answered(&answers, &options, evaluate).await?)
    };
    if let Some(expression) = &args.expression {
        let value = evaluate(expression).await?;
        tell(session, args, &value);
        return Ok(Exit::Done);
    }
    if session.ui.is_interactive() && std::io::stdout().is_terminal() {
        let secrets = workplace.registry.secrets();
        secrets.learn(known.values().chain(&snapshot.outputs));
        secrets.learn(&values_of_variables(&workplace, &evaluate).await);
        return converse(&workplace, args, words(&workplace, &snapshot), evaluate).await;
    }
    let mut exit = Exit::Done;
    let mut input = std::io::stdin().lock();
    while let Some(line) = next_line(&mut input)? {
        match line.trim() {
            "" => {}
            "exit" | "quit" => break,
            text => match evaluate(text).await {
                Ok(value) => tell(session, args, &value),
                // A slip is no reason to leave.
                Err(error) => exit = fail(error, args.json.json, &session.ui, session.name()),
            },
        }
    }
    Ok(if session.ui.is_interactive() { Exit::Done } else { exit })
}

/// Evaluates what a person types, until they have enough.
async fn converse(
    workplace: &Workplace<'_>,
    args: &ConsoleArgs,
    words: Words,
    evaluate: impl AsyncFn(&str) -> CommandResult<Value>,
) -> CommandResult {
    let session = workplace.session;
    let file = session.environment.state_folder().map(|folder| folder.join("console_history"));
    let lines = Lines::edited(words, file, session.logged_secrets.clone())
        .map_err(|why| CommandError::plain(format!("cannot edit lines in this terminal: {why}")))?;
    session.ui.note(&format!(
        "{}, stage {}. Tab completes, Ctrl-D ends.",
        workplace.stack.value, workplace.stage.value
    ));
    loop {
        let next = async {
            match lines.next().await {
                Typed::End => None,
                Typed::Abandoned => Some(Ok(None)),
                Typed::Line(line) => match line.trim() {
                    "" => Some(Ok(None)),
                    "exit" | "quit" => None,
                    text => Some(evaluate(text).await.map(Some)),
                },
            }
        };
        let interrupted = std::pin::pin!(session.interrupts.first());
        match select(std::pin::pin!(next), interrupted).await {
            Either::Left((None, _)) => return Ok(Exit::Done),
            Either::Left((Some(Ok(None)), _)) => {}
            Either::Left((Some(Ok(Some(value))), _)) => tell(session, args, &value),
            // A slip is no reason to leave.
            Either::Left((Some(Err(error)), _)) => {
                fail(error, args.json.json, &session.ui, session.name());
            }
            Either::Right(_) => return Err(CommandError::Interrupted),
        }
    }
}

/// The values of the variables, defaults included: no line that quotes a secret one is remembered (SECRET-15).
async fn values_of_variables(
    workplace: &Workplace<'_>,
    evaluate: &impl AsyncFn(&str) -> CommandResult<Value>,
) -> Vec<Value> {
    let names: Vec<String> =
        workplace.loaded.source.variables().into_iter().map(|name| format!("var.{name}")).collect();
    if let Ok(all) = evaluate(&format!("[{}]", names.join(", "))).await {
        return vec![all];
    }
    // One of them has no value, or a wrong one.
    let mut values = Vec::new();
    for name in &names {
        values.extend(evaluate(name).await.ok());
    }
    values
}

/// What can stand in an expression.
fn words(workplace: &Workplace<'_>, snapshot: &Snapshot) -> Words {
    let recorded = snapshot.records.iter().map(|(record, _)| record.address.to_string());
    let variables = workplace.loaded.source.variables().into_iter().map(|name| format!("var.{name}"));
    let functions =
        workplace.session.composition.front_end.functions().into_iter().map(|name| format!("{name}("));
    Words::new(recorded.chain(variables).chain(functions))
}

/// More than anyone types.
const LINE_BYTES_MAX: u64 = 1024 * 1024;

/// The next line of some input, if there is one. What has no end of a line, as a device, is not read for ever.
fn next_line(input: &mut impl BufRead) -> CommandResult<Option<String>> {
    let mut line = Vec::new();
    let read = input.take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line);
    read.map_err(|error| CommandError::plain(format!("cannot read standard input: {error}")))?;
    if line.len() as u64 > LINE_BYTES_MAX {
        let summary = format!("a line of standard input has more than {} MiB", LINE_BYTES_MAX >> 20);
        return Err(CommandError::new(summary, "write one expression on each line"));
    }
    let text =
        |line| String::from_utf8(line).map_err(|_| CommandError::plain("standard input is not UTF-8 text"));
    if line.is_empty() { Ok(None) } else { text(line).map(Some) }
}

fn tell(session: &Session<'_>, args: &ConsoleArgs, value: &Value) {
    if args.json.json {
        let value = value.to_json_tree(JsonForm::PUBLIC);
        session.ui.json(&serde_json::json!({ "version": 2, "kind": "value", "value": value }));
        return;
    }
    for line in lines(value, session.ui.out().columns) {
        session.ui.data(&line);
    }
}
