//! Durable steps, many at a time: steps that are ready together share one commit.
//!
//! Whoever comes first commits for all who came in the meantime, then hands over to the next. While the store writes for
//! some, others get ready. No task runs beside the run itself, so dropping the run drops everything.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::mutations::planted;
use crate::providers::RecordedConfigurations;
use tokio::sync::oneshot;
use trueup_state::{
    Batch, Configurations, FencingToken, HistoryLine, Scope, Store, StoreError, Version, Write,
};

/// For how many one commits at most, beside itself: whoever comes later is the next one's, so that the store is not waited
/// for by all. Together they are half of what may be under way at a time of what is nothing but its record.
const FOLLOWERS_MAX: usize = 127;

pub(crate) struct Journal {
    store: Arc<dyn Store>,
    scope: Scope,
    token: FencingToken,
    configurations: RecordedConfigurations,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    history: Vec<HistoryLine>,
    committing: bool,
}

struct Waiting {
    writes: Vec<Write>,
    turn: oneshot::Sender<Turn>,
}

enum Turn {
    /// The commit that held these writes ended so.
    Done(Result<Version, StoreError>),
    /// It is this writer's turn to commit; its writes come back.
    Lead(Vec<Write>),
}

impl Journal {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        scope: Scope,
        token: FencingToken,
        configurations: RecordedConfigurations,
    ) -> Self {
        Journal { store, scope, token, configurations, queue: Mutex::default() }
    }

    /// Adds a line to the history; it goes with the next commit.
    pub(crate) fn note(&self, line: HistoryLine) {
        if let Ok(mut queue) = self.queue.lock() {
            queue.history.push(line);
        }
    }

    /// How many lines of the history wait for a commit.
    pub(crate) fn noted(&self) -> usize {
        self.queue.lock().map_or(0, |queue| queue.history.len())
    }

    /// Makes writes durable. All of a failed commit fail together (STATE-3).
    pub(crate) async fn commit(&self, writes: Vec<Write>) -> Result<Version, StoreError> {
        let turn = {
            let Ok(mut queue) = self.queue.lock() else { return Err(self.poisoned()) };
            if queue.committing {
                let (sender, receiver) = oneshot::channel();
                queue.waiting.push_back(Waiting { writes, turn: sender });
                Err(receiver)
            } else {
                queue.committing = true;
                Ok(writes)
            }
        };
        match turn {
            Ok(writes) => self.lead(writes).await,
            Err(turn) => match turn.await {
                Ok(Turn::Done(outcome)) => outcome,
                Ok(Turn::Lead(writes)) => self.lead(writes).await,
                Err(_) => Err(self.poisoned()),
            },
        }
    }

    /// Writes what is left of the history, and what the run leaves beside records.
    pub(crate) async fn flush(
        &self,
        outputs: Option<trueup_core::Value>,
        configurations: Option<Configurations>,
    ) -> Result<(), StoreError> {
        let history =
            self.queue.lock().map(|mut queue| std::mem::take(&mut queue.history)).unwrap_or_default();
        if history.is_empty() && outputs.is_none() && configurations.is_none() {
            return Ok(());
        }
        let batch = Batch { writes: Vec::new(), history, outputs, configurations };
        self.store.commit(&self.scope, self.token, &batch).await.map(|_| ())
    }

    async fn lead(&self, own: Vec<Write>) -> Result<Version, StoreError> {
        if self.queue.lock().is_ok_and(|queue| queue.waiting.len() < FOLLOWERS_MAX) {
            // Let everyone who is ready join before the commit begins. A commit that is full begins at once: those for
            // whom the last one was go on while the store writes.
            yield_once().await;
        }
        let (followers, history): (Vec<_>, _) = match self.queue.lock() {
            Ok(mut queue) => {
                let joining = queue.waiting.len().min(FOLLOWERS_MAX);
                (queue.waiting.drain(..joining).collect(), std::mem::take(&mut queue.history))
            }
            Err(_) => return Err(self.poisoned()),
        };
        // Whoever names a new configuration made it known before.
        let configurations = self.configurations.take_unsaved();
        let mut batch = Batch { writes: own, history, outputs: None, configurations };
        let mut turns = Vec::with_capacity(followers.len());
        for Waiting { writes, turn } in followers {
            batch.writes.extend(writes);
            turns.push(turn);
        }
        let mut outcome = self.store.commit(&self.scope, self.token, &batch).await;
        if planted!(ForgeFencingToken) && outcome == Err(StoreError::Superseded) {
            outcome = self.store.commit(&self.scope, FencingToken(self.token.0 + 1), &batch).await;
        }
        if outcome.is_err() && batch.configurations.is_some() {
            // Records of the next commit may name them.
            self.configurations.save_again();
        }
        // First the next commit, so that it is under way while those who waited for this one go on.
        self.hand_over();
        for turn in turns {
            // A writer that has gone needs no answer.
            let _ = turn.send(Turn::Done(outcome.clone()));
        }
        outcome
    }

    /// Lets the next writer commit, if there is one that still waits.
    fn hand_over(&self) {
        let Ok(mut queue) = self.queue.lock() else { return };
        while let Some(Waiting { writes, turn }) = queue.waiting.pop_front() {
            if turn.send(Turn::Lead(writes)).is_ok() {
                return;
            }
        }
        queue.committing = false;
    }

    fn poisoned(&self) -> StoreError {
        StoreError::Unavailable {
            attempted: "write",
            location: self.store.location(),
            cause: "a writer stopped in the middle of a commit".into(),
        }
    }
}

/// Lets everything else that is ready go on once.
async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|task| {
        if yielded {
            return std::task::Poll::Ready(());
        }
        yielded = true;
        task.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
