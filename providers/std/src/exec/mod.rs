//! `std_exec`: whatever a few commands can create, read, update and delete.

mod command;
mod guard;
mod process;

use std::collections::BTreeMap;
use std::time::Duration;

use trueup_core::{Marked, Value, value};
use trueup_provider::{
    Context, Converge, Current, DeleteEnd, Diff, Error, Inputs, Outputs, PlanHook, Planned, Recovery, Result,
    Sightings, Traits,
};

use crate::outcome::{Outcome, check_codes};
use crate::purpose::{CONSISTENCY_WINDOW, Purpose, Recover, check_updates, replace_unfinished, unfinished};
use crate::surroundings::Surroundings;
use command::Before;
pub use guard::{CommandGuard, guard_command};

/// Anything that commands can manage: a cluster behind a vendor's command line, a row in a database, a DNS entry at a
/// registrar without a provider.
///
/// # The commands
/// Each is a list: a program and its arguments, run without a shell in the stack's folder. It reads one JSON object from
/// standard input:
///
/// - `operation`: `create`, `read`, `update`, `delete`, `lookup` or `precreate`
/// - `input`, `triggers`: those of the resource, `prior_input`: for an update, the one before
/// - `bindings`: for `create` and `update`, the payloads that are bound to the resource, by their keys
/// - `result`: what was printed last, or null
///
/// and prints its outputs as a JSON object, which is then `.result.NAME`; nothing else on standard output. What it
/// prints replaces what was known, so a `read` repeats from `result` what it cannot see; an `update` that prints nothing
/// leaves it as it was. A program that a command leaves running must not keep its standard output open.
///
/// In the environment are those of this process, `environment`, and
///
/// - `TRUEUP_NAME`: a name for the object, unique to this resource and the same each time
/// - `TRUEUP_TOKEN`: the same for each attempt at one create or update; not set for other operations
/// - `TRUEUP_ADDRESS`, `TRUEUP_STACK`, `TRUEUP_STAGE`: whose it is
///
/// # Exit codes
/// 0 is success. Any other exit code is shown with the end of standard error, and says whether the command had an effect:
///
/// | exit code | outcome |
/// | --- | --- |
/// | the program could not be started | `failed`: nothing happened |
/// | 1–74, 76–123 | `failed` |
/// | 75 | `retry`: nothing happened, and it is tried again later |
/// | 124 and above, such as 124, 137 and 143 | `unknown`: it may have happened |
/// | ended by a signal, by `timeout` or by Ctrl-C | `unknown` |
///
/// `outcomes` overrides this for commands that mean something else; there a signal counts as 128 and its number. A
/// `create` that fails and still prints an object leaves a half-made one, whatever its exit code.
///
/// # Unknown outcomes
/// The run fails, and the resource's recovery settles a `create` that may have happened:
///
/// - *lookup*, if there is a `lookup` command, or with `recover = "lookup"` and a `read` that does not need `result`: the
///   next run looks for the object named `TRUEUP_NAME`. It also does so before it repeats a `create` that ended with 75.
/// - *token*, with `recover = "token"`: the next run runs `create` again with the same `TRUEUP_TOKEN`.
/// - Otherwise **the resource is blind**: the next run stops, and a person has to say what became of the object.
///
/// The same holds for a run that was killed. Objects that are found by *lookup* are also adopted when the state was lost.
///
/// # Half-made objects
/// An object that a failed `create` printed, or that *lookup* found, may be incomplete, and its `input` is unknown. The
/// next run brings it to its `input` by `update`. Without `update` it replaces the object: `delete`, then `create`. With
/// neither, the run stops. Then declare `update`, such as `["true"]` if a found object is always complete, or delete the
/// object by hand. `delete` is the one that was declared when the object was made.
///
/// # Cycles
/// Two resources that need each other's outputs form a cycle: one refers to the other, which gets the way back by a
/// binding. With `precreate`, either of them can be made first, as a stub that reserves a name or an id and does nothing
/// else:
///
/// ```hcl
/// resource "std_exec" "left" {
///   precreate = ["./peer", "reserve"]
///   create    = ["./peer", "write"]
///   update    = ["./peer", "write"]
///   delete    = ["./peer", "remove"]
///   lookup    = ["./peer", "show"]
/// }
///
/// resource "std_exec" "right" {
///   create = ["./peer", "write"]
///   delete = ["./peer", "remove"]
///   lookup = ["./peer", "show"]
///   input  = { peer = std_exec.left.result.id }
///
///   bind "peer" {
///     to      = std_exec.left
///     payload = { id = self.result.id }
///   }
/// }
/// ```
///
/// `right` is created with the id of the stub, and `update` then finishes `left`. The stub's `input` is null while a part
/// of it is unknown; all else but `create` and `update` must be known before. A `precreate` whose outcome is unknown
/// is settled like a `create`: it is looked for by `TRUEUP_NAME`, or repeated with its token. Without
/// `precreate` there is no stub, and a plan in which nothing else can be made first fails.
///
/// # When a run is killed
/// A `create`, `precreate`, `update` or `delete` that has not finished ends with its run, with everything it started in
/// its process group: it gets SIGTERM, and SIGKILL after 5 seconds. The next run on the same machine waits until it is
/// gone before it looks at anything, or says that nothing can find the object. `trueup state resolve --absent` waits too,
/// and then asks you to look again. What a finished command left running stays.
///
/// # What a change does
/// `create` and `input` say what the object is: a change of either runs `update`, or replaces the object if there is
/// none. `triggers` always replace. All else says how it is handled, and a change in it is only noted.
#[derive(Inputs, Clone)]
pub struct Exec {
    /// Makes the object and prints its outputs.
    #[trueup(length(min = 1))]
    create: Vec<Marked<String>>,
    /// Looks at the object and prints its outputs as they are now. Nothing, or `null`, means that it is gone. Without
    /// it the object is never checked.
    #[trueup(length(min = 1))]
    read: Option<Vec<Marked<String>>>,
    /// Brings the object to a changed `input` in place and prints its outputs. Without it the object is replaced.
    #[trueup(length(min = 1))]
    update: Option<Vec<Marked<String>>>,
    /// Removes the object, and ends when it is gone. If it is gone already, that is success. Without it nothing is run.
    #[trueup(length(min = 1))]
    delete: Option<Vec<Marked<String>>>,
    /// Looks for the object named `TRUEUP_NAME`, knowing nothing else, and prints its outputs, or nothing.
    #[trueup(length(min = 1))]
    lookup: Option<Vec<Marked<String>>>,
    /// Makes a stub of the object, before `input` is known, and prints its outputs. For cycles; see above.
    #[trueup(length(min = 1))]
    precreate: Option<Vec<Marked<String>>>,
    /// How a create whose outcome is unknown is resolved: `lookup`, `token` or `blind`. If it is
    /// not set, `lookup` if there is such a command, else `blind`.
    recover: Option<Recover>,
    /// What the object should be, in any form the commands understand.
    input: Option<Value>,
    /// Anything whose change should replace the object.
    #[trueup(replace)]
    triggers: Option<Value>,
    /// More environment variables for the commands. Secrets among them are masked in what the commands say.
    #[trueup(default)]
    environment: BTreeMap<String, Marked<String>>,
    /// Where the commands run. A relative folder begins at the stack's.
    working_dir: Option<String>,
    /// How long a command may run, in seconds. Then it is killed with everything it started.
    #[trueup(default = 600.0, range(min = 0.001, max = 86400))]
    timeout: f64,
    /// How long the object may stay invisible after it was created or updated, in seconds: so long its absence is not
    /// believed, but looked at again. With *lookup*, a deleted object may stay visible as long: the run waits until `read`
    /// finds it gone, and warns if it never does. If it is not set, 10.
    #[trueup(range(min = 0, max = 86400))]
    consistency_window: Option<f64>,
    /// What exit codes say about a command that was to change something, instead of the table above: `failed`, `retry` or
    /// `unknown` for each, such as `{ "3" = "unknown" }`.
    outcomes: Option<BTreeMap<String, Outcome>>,
    /// The names in `.result` that are secret. What repeats a secret of the inputs is secret by itself.
    secret_results: Option<Vec<String>>,
}

