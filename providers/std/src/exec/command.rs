//! One command of a resource: what the program is told, and what its answer means.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use serde_json::json;
use trueup_core::{Failure, FailureClass, Marked, Value};
use trueup_provider::{Binding, Context, Converge, Error, Recovery, Result};

use super::process::{Finished, OUTPUT_BYTES_MAX, Process, Stopped};
use super::{Exec, ExecOutput};
use crate::outcome::{Outcome, declared};
use crate::plain_json::plain_json;
use crate::purpose::Purpose;
use crate::surroundings::Surroundings;

/// The exit code by which a program says that trying again may help (`EX_TEMPFAIL` of sysexits).
const TRY_AGAIN: i32 = 75;

/// The first exit code that does not come from the program itself: 124 is `timeout`'s, those above are the shell's.
const FOREIGN_MIN: i32 = 124;

/// What a shell adds to the number of a signal that ended a program.
const SIGNALLED: i32 = 128;

/// How much of a program's own words an error shows.
const SHOWN_CHARS_MAX: usize = 4_000;

/// The error of a command of which nobody knows how far it came.
fn unclear(purpose: Purpose, message: String) -> Error {
    match purpose.changes() {
        true => Error::indeterminate(message),
        false => Error::fatal(message),
    }
}

/// What a command has to print.
const EXPECTED: &str = "print the outputs as one JSON object on standard output, such as {\"id\": \"42\"}, or nothing; \
                        messages belong on standard error";

/// What a command knows beside the resource's inputs.
#[derive(Clone, Copy, Default)]
pub(super) struct Before<'a> {
    pub(super) output: Option<&'a ExecOutput>,
    pub(super) input: Option<&'a Value>,
    /// What others attach.
    pub(super) bindings: &'a [Binding],
}

