//! `console`: the value of expressions.

use std::io::{BufRead, Read};

use clap::Args;
use trueup_core::{JsonForm, Value};
use trueup_front_end::{BuildRequest, Purpose};

use crate::arguments::{JsonArgs, StageArgs, VariableArgs};
use crate::exit::Exit;
use crate::failure::{CommandError, CommandResult};
use crate::recorded_scope::RecordedScope;
use crate::render::lines;
use crate::session::Session;
use crate::workplace::{Access, Workplace};

/// Evaluate expressions against what is recorded
///
/// With an expression, its value. Without, one expression from each line of standard input.
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
    let known = RecordedScope::new(&workplace.snapshot(Access::Read).await?);
    let evaluate = async |text: &str| -> CommandResult<Value> {
        let variables = session.variables();
        let request = workplace.build_request(Purpose::Deploy, &variables);
        let request = BuildRequest { known: Some(&known), ..request };
        Ok(workplace.loaded.source.evaluate(text, request).await?)
    };
    if let Some(expression) = &args.expression {
        let value = evaluate(expression).await?;
        tell(session, args, &value);
        return Ok(Exit::Done);
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
                Err(error) => exit = error.tell(&session.ui, session.name()),
            },
        }
    }
    Ok(if session.ui.is_interactive() { Exit::Done } else { exit })
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
        session.ui.json(&serde_json::json!({ "version": 1, "kind": "value", "value": value }));
        return;
    }
    for line in lines(value, session.ui.out().columns) {
        session.ui.data(&line);
    }
}