/// What commands answered.
#[derive(Outputs, Clone)]
pub struct ExecOutput {
    /// What the commands were told as `TRUEUP_NAME`.
    #[trueup(identity, stable)]
    name: String,
    /// What the last command printed.
    result: Value,
}

impl Exec {
    fn output(&self, context: &Context<Surroundings>, result: Value) -> ExecOutput {
        ExecOutput { name: context.physical_name(), result }
    }

    /// The command that finds the object by its name alone.
    fn finder(&self) -> Option<(Purpose, &Vec<Marked<String>>)> {
        let read = || self.read.as_ref().filter(|_| self.recover == Some(Recover::Lookup));
        let lookup = self.lookup.as_ref().map(|command| (Purpose::Lookup, command));
        lookup.or_else(|| read().map(|command| (Purpose::Read, command)))
    }

    /// Whether the object is to be the same as before, whatever changed in how it is handled.
    fn wants_the_same_as(&self, olds: &Exec) -> bool {
        self.create == olds.create && same(self.input.as_ref(), olds.input.as_ref())
    }

    /// The result as it is now, if that can be seen.
    async fn look(
        &self,
        context: &Context<Surroundings>,
        output: &ExecOutput,
    ) -> Result<Option<Option<Value>>> {
        let Some(command) = &self.read else { return Ok(None) };
        let before = Before { output: Some(output), ..Before::default() };
        self.run(Purpose::Read, command, context, before).await.map(Some)
    }

