//! Carrying a plan out.
//!
//! `tasks` turns the plan into a graph of tasks, `run_loop` runs them as they become ready and `queue` lets them.
//! A task begins with `prepare`. To bring a resource to where it should be, `apply` finds what is there (`place`,
//! `adopt`, `recover`), asks the type once more (`grant`) and makes the change (`change`, or `stub` for the first half of
//! one): `operation` repeats its call, `settle` records its answer. `delete` is what a task does to an object that goes.
//! `configuration` makes providers ready whose configuration becomes known on the way; `record_writer` makes each change of a record durable through `journal`.
//!
//! When all tasks have ended, `convergence` applies the members of cycles again, `premises` holds values to the plan, and
//! `clean_up` says which older generations go. `report` sums up.

mod adopt;
mod apply;
mod change;
mod clean_up;
mod configuration;
mod convergence;
mod delete;
mod grant;
mod operation;
mod place;
mod premises;
mod prepare;
mod queue;
mod record_writer;
mod recover;
mod report;
mod run_loop;
mod settle;
mod stub;
mod tasks;
mod validation;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Failure, Value};
use trueup_program::{Program, ResourceOptions};
use trueup_provider::{Configured, IdempotencyToken};
use trueup_state::RecordId;

use crate::admission::{AdmissionControl, FinalChange};
use crate::call::{Caller, Throttle};
use crate::ephemeral::Ephemerals;
use crate::events::{EventKind, RunEvents};
use crate::journal::Journal;
use crate::mutations::planted;
use crate::options::DeployOptions;
use crate::plan::Action;
use crate::providers::RecordedConfigurations;
use crate::random::Random;
use crate::run_kind::RunKind;
pub use report::{Outcome, RunReport};
pub(crate) use run_loop::execute;
use tasks::TaskError;
pub(crate) use tasks::main_tasks;

/// Stops a run in two stages (APPLY-11).
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    finish: CancellationToken,
    abandon: CancellationToken,
}

impl Cancellation {
    /// Nothing is cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// The first time: nothing new starts, what is under way is finished. The second time: it is left as it is.
    pub fn cancel(&self) {
        if self.finish.is_cancelled() {
            self.abandon.cancel();
        }
        self.finish();
    }

    /// Raised by the first stage.
    pub(crate) fn finish_token(&self) -> CancellationToken {
        self.finish.clone()
    }

    /// The first stage, however often it is asked for.
    pub fn finish(&self) {
        self.finish.cancel();
    }
}

/// What a provider's block came to, and the provider made ready by that, or why it could not be.
type LateConfiguration = (Value, Result<Configured, Failure>);

/// What all tasks of a run share.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) options: &'a DeployOptions,
    pub(crate) kind: RunKind,
    pub(crate) run: SmolStr,
    /// Makes its calls to providers.
    pub(crate) calls: Caller<'a>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) events: Arc<RunEvents>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) cancellation: Cancellation,
    pub(crate) throttle: Arc<Throttle>,
    /// When the run began.
    pub(crate) started: SystemTime,
    /// How many records were begun.
    pub(crate) records: AtomicU64,
    /// Whether what was known when the plan was made must come out so (PLANFILE-3).
    pub(crate) bound: bool,
    /// Whether others had time to make something between the plan and the lease.
    pub(crate) waited: bool,
    /// The configurations that recorded objects were made with.
    pub(crate) recorded: RecordedConfigurations,
    /// Providers whose configuration became known during the run, with what their blocks came to.
    pub(crate) late_configs: tokio::sync::Mutex<BTreeMap<SmolStr, LateConfiguration>>,
    /// Where the program declares each resource, for a run in which none counts as declared.
    pub(crate) declared: OnceLock<BTreeMap<Address, usize>>,
    /// What is open while the plan is carried out.
    pub(crate) ephemerals: Ephemerals,
    /// What judges changes before they are made.
    pub(crate) admission: Option<&'a dyn AdmissionControl>,
}

impl Run<'_> {
    /// The options that the program declares for a resource.
    pub(crate) fn declared_options(&self, address: &Address) -> Option<&ResourceOptions> {
        let resources = &self.program.resources;
        let declared = || resources.iter().enumerate().map(|(at, it)| (it.address.clone(), at)).collect();
        self.declared.get_or_init(declared).get(address).map(|at| &resources[*at].options)
    }

    /// Refuses a change that is not admitted. To be asked before anything of it is recorded or sent.
    pub(crate) fn admit(&self, address: &Address, action: Action, inputs: &Value) -> Result<(), Failure> {
        let Some(admission) = self.admission else { return Ok(()) };
        let found = admission.review(&FinalChange { address, action, inputs });
        if !found.has_errors() {
            found.into_iter().for_each(|warning| self.calls.warnings.add(address, warning));
            return Ok(());
        }
        let hints = found.iter().flat_map(|it| it.hints.clone()).collect();
        Err(Failure { hints, ..crate::failures::invalid(found) })
    }

    /// Lets nothing begin once the run is stopped (APPLY-11). To be asked just before an intent is recorded.
    pub(crate) fn may_begin(&self) -> Result<(), TaskError> {
        match self.cancellation.finish.is_cancelled() && !planted!(IgnoreCancellation) {
            true => Err(TaskError::Stopped),
            false => Ok(()),
        }
    }

    /// A token for another intent.
    pub(crate) fn fresh_token(&self) -> IdempotencyToken {
        IdempotencyToken::from_bytes(self.random.bytes())
    }

    /// An id for another record. It sorts by when it is given out, so that new records lie side by side in an index: time
    /// in milliseconds, number within the run, randomness.
    pub(crate) fn fresh_record_id(&self) -> RecordId {
        let started =
            self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let number = self.records.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut bytes = self.random.bytes();
        bytes[..6].copy_from_slice(&started.to_be_bytes()[2..]);
        bytes[6..10].copy_from_slice(&(number as u32).to_be_bytes());
        RecordId::from_bytes(bytes)
    }

    /// Tells subscribers and history.
    pub(crate) fn emit(&self, resource: Option<&Address>, kind: EventKind) {
        self.events.emit(resource, kind);
    }
}
