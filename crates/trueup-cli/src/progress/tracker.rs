//! What is known of a run while it lasts: pure data, fed with events.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use trueup_core::{Address, Failure, FailureClass};
use trueup_engine::{Action, Event, EventKind, Operation, Plan};
use trueup_state::Holder;

use crate::ui::width;

/// How a run stands.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// What is planned for each resource that something happens to, and whether that is over.
    planned: BTreeMap<Address, (Action, bool)>,
    /// How many of them are over.
    over: usize,
    /// How wide the longest of their addresses is: each line that is drawn asks for it.
    address_width: usize,
    /// What is under way.
    running: BTreeMap<Address, Running>,
    /// How many attempts each resource gets; others get the usual number.
    attempts_max: BTreeMap<Address, u32>,
    attempts_usual: u32,
    failed: usize,
    skipped: usize,
    /// Whether the run itself has begun, the lease taken.
    started: bool,
}

/// An operation under way.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// The resource.
    pub address: Address,
    /// What is done to it.
    pub operation: Operation,
    /// Since when.
    pub since: SystemTime,
    /// What it waits for or does just now.
    pub note: Option<Note>,
    /// How often it was tried and failed.
    pub attempts: u32,
}

/// What an operation waits for or does just now.
#[derive(Clone, Debug)]
pub(crate) enum Note {
    /// It is tried again.
    Retry {
        /// How often it was tried.
        attempts: u32,
        /// How often it is tried at most.
        attempts_max: u32,
        /// When it is tried again.
        at: SystemTime,
        /// Why.
        message: String,
        /// Whether it has begun at the other side, so that a run that is stopped sees it through.
        is_begun: bool,
    },
    /// What its provider says.
    Doing(String),
}

/// Something that is over, or worth a line.
#[derive(Clone, Debug)]
pub(crate) struct News {
    /// The resource; `None` if it is about the run.
    pub address: Option<Address>,
    /// What happened.
    pub what: Happened,
    /// When.
    pub at: SystemTime,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// Something was done, in this time.
    Done(&'static str, Duration),
    /// It turned out that nothing had to be done.
    Unchanged,
    /// Something failed: what, after how many attempts, in what time.
    Failed(Operation, u32, Duration, Failure),
    /// Something was skipped, because this was not done.
    Skipped(Address),
    /// It is tried again.
    Retry(Note),
    /// The stage is held by someone else.
    Waiting(String),
}

/// Who holds a stage.
pub(super) fn held_by(stage: &str, holder: &Holder, since: SystemTime) -> String {
    let (since, who) = (crate::render::clock(since), format!("{}@{}", holder.user, holder.host));
    format!("stage {stage} is held by {who} since {since} UTC ({}, run {})", holder.reason, holder.run)
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    /// Resources that something happens to.
    pub total: usize,
    /// Those that are over, however they ended.
    pub over: usize,
    /// Operations under way.
    pub running: usize,
    /// Resources that failed.
    pub failed: usize,
    /// Resources that were skipped.
    pub skipped: usize,
}

impl Tracker {
    /// A run that retries this often, where a resource does not say otherwise.
    pub(crate) fn new(attempts_usual: u32) -> Self {
        Tracker { attempts_usual, ..Tracker::default() }
    }

    /// Lists the resources that are tried more or less often than usual.
    pub(crate) fn expect_attempts(&mut self, attempts_max: BTreeMap<Address, u32>) {
        self.attempts_max = attempts_max;
    }

    /// The plan that is carried out.
    pub(crate) fn begin(&mut self, plan: &Plan) {
        let told = |action: &Action| !matches!(action, Action::NoOp | Action::Forget);
        let planned = plan.actions.iter().filter(|it| told(&it.action));
        self.planned = planned.map(|it| (it.address.clone(), (it.action, false))).collect();
        self.over = 0;
        let widths = self.planned.keys().map(|address| width(&address.to_string()));
        self.address_width = widths.max().unwrap_or(0);
    }

    /// How wide the longest address is of all that something happens to.
    pub(crate) fn address_width(&self) -> usize {
        self.address_width
    }

    /// Whether the run has begun.
    pub(crate) fn has_started(&self) -> bool {
        self.started
    }

    /// What is under way, in the order it began.
    pub(crate) fn running(&self) -> Vec<&Running> {
        let mut running: Vec<&Running> = self.running.values().collect();
        running.sort_by_key(|running| running.since);
        running
    }