    async fn update(
        &self,
        context: &Context<Surroundings>,
        current: &Current<Self>,
        output: &ExecOutput,
    ) -> Result<ExecOutput> {
        let olds = current.olds.as_ref();
        // What is bound may have changed too.
        let noted =
            current.bindings.is_empty() && olds.is_some_and(|olds| self.is_only_handled_otherwise_than(olds));
        if noted {
            let seen = self.look(context, output).await?.flatten();
            if seen.is_none_or(|seen| seen.same(&output.result)) {
                return Ok(output.clone());
            }
        }
        match (&self.update, olds) {
            (Some(command), _) => {
                let input = olds.and_then(|olds| olds.input.as_ref());
                let before = Before { output: Some(output), input, bindings: &current.bindings };
                let result = self.run(Purpose::Update, command, context, before).await?;
                // Nothing said, nothing changed: what is known of the object is needed to delete it.
                let result = result.unwrap_or_else(|| output.result.clone());
                Ok(ExecOutput { name: output.name.clone(), result })
            }
            (None, None) => Err(unfinished(self.delete.is_some())),
            (None, Some(olds)) if self.wants_the_same_as(olds) => Ok(output.clone()),
            (None, Some(_)) => Err(Error::conflict("it cannot be changed in place: it has no `update`")
                .hint("plan again: it will be replaced")),
        }
    }

    /// Whether something changed, and nothing of what the object should be.
    fn is_only_handled_otherwise_than(&self, olds: &Exec) -> bool {
        let differs = match (self.encode(), olds.encode()) {
            (Ok(news), Ok(olds)) => !news.same(&olds),
            _ => true,
        };
        differs && self.wants_the_same_as(olds)
    }
}

impl Converge for Exec {
    type Output = ExecOutput;
    type Config = Surroundings;

    fn recovery(&self) -> Recovery {
        match (self.recover, &self.lookup) {
            (Some(Recover::Lookup), _) | (None, Some(_)) => Recovery::Lookup,
            (Some(Recover::Token), _) => Recovery::Token,
            (Some(Recover::Blind) | None, _) => Recovery::Blind,
        }
    }

    fn traits() -> Traits {
        Traits { consistency_window: CONSISTENCY_WINDOW, importable: false, ..Traits::default() }
    }

    fn consistency_window(&self) -> Duration {
        let own = self.consistency_window.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        own.unwrap_or(CONSISTENCY_WINDOW)
    }

    /// A `delete` command that succeeds has removed the object. Where a later run could find and adopt it, the object is
    /// watched until `read` finds it gone, but a `read` that always prints something holds nothing up.
    fn delete_end(&self) -> DeleteEnd {
        match self.delete.is_some() && self.recovery() == Recovery::Lookup {
            true => DeleteEnd::GoneOrAnswered,
            false => DeleteEnd::Answered,
        }
    }