impl Exec {
    /// Runs a command and reads its answer: an object, or nothing.
    pub(super) async fn run(
        &self,
        purpose: Purpose,
        arguments: &[Marked<String>],
        context: &Context<Surroundings>,
        before: Before<'_>,
    ) -> Result<Option<Value>> {
        let process = self.process(purpose, arguments, context, before)?;
        let guard = context.config().command_guard();
        if let Some(guard) = guard {
            guard.wait_for_orphans(&*context.clock).await?;
        }
        // What only looks may go on behind anyone's back.
        let guard = guard.filter(|_| purpose.changes());
        let finished = process.run(context, guard).await.map_err(|stopped| {
            let timeout = Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::MAX);
            stopped_error(purpose, arguments, &stopped, timeout)
        })?;
        if !finished.status.success() {
            let answer = self.answer(purpose, &finished.output);
            // Its messages may repeat the secrets that it printed.
            context.secrets.learn(answer.iter().flatten());
            let error = self.refused(purpose, &finished, context);
            return Err(match answer {
                Ok(Some(result)) if purpose.makes() => {
                    self.half_made(purpose, error, &self.output(context, result))
                }
                _ => error,
            });
        }
        if purpose == Purpose::Delete {
            return Ok(None);
        }
        self.answer(purpose, &finished.output)
    }

    /// The error of a command that failed and printed an object all the same: that exists, whatever the exit code says.
    fn half_made(&self, purpose: Purpose, error: Error, made: &ExecOutput) -> Error {
        let is_finished_by_update = purpose == Purpose::Precreate || self.update.is_some();
        let is_failed = *error.class() == FailureClass::Fatal;
        if is_finished_by_update {
            return error.with_partial(made);
        }
        if self.recovery() == Recovery::Token && !is_failed {
            // Repeating it with its token finishes it.
            return error;
        }
        let (failure, _) = error.into_parts();
        // Trying again would make another one.
        let failure = match failure.class {
            FailureClass::Retryable => Failure { class: FailureClass::Fatal, ..failure },
            _ => failure,
        };
        let next = match self.delete {
            Some(_) => "it printed an object, which the next run replaces",
            None => {
                "it printed an object, which is recorded; nothing is declared that could finish or delete it"
            }
        };
        Error::from(failure).hint(next).with_partial(made)
    }

    /// The program to run, with all it is told.
    fn process(
        &self,
        purpose: Purpose,
        arguments: &[Marked<String>],
        context: &Context<Surroundings>,
        before: Before<'_>,
    ) -> Result<Process> {
        let mut arguments = arguments.iter().map(|argument| argument.expose().clone());
        let Some(program) = arguments.next() else {
            return Err(Error::invalid("a command needs a program").at(purpose.name()));
        };
        let surroundings = context.config();
        let folder = surroundings.resolve(self.working_dir.as_deref().unwrap_or_default());
        if !folder.is_dir() {
            let message = format!("there is no folder `{}` to run in", folder.display());
            return Err(Error::invalid(message).at("working_dir"));
        }
        // A program with a folder before it lies in the folder where it runs, not where this process happens to be.
        let program = if program.contains('/') { folder.join(program).into() } else { program.into() };
        let inherited = surroundings.environment().iter().map(|(name, value)| (name.clone(), value.clone()));
        let own = self
            .environment
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value.expose())));
        let name = before.output.map_or_else(|| context.physical_name(), |output| output.name.clone());
        let identity = [
            ("TRUEUP_OPERATION", purpose.name().to_owned()),
            ("TRUEUP_NAME", name),
            ("TRUEUP_ADDRESS", context.address.to_string()),
            ("TRUEUP_STACK", context.owner.stack.to_string()),
            ("TRUEUP_STAGE", context.owner.stage.to_string()),
        ];
        let token = context.token.map(|token| ("TRUEUP_TOKEN", token.to_string()));
        let identity = identity.into_iter().chain(token);
        let identity = identity.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let plain = |value: Option<&Value>| value.map_or(serde_json::Value::Null, plain_json);
        let mut input = json!({
            "operation": purpose.name(),
            "input": plain(self.input.as_ref()),
            "prior_input": plain(before.input),
            "triggers": plain(self.triggers.as_ref()),
            "result": plain(before.output.map(|output| &output.result)),
        });
        if matches!(purpose, Purpose::Create | Purpose::Update) {
            let bound = before.bindings.iter();
            input["bindings"] = bound.map(|it| (it.key.to_string(), plain_json(&it.payload))).collect();
        }
        Ok(Process {
            program,
            arguments: arguments.collect(),
            folder,
            environment: inherited.chain(own).chain(identity).collect(),
            input: input.to_string().into_bytes(),
            timeout: Duration::try_from_secs_f64(self.timeout)
                .map_err(|_| Error::invalid("this is no number of seconds").at("timeout"))?,
        })
    }

    /// What a program's output says.
    fn answer(&self, purpose: Purpose, output: &[u8]) -> Result<Option<Value>> {
        let Ok(text) = std::str::from_utf8(output) else {
            return Err(unclear(purpose, format!("what {purpose} printed is not valid UTF-8")));
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        let value = Value::from_plain_json(text).map_err(|error| {
            unclear(purpose, format!("what {purpose} printed is not a JSON object: {error}"))
                .at(purpose.name())
                .hint(EXPECTED)
        })?;
        if value.is_null() {
            return Ok(None);
        }
        let Some(entries) = value.as_entries() else {
            let message = format!("{purpose} printed {}, and a JSON object was expected", value.kind_name());
            return Err(unclear(purpose, message).at(purpose.name()).hint(EXPECTED));
        };
        let secret = |name: &str| self.secret_results.iter().flatten().any(|own| own == name);
        Ok(Some(Value::object(
            entries.iter().map(|(name, value)| (name.clone(), value.clone().into_secret_if(secret(name)))),
        )))
    }

    /// The error of a program that ended with something other than success.
    fn refused(&self, purpose: Purpose, finished: &Finished, context: &Context<Surroundings>) -> Error {
        // Before it is cut: half a secret is not recognised.
        let said = context.scrubbed(String::from_utf8_lossy(&finished.messages).trim());
        let surplus = said.chars().count().saturating_sub(SHOWN_CHARS_MAX);
        let said = match surplus {
            0 => said,
            _ => format!("… {}", said.chars().skip(surplus).collect::<String>()),
        };
        let said = if said.is_empty() { "it said nothing".to_owned() } else { said };
        let (code, signal) = (finished.status.code(), finished.status.signal());
        let how = match (code, signal) {
            (Some(code), _) => format!("failed with exit code {code}"),
            (None, Some(signal)) => format!("was ended by signal {signal}"),
            (None, None) => "ended, and nobody knows how".to_owned(),
        };
        let message = format!("{purpose} {how}: {said}");
        match self.outcome(code.or(signal.map(|signal| SIGNALLED + signal))) {
            Outcome::Failed => Error::fatal(message),
            Outcome::Retry if code == Some(TRY_AGAIN) => {
                Error::retryable(format!("{purpose} asks to be tried again: {said}"))
            }
            Outcome::Retry => Error::retryable(message),
            Outcome::Unknown => unclear(purpose, message),
        }
    }

    /// The table of the reference.
    fn outcome(&self, code: Option<i32>) -> Outcome {
        let Some(code) = code else { return Outcome::Unknown };
        declared(self.outcomes.as_ref(), code).unwrap_or(match code {
            TRY_AGAIN => Outcome::Retry,
            ..FOREIGN_MIN => Outcome::Failed,
            _ => Outcome::Unknown,
        })
    }
}

/// The error of a program that did not run to its end.
fn stopped_error(
    purpose: Purpose,
    arguments: &[Marked<String>],
    stopped: &Stopped,
    timeout: Duration,
) -> Error {
    let program = arguments.first().map_or("", |program| program.expose());
    let error = match stopped {
        Stopped::NotStarted(error) if error.kind() == io::ErrorKind::NotFound => {
            Error::invalid(format!("there is no program `{program}`"))
                .at(purpose.name())
                .hint("a program without `/` is looked for in PATH; scripts need an existing interpreter")
        }
        Stopped::NotStarted(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Error::denied(format!("`{program}` cannot be run: {error}")).at(purpose.name())
        }
        Stopped::NotStarted(error) => {
            Error::fatal(format!("`{program}` cannot be run: {error}")).at(purpose.name())
        }
        Stopped::TimedOut => unclear(
            purpose,
            format!("{purpose} did not end within {} s and was killed", timeout.as_secs_f64()),
        )
        .hint("raise `timeout` if it needs longer"),
        Stopped::Cancelled => {
            unclear(purpose, format!("{purpose} was killed, because the run is being ended"))
        }
        Stopped::TooMuchOutput => unclear(
            purpose,
            format!("{purpose} printed more than {} MiB and was killed", OUTPUT_BYTES_MAX / (1024 * 1024)),
        ),
        Stopped::Lost(error) => unclear(purpose, format!("lost touch with {purpose}: {error}")),
    };
    if matches!(stopped, Stopped::NotStarted(_)) { error.unsent() } else { error }
}