    /// How far the run has come.
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            total: self.planned.len(),
            over: self.over,
            running: self.running.len(),
            failed: self.failed,
            skipped: self.skipped,
        }
    }

    /// Takes an event in; what is worth a line.
    pub(crate) fn receive(&mut self, event: &Event) -> Option<News> {
        let news = |what| Some(News { address: event.resource.clone(), what, at: event.at });
        let address = event.resource.as_ref();
        match (&event.kind, address) {
            (EventKind::RunStarted { .. }, _) => {
                self.started = true;
                None
            }
            (EventKind::Waiting { holder, since }, _) => {
                news(Happened::Waiting(held_by(&event.scope.stage, holder, *since)))
            }
            (EventKind::Started { operation, .. }, Some(address)) => {
                let (address, operation) = (address.clone(), *operation);
                let running =
                    Running { address: address.clone(), operation, since: event.at, note: None, attempts: 0 };
                self.running.insert(address, running);
                None
            }
            (EventKind::Completed { operation, .. }, Some(address)) => {
                let took = self.end(address, event.at).map_or(Duration::ZERO, |(took, _)| took);
                let word = self.completed(address, *operation);
                news(Happened::Done(word, took))
            }
            (EventKind::Adopted { .. }, Some(_)) => news(Happened::Done("adopted", Duration::ZERO)),
            (EventKind::Unchanged, Some(address)) => {
                self.over(address);
                news(Happened::Unchanged)
            }
            (EventKind::Failed { operation, failure }, Some(address)) => {
                let (took, attempts) = self.end(address, event.at).unwrap_or((Duration::ZERO, 1));
                self.over(address);
                self.failed += 1;
                news(Happened::Failed(*operation, attempts, took, failure.clone()))
            }
            (EventKind::Skipped { cause }, Some(address)) => {
                self.over(address);
                self.skipped += 1;
                news(Happened::Skipped(cause.clone()))
            }
            (EventKind::Retry { attempts, wait_ms, failure, .. }, Some(address)) => {
                let note = Note::Retry {
                    attempts: *attempts,
                    attempts_max: self.attempts_max.get(address).copied().unwrap_or(self.attempts_usual),
                    at: event.at + Duration::from_millis(*wait_ms),
                    message: failure.message.clone(),
                    is_begun: matches!(failure.class, FailureClass::Pending { .. }),
                };
                self.annotate(address, note.clone(), *attempts);
                news(Happened::Retry(note))
            }
            (EventKind::Progress { doing }, Some(address)) => {
                self.annotate(address, Note::Doing(doing.clone()), 0);
                None
            }
            _ => None,
        }
    }

    fn annotate(&mut self, address: &Address, note: Note, attempts: u32) {
        if let Some(running) = self.running.get_mut(address) {
            running.note = Some(note);
            running.attempts = running.attempts.max(attempts);
        }
    }

    /// How long an operation took, and how often it was tried: no more than before, if it ends while it waits.
    fn end(&mut self, address: &Address, at: SystemTime) -> Option<(Duration, u32)> {
        let running = self.running.remove(address)?;
        let waits = matches!(&running.note, Some(Note::Retry { at: next, .. }) if at < *next);
        let attempts = running.attempts + u32::from(!waits);
        Some((at.duration_since(running.since).unwrap_or_default(), attempts))
    }

    fn over(&mut self, address: &Address) {
        if let Some((_, over)) = self.planned.get_mut(address)
            && !std::mem::replace(over, true)
        {
            self.over += 1;
        }
    }

    /// The word for what was done.
    fn completed(&mut self, address: &Address, operation: Operation) -> &'static str {
        let planned = self.planned.get(address).map(|(action, _)| *action);
        let replaced = matches!(planned, Some(Action::Replace | Action::MayReplace));
        let (word, over) = match operation {
            Operation::Create if replaced => ("replaced", true),
            // To learn which object an interrupted create made, before that goes.
            Operation::Create if planned == Some(Action::Delete) => ("create repeated", false),
            Operation::Create => ("created", true),
            Operation::Update => ("updated", true),
            Operation::Delete if planned == Some(Action::Delete) => ("deleted", true),
            // The old object of a replacement, before or after the new one was made.
            Operation::Delete => ("old one deleted", false),
            Operation::Read => ("read", true),
        };
        if over {
            self.over(address);
        }
        word
    }
}
