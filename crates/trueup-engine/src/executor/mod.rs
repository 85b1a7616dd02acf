//! Carrying a plan out.
//!
//! `tasks` turns the plan into a graph of tasks, `schedule` runs them as they become ready and `queue`
//! lets them, `prepare`, `apply`, `place`, `stub`
//! and `delete` are what a task does, `call` repeats and bounds calls to providers, `step` makes each change of a record durable through
//! `journal`. When all is applied, older generations are cleaned up by the same means.

mod apply;
mod call;
mod delete;
mod journal;
mod limits;
mod place;
mod prepare;
mod queue;
mod report;
mod schedule;
mod step;
mod stub;
mod tasks;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use smol_str::SmolStr;
use tokio_util::sync::CancellationToken;
use trueup_core::{Address, Failure, Value};
use trueup_program::{Program, ResourceOptions};
use trueup_provider::{Clock, Configured, IdempotencyToken, Registry};
use trueup_state::{RecordId, Scope};

use crate::admission::{AdmissionControl, FinalChange};
use crate::configurations::Recorded;
use crate::ephemeral::Ephemerals;
use crate::events::{Event, EventKind, EventSink};
use crate::lease::RunLease;
use crate::options::DeployOptions;
use crate::plan::Action;
use crate::random::Random;
use crate::warned::Warned;
pub(crate) use journal::Journal;
pub(crate) use limits::Limits;
pub use report::{Outcome, RunReport};
pub(crate) use schedule::execute;
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

    /// The first stage, however often it is asked for.
    pub fn finish(&self) {
        self.finish.cancel();
    }
}

/// What all tasks of a run share.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Program,
    pub(crate) options: &'a DeployOptions,
    /// Whether everything is deleted.
    pub(crate) destroy: bool,
    pub(crate) scope: Scope,
    pub(crate) run: SmolStr,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
    pub(crate) events: EventSink,
    pub(crate) journal: Journal,
    pub(crate) cancellation: Cancellation,
    pub(crate) sequence: AtomicU64,
    pub(crate) limits: Limits,
    /// When the run began.
    pub(crate) started: SystemTime,
    /// How many records were begun.
    pub(crate) records: AtomicU64,
    pub(crate) lease: &'a RunLease,
    pub(crate) registry: &'a Registry,
    /// Whether what was known when the plan was made must come out so (PLANFILE-3).
    pub(crate) bound: bool,
    /// Whether others had time to make something between the plan and the lease.
    pub(crate) waited: bool,
    /// The configurations that recorded objects were made with.
    pub(crate) recorded: Recorded,
    /// Providers whose configuration became known during the run, with what their blocks came to.
    pub(crate) late_configs: tokio::sync::Mutex<BTreeMap<SmolStr, (Value, Configured)>>,
    /// What providers warn of.
    pub(crate) warned: Warned,
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
            found.into_iter().for_each(|warning| self.warned.add(address, warning));
            return Ok(());
        }
        let hints = found.iter().flat_map(|it| it.hints.clone()).collect();
        Err(Failure { hints, ..prepare::invalid(found) })
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
        let event = Event {
            sequence: self.sequence.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
            at: self.clock.now(),
            scope: self.scope.clone(),
            run: self.run.clone(),
            resource: resource.cloned(),
            kind,
        };
        // That nothing happens to most of a stack is not worth a line each in its history.
        let unchanged = matches!(&event.kind, EventKind::Decision { decision, .. } if decision == "noop");
        if !unchanged {
            self.journal.note(trueup_state::HistoryLine {
                run: self.run.to_string(),
                sequence: event.sequence,
                at: event.at,
                event: event.to_json(),
            });
        }
        self.events.emit(event);
    }
}