    async fn reconcile(
        &self,
        context: &Context<Surroundings>,
        current: &Current<Self>,
    ) -> Result<ExecOutput> {
        if let Some(output) = &current.output {
            return self.update(context, current, output).await;
        }
        let before = Before { bindings: &current.bindings, ..Before::default() };
        let result = self.run(Purpose::Create, &self.create, context, before).await?;
        Ok(self.output(context, result.unwrap_or_else(nothing)))
    }

    async fn read(
        &self,
        context: &Context<Surroundings>,
        prior: Option<&ExecOutput>,
    ) -> Result<Sightings<ExecOutput>> {
        let seen = match prior {
            Some(prior) => {
                let Some(seen) = self.look(context, prior).await? else {
                    return Ok(Sightings::unsupported());
                };
                seen.map(|result| ExecOutput { name: prior.name.clone(), result })
            }
            None => {
                let Some((purpose, command)) = self.finder() else { return Ok(Sightings::unsupported()) };
                let seen = self.run(purpose, command, context, Before::default()).await?;
                seen.map(|result| self.output(context, result))
            }
        };
        // The name is nobody else's.
        Ok(seen.map_or_else(Sightings::absent, Sightings::owned))
    }

    fn stub(inputs: &ExecView) -> Option<Value> {
        inputs.precreate.known()?.as_ref()?;
        Some(value!({ create: [], update: null, input: null }))
    }

    async fn precreate(&self, context: &Context<Surroundings>) -> Result<ExecOutput> {
        let command = self.precreate.as_deref().unwrap_or_default();
        let result = self.run(Purpose::Precreate, command, context, Before::default()).await?;
        Ok(self.output(context, result.unwrap_or_else(nothing)))
    }

    async fn delete(&self, context: &Context<Surroundings>, output: &ExecOutput) -> Result<()> {
        let Some(command) = &self.delete else { return Ok(()) };
        let before = Before { output: Some(output), ..Before::default() };
        self.run(Purpose::Delete, command, context, before).await.map(|_| ())
    }

    fn diff(request: &Diff<'_, Self>, plan: &mut PlanHook) -> Result<()> {
        let news = &request.current;
        if let (Planned::Known(Some(Recover::Lookup)), Planned::Known(None), Planned::Known(None)) =
            (&news.recover, &news.lookup, &news.read)
        {
            let message = "there is neither a `lookup` nor a `read` to find the object with";
            return Err(Error::invalid(message).at("recover"));
        }
        if matches!(news.update, Planned::Known(None)) {
            let stubbed = matches!(news.precreate, Planned::Known(Some(_)));
            check_updates(stubbed, request.bindings_changed)?;
        }
        check_codes(news.outcomes.known().and_then(Option::as_ref), 1..=255)?;
        let Some(prior) = &request.prior else { return Ok(()) };
        let drifted =
            prior.observed.as_ref().is_some_and(|observed| !observed.result.same(&prior.outputs.result));
        if matches!(news.update, Planned::Known(None)) {
            plan.replace_if_changed("create");
            plan.replace_if_changed("input");
            if prior.inputs.is_none() {
                let declared = news.delete.known().is_some_and(Option::is_some);
                let is_deletable = prior.attempted.as_ref().map_or(declared, |made| made.delete.is_some());
                replace_unfinished(is_deletable, plan)?;
            } else if drifted {
                plan.replace("update");
            }
        }
        let equal = |news: &Planned<Option<Value>>, olds: &Option<Value>| {
            news.known().is_some_and(|news| same(news.as_ref(), olds.as_ref()))
        };
        let unchanged = prior.inputs.as_ref().is_some_and(|olds| {
            let same_object = news.create == olds.create && equal(&news.input, &olds.input);
            same_object && equal(&news.triggers, &olds.triggers)
        });
        if unchanged && !drifted {
            plan.set_output("result", &prior.outputs.result)?;
        }
        Ok(())
    }
}

/// What a command that prints nothing tells.
fn nothing() -> Value {
    Value::object::<&str>([])
}

fn same(left: Option<&Value>, right: Option<&Value>) -> bool {
    left.unwrap_or(&Value::NULL).same(right.unwrap_or(&Value::NULL))
}
